package tableio

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// temporaryFiles are the hidden files of the process's Writers that were neither committed nor aborted yet, and its
// temporary folders.
var temporaryFiles registry

type registry struct {
	mu      sync.Mutex
	paths   map[string]struct{}
	folders map[string]struct{}
}

// RemoveTemporaryFiles removes the hidden files of all Writers that were neither committed nor aborted, and the folders
// of [TemporaryFolder], for a program that must exit while these may be in use. The Writers, and whoever makes a file
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
	return joinFaults(faults...)
}

// TemporaryFolder makes a folder in dir, or where the system has such folders if dir is empty. prefix is the beginning
// of its name. The caller removes it, with all that is in it. Errors are those of the system.
func TemporaryFolder(dir, prefix string) (folder string, remove func() error, err error) {
	r := &temporaryFiles
	r.mu.Lock()
	defer r.mu.Unlock()
	if folder, err = os.MkdirTemp(dir, prefix); err != nil {
		return "", nil, err
	}
	if r.folders == nil {
		r.folders = make(map[string]struct{})
	}
	r.folders[folder] = struct{}{}
	return folder, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.folders, folder)
		return removeFolder(folder)
	}, nil
}

// removeFolder tries again where somebody makes a file meanwhile.
func removeFolder(folder string) (err error) {
	for range 3 {
		if err = os.RemoveAll(folder); err == nil {
			return nil
		}
	}
	return err
}

func (r *registry) create(path string, mode fs.FileMode) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		if r.paths == nil {
			r.paths = make(map[string]struct{})
		}
		r.paths[path] = struct{}{}
	}
	return file, err
}

func (r *registry) rename(path, target string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.paths[path]; !there {
		return errors.New("the file was removed, because the program ends")
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
	return os.Remove(path)
}
