package tableio

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// OutputFile is a file that appears whole or not at all: until Commit its content is in a file without a name, of which
// nothing is left however the process ends, or where the file system has none, in a hidden file beside it. Pipes and
// devices are written directly, and so is an open file that is named by its descriptor, as /dev/stdout is: from where
// it stands. It is used by one goroutine; end it with Commit or Abort ("defer f.Abort()" is harmless after Commit).
type OutputFile struct {
	path     string
	target   string   // path with symbolic links resolved
	file     *os.File // nil when it is closed
	temp     string   // name of the hidden file; empty where there is none: pipes, devices
	nameless bool     // the file has no name yet
}

// CreateFile begins the file at path. It checks that the directory is writable and that path is not a directory. An
// existing file is replaced by Commit and stays unchanged until then. Errors wrap ErrOutput.
func CreateFile(path string) (*OutputFile, error) {
	f, err := createFile(path)
	return f, fail(ErrOutput, "create", path, err)
}

// createFile is CreateFile with errors that do not name the path.
func createFile(path string) (*OutputFile, error) {
	f := &OutputFile{path: path, target: path}
	if file, err := openDescriptor(path); file != nil || err != nil {
		f.file = file
		return f, err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		f.file, err = os.OpenFile(path, os.O_WRONLY, 0)
		return f, err
	}
	target, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		f.target = target
	case errors.Is(err, fs.ErrNotExist):
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, errors.New("this is a symbolic link to a file that does not exist")
		}
	default:
		return nil, err
	}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(f.target)
	switch {
	case err == nil && info.IsDir():
		return nil, errors.New("this is a directory, not a file")
	case err == nil:
		mode = info.Mode().Perm()
	}
	if err := f.openTemp(mode); err != nil {
		return nil, fmt.Errorf("the directory must be writable: %w", plainPathError(err))
	}
	return f, nil
}

// openDescriptor opens what a path names by a file descriptor (/dev/stdout, /dev/fd/N, /proc/self/fd/N, also through
// symbolic links); nil if it names none. Opening such a path anew would begin at the start of the file, without the
// append mode of the descriptor.
func openDescriptor(path string) (*os.File, error) {
	for range 40 { // as many links as Linux follows
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return nil, nil // opening the path reports it
		}
		if of := descriptorFolder.FindStringSubmatch(dir); of != nil {
			if number, err := strconv.Atoi(filepath.Base(path)); err == nil && of[1] == strconv.Itoa(os.Getpid()) {
				own, err := syscall.Dup(number)
				if err != nil {
					return nil, err
				}
				return os.NewFile(uintptr(own), path), nil
			}
			return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		}
		next, err := os.Readlink(path)
		if err != nil {
			return nil, nil // no link
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		path = next
	}
	return nil, nil
}

var descriptorFolder = regexp.MustCompile(`^/proc/(\d+)(?:/task/\d+)?/fd$`)

func (f *OutputFile) openTemp(mode fs.FileMode) error {
	dir, base := filepath.Split(f.target)
	for range 100 {
		temp := filepath.Join(dir, fmt.Sprintf(".%.100s.%08x.tmp", base, rand.Uint32()))
		file, nameless, err := temporaryFiles.create(temp, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		f.file, f.temp, f.nameless = file, temp, nameless
		return nil
	}
	return errors.New("no free name for a temporary file")
}

// plainPathError drops the name of the temporary file, which means nothing to a user.
func plainPathError(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Write appends to the file. Errors wrap ErrOutput.
func (f *OutputFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	return n, fail(ErrOutput, "write", f.path, err)
}

// Commit gives the file its final path, where it appears as a whole. It does not wait for the disk. On an error no
// file appears, and the OutputFile is aborted. Errors wrap ErrOutput.
func (f *OutputFile) Commit() error {
	if err := f.commit(); err != nil {
		return core.JoinFaults(fail(ErrOutput, "commit", f.path, err), f.Abort())
	}
	return nil
}

// commit may be called once.
func (f *OutputFile) commit() error {
	file := f.file
	if f.nameless { // closing it removes it; no file system that has such files reports a failed write that late
		if err := temporaryFiles.link(file, f.temp, f.target); err != nil {
			return err
		}
		f.temp = ""
	}
	f.file = nil
	if err := file.Close(); err != nil || f.temp == "" {
		return err
	}
	if err := temporaryFiles.rename(f.temp, f.target); err != nil {
		return err
	}
	f.temp = ""
	return nil
}

// Abort removes what was written. It may be called again, and does nothing after Commit. Errors wrap ErrOutput.
func (f *OutputFile) Abort() error { return fail(ErrOutput, "abort", f.path, f.abort()) }

// abort is safe on nil.
func (f *OutputFile) abort() error {
	if f == nil {
		return nil
	}
	var closeErr, removeErr error
	if f.file != nil {
		closeErr, f.file = f.file.Close(), nil
	}
	if f.temp != "" {
		removeErr = temporaryFiles.remove(f.temp)
		f.temp = ""
	}
	return core.JoinFaults(closeErr, removeErr)
}
