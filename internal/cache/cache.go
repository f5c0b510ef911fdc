// Package cache knows the folder in which this program keeps what it learnt of the machine, and replaces files whole.
package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Path is the place of a file in the user's cache folder for this program, by its path below it. The error says why the
// system knows no such folder.
func Path(name ...string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{dir, "spirjoin"}, name...)...), nil
}

// WriteFile replaces a file at once; readers see the old or the new content. Its folder is made where it is missing.
func WriteFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	file, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
