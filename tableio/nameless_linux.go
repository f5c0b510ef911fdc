package tableio

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createNameless creates a file without a name that can be linked into the folder; nil where the file system has none,
// or where there is no /proc to link it by.
func createNameless(dir string, mode fs.FileMode) *os.File {
	file, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, mode)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(openPath(file)); err != nil {
		_ = file.Close()
		return nil
	}
	return file
}

// linkNameless gives a file the path, where no file may be.
func linkNameless(file *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, openPath(file), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: "the output", New: path, Err: err}
	}
	return nil
}

func openPath(file *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", file.Fd()) }
