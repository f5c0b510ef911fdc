package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// File is a file of an input.
type File struct {
	Path       string
	Partitions []Partition // of the folders that it lies in, from the outside in
}

// Find lists the files of an input, in the order of their rows. An input is a file, a pipe or "-"; a folder, with all
// files below it whose names are accepted; a pattern of names; or "@" and the name of a file with an input on each
// line. A name that exists is never a pattern or a list. Files in folders and matches of patterns are sorted by name,
// folder by folder. Names that begin with "." or "_" are left out of folders, unless they are partitions, and match
// only patterns that spell the character out. One file without partitions is an input like any other file.
//
// Errors: file system errors, and that there are no files.
func Find(input string, accept func(name string) bool) ([]File, error) {
	if input == "-" {
		return []File{{Path: input}}, nil
	}
	info, err := os.Stat(input)
	switch {
	case err == nil && info.IsDir():
		return findBelow(input, accept)
	case err == nil:
		return []File{{Path: input}}, nil
	case strings.HasPrefix(input, "@"):
		return findListed(input[1:], accept)
	case strings.ContainsAny(input, "*?[{"):
		return findMatches(input, accept)
	}
	return nil, err
}

// findBelow lists the files in a folder and the folders in it.
func findBelow(dir string, accept func(name string) bool) ([]File, error) {
	var paths []string
	if err := walk(dir, nil, accept, &paths); err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("there is no file in the folder with the extension of a format that is read")
	}
	return partitioned(paths, dir), nil
}

// walk adds the files below a folder, which lies in the folders above.
func walk(dir string, above []fs.FileInfo, accept func(name string) bool, paths *[]string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return inFolder(dir, err)
	}
	if slices.ContainsFunc(above, func(other fs.FileInfo) bool { return os.SameFile(other, info) }) {
		return fmt.Errorf("the link %s leads back to a folder that it lies in", dir)
	}
	above = append(slices.Clip(above), info)
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return inFolder(dir, err)
	}
	for _, entry := range entries {
		name, path, isDir := entry.Name(), filepath.Join(dir, entry.Name()), entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Stat(path)
			if err != nil {
				return inFolder(path, err)
			}
			isDir = target.IsDir()
		}
		switch {
		case name[0] == '.' || name[0] == '_' && !(isDir && strings.Contains(name, "=")):
		case isDir:
			if err := walk(path, above, accept, paths); err != nil {
				return err
			}
		case accept(name):
			*paths = append(*paths, path)
		}
	}
	return nil
}

// inFolder names the folder or link of an error of the file system.
func inFolder(path string, err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// findMatches lists the files that match a pattern, or if there are none, the files below the folders that match.
func findMatches(pattern string, accept func(name string) bool) ([]File, error) {
	base, _ := doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(pattern)))
	match := func(more ...doublestar.GlobOption) ([]string, error) {
		more = append(more, doublestar.WithFailOnIOErrors(), doublestar.WithNoHidden())
		paths, err := doublestar.FilepathGlob(pattern, more...)
		if err != nil {
			return nil, err
		}
		begin := func(path string) string { return "/" + strings.TrimPrefix(path, base) }
		if !strings.Contains(begin(filepath.ToSlash(pattern)), "/_") {
			paths = slices.DeleteFunc(paths, func(path string) bool {
				return slices.ContainsFunc(strings.Split(begin(filepath.ToSlash(path)), "/"), func(name string) bool {
					return strings.HasPrefix(name, "_") && !strings.Contains(name, "=")
				})
			})
		}
		slices.SortFunc(paths, comparePaths)
		return slices.Compact(paths), nil
	}
	paths, err := match(doublestar.WithFilesOnly())
	if errors.Is(err, doublestar.ErrBadPattern) {
		return nil, errors.New("no such file, and as a pattern it is malformed")
	}
	if err == nil && len(paths) == 0 {
		var dirs []string
		dirs, err = match()
		for _, dir := range dirs {
			if err == nil {
				err = walk(dir, nil, accept, &paths)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("no file matches the pattern")
	}
	return partitioned(paths, base), nil
}

// comparePaths orders paths as folders are listed: by the first name that differs.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, string(filepath.Separator)), strings.Split(b, string(filepath.Separator)))
}

// findListed lists the files of the inputs in a list.
func findListed(list string, accept func(name string) bool) (files []File, err error) {
	content, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		var found []File
		if _, err = os.Stat(line); err != nil && (line == "-" || line[0] == '@') {
			err = errors.New("a list holds neither lists nor standard input")
		} else if found, err = Find(line, accept); err == nil && len(found) == 1 && found[0].Path == line {
			found = partitioned([]string{line}, ".")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, inFolder(line, err))
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, errors.New("the list has no lines")
	}
	return files, nil
}
