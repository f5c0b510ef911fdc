// Package cache locates the cache folder of this program, where it keeps what it has measured on this machine, and
// replaces files atomically.
package cache

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Path returns the path of a file in the user's cache folder for this program, given its path below that folder. It
// returns an error if the system has no such folder.
func Path(name ...string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{dir, "spirjoin"}, name...)...), nil
}

// WriteFile replaces a file atomically: readers see the old or the new content. It creates missing folders.
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

// KeepNewest removes the files of a folder whose names match a pattern of [filepath.Match], but for those that were
// written last, as many as keep says. What cannot be removed stays.
func KeepNewest(folder, pattern string, keep int) {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) <= keep {
		return
	}
	written := make(map[string]time.Time)
	for _, e := range entries {
		matched, _ := filepath.Match(pattern, e.Name())
		if info, err := e.Info(); err == nil && matched && info.Mode().IsRegular() {
			written[e.Name()] = info.ModTime()
		}
	}
	newest := slices.SortedFunc(maps.Keys(written), func(a, b string) int { return written[b].Compare(written[a]) })
	for _, name := range newest[min(keep, len(newest)):] {
		_ = os.Remove(filepath.Join(folder, name))
	}
}
