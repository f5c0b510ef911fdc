package tableio

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// temporaryFiles are the hidden files of the process's Writers that were neither committed nor aborted yet.
var temporaryFiles registry

type registry struct {
	mu    sync.Mutex
	paths map[string]struct{}
}

// RemoveTemporaryFiles removes the hidden files of all Writers that were neither committed nor aborted, for a program
// that must exit while a Writer may be at work. These Writers can only fail afterwards.
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
	return joinFaults(faults...)
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
