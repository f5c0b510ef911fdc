package tableio

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// temporaryFiles are the hidden or nameless files of the process's Writers that were neither committed nor aborted yet,
// and its temporary folders.
var temporaryFiles registry

type registry struct {
	mu      sync.Mutex
	paths   map[string]struct{}
	folders map[string]struct{}
	hidden  bool // files have names, as where the file system has none without; for tests
}

// RemoveTemporaryFiles removes the hidden files of all Writers that were neither committed nor aborted, and the folders
// of [TemporaryFolder], for a program that must exit while these may be in use. The Writers, and the makers of files
// in such a folder, can only fail afterwards.
func RemoveTemporaryFiles() error {
	r := &temporaryFiles
	r.mu.Lock()
	defer r.mu.Unlock()
	var faults []error
	for path := range r.paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	clear(r.paths)
	for folder := range r.folders {
		if err := removeFolder(folder); err != nil {
			faults = append(faults, err)
		}
	}
	clear(r.folders)
	return core.JoinFaults(faults...)
}

// TemporaryFolder makes a folder in dir, or where the system has such folders if dir is empty. prefix is the beginning
// of its name. The caller removes it, with all that is in it. A folder there that a process has left which was killed,
// with the same prefix, is removed first. Errors: file system errors.
func TemporaryFolder(dir, prefix string) (folder string, remove func() error, err error) {
	r := &temporaryFiles
	r.mu.Lock()
	defer r.mu.Unlock()
	removeLeft(cmp.Or(dir, os.TempDir()), prefix)
	if folder, err = os.MkdirTemp(dir, prefix); err != nil {
		return "", nil, err
	}
	used, err := os.Open(folder)
	if err != nil {
		return "", nil, errors.Join(err, removeFolder(folder))
	}
	_ = lock(used) // if the file system has no locks, the folder stays after a kill
	if r.folders == nil {
		r.folders = make(map[string]struct{})
	}
	r.folders[folder] = struct{}{}
	return folder, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.folders, folder)
		return errors.Join(removeFolder(folder), used.Close())
	}, nil
}

// removeLeft removes folders that no process uses: each is locked by the one that has made it. One that was just made
// may not be locked yet.
func removeLeft(dir, prefix string) {
	folders, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, folder := range folders {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if used, err := os.Open(folder); err == nil {
			if lock(used) == nil {
				_ = removeFolder(folder)
			}
			_ = used.Close()
		}
	}
}

// lock locks a file that no other process, and no other opening of it, has locked. Closing it ends that.
func lock(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// removeFolder tries again where somebody makes a file meanwhile.
func removeFolder(folder string) (err error) {
	for range 3 {
		if err = os.RemoveAll(folder); err == nil {
			return nil
		}
	}
	return err
}

// create creates a file that is to have the path, without a name where that is possible.
func (r *registry) create(path string, mode fs.FileMode) (file *os.File, nameless bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hidden {
		file = createNameless(filepath.Dir(path), mode)
	}
	if nameless = file != nil; !nameless {
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	}
	if err == nil {
		if r.paths == nil {
			r.paths = make(map[string]struct{})
		}
		r.paths[path] = struct{}{}
	}
	return file, nameless, err
}

var errRemoved = errors.New("the file was removed, because the program ends")

// link gives a file without a name its target. An existing file is replaced: for that it has the path for a moment.
func (r *registry) link(file *os.File, path, target string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.paths[path]; !there {
		return errRemoved
	}
	err := linkNameless(file, target)
	if errors.Is(err, fs.ErrExist) {
		if err = linkNameless(file, path); err == nil {
			err = os.Rename(path, target)
		}
	}
	if err == nil {
		delete(r.paths, path)
	}
	return err
}

func (r *registry) rename(path, target string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.paths[path]; !there {
		return errRemoved
	}
	if err := os.Rename(path, target); err != nil {
		return err
	}
	delete(r.paths, path)
	return nil
}

func (r *registry) remove(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.paths[path]; !there {
		return nil
	}
	delete(r.paths, path)
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) { // as files without a name do not
		return err
	}
	return nil
}
