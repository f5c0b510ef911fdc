package arch

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeviceTestsRunOnDevices: tools/test.sh must run each package that has tests for all devices on these devices.
// Otherwise the tests would run on the host alone.
func TestDeviceTestsRunOnDevices(t *testing.T) {
	script, err := os.ReadFile("../../tools/test.sh")
	require.NoError(t, err)
	lists := regexp.MustCompile(`(?ms)^(?:device|bench)_packages=\((.*?)\)$`).FindAllSubmatch(script, -1)
	require.Len(t, lists, 2, "tools/test.sh lacks the list device_packages or bench_packages")
	patterns := strings.Fields(string(lists[0][1]) + " " + string(lists[1][1]))
	folders := deviceTests(t, os.DirFS("../.."))
	require.Contains(t, folders, "primitive")
	require.Empty(t, unmatched(patterns, folders), "device_packages and bench_packages in tools/test.sh lack them")

	planted := []string{"join", "join/hash", "joiner", "ranges", "kernel/kerneltest"}
	missing := unmatched([]string{"./join/...", "./ranges", "./kernel"}, planted)
	require.Equal(t, []string{"joiner", "kernel/kerneltest"}, missing)
}

// deviceTests lists the folders whose tests call devicetest.ForEach or ForEachGroup.
func deviceTests(t *testing.T, tree fs.FS) (folders []string) {
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."), name == "internal":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, "_test.go") || slices.Contains(folders, path.Dir(name)):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if regexp.MustCompile(`devicetest\.ForEach(Group)?\(`).Match(text) {
			folders = append(folders, path.Dir(name))
		}
		return err
	}))
	return folders
}

// unmatched returns the folders that match no pattern of go test.
func unmatched(patterns, folders []string) (left []string) {
	for _, folder := range folders {
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			parent, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return folder == parent || below && strings.HasPrefix(folder, parent+"/")
		}) {
			left = append(left, folder)
		}
	}
	return left
}
