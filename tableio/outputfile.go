package tableio

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// OutputFile is a file that appears whole or not at all: until Commit its content is in a temporary file beside it.
// Pipes and devices are written directly. It is used by one goroutine; end it with Commit or Abort ("defer f.Abort()"
// is harmless after Commit).
type OutputFile struct {
	path   string
	target string   // path with symbolic links resolved
	file   *os.File // nil when it is closed
	temp   string   // empty where there is no temporary file: pipes, devices
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
	case err == nil && !info.Mode().IsRegular():
		if f.file, err = os.OpenFile(f.target, os.O_WRONLY, 0); err != nil {
			return nil, err
		}
		return f, nil
	case err == nil:
		mode = info.Mode().Perm()
	}
	if err := f.openTemp(mode); err != nil {
		return nil, fmt.Errorf("the directory must be writable: %w", plainPathError(err))
	}
	return f, nil
}

func (f *OutputFile) openTemp(mode fs.FileMode) error {
	dir, base := filepath.Split(f.target)
	for range 100 {
		temp := filepath.Join(dir, fmt.Sprintf(".%.100s.%08x.tmp", base, rand.Uint32()))
		file, err := temporaryFiles.create(temp, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		f.file, f.temp = file, temp
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

// Commit renames the file to its final path, where it appears as a whole. It does not wait for the disk. On an error no
// file appears, and the OutputFile is aborted. Errors wrap ErrOutput.
func (f *OutputFile) Commit() error {
	if err := f.commit(); err != nil {
		return joinFaults(fail(ErrOutput, "commit", f.path, err), f.Abort())
	}
	return nil
}

// commit may be called once.
func (f *OutputFile) commit() error {
	file := f.file
	f.file = nil
	if err := file.Close(); err != nil {
		return err
	}
	if f.temp == "" {
		return nil
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
	return joinFaults(closeErr, removeErr)
}
