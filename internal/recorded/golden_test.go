package recorded_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/primitive"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

var background = context.Background()

// devices are the described devices, by the folder of their golden files; those without subgroups have none.
var devices = map[string]func() backend.DeviceInfo{"h200": recorded.H200, "plain": recorded.Plain,
	"h200 without subgroups": h200WithoutSubgroups, "cores without subgroups": coresWithoutSubgroups}

// mostLines is the maximum length of a golden file, so that reviewers can read it.
const mostLines = 300

func pathOf(name string) string { return filepath.Join("testdata", filepath.FromSlash(name)+".txt") }

// requireGolden compares a record with testdata/<name>.txt.
func requireGolden(t *testing.T, name, text string) {
	t.Helper()
	path := pathOf(name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, difference(string(want), text), "%s; go test -update accepts the change", path)
	require.LessOrEqual(t, strings.Count(text, "\n"), mostLines, "%s is too long to be reviewed", path)
}

// difference returns the first line in which two texts differ, of both; empty if they are equal.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	wanted, found := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(wanted), len(found)) {
		var w, g string
		if i < len(wanted) {
			w = wanted[i]
		}
		if i < len(found) {
			g = found[i]
		}
		if w != g || i >= min(len(wanted), len(found)) {
			return "line " + strconv.Itoa(i+1) + "\n  want " + w + "\n  got  " + g
		}
	}
	return ""
}

// goldens returns the names of the files in testdata.
func goldens(t *testing.T) (names []string) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.txt"))
	require.NoError(t, err)
	for _, path := range paths {
		name, err := filepath.Rel("testdata", strings.TrimSuffix(path, ".txt"))
		require.NoError(t, err)
		names = append(names, filepath.ToSlash(name))
	}
	return names
}

// TestNoStaleGoldens: every golden file belongs to one case. With -update, others are removed.
func TestNoStaleGoldens(t *testing.T) {
	var names []string
	for _, c := range primitiveCases {
		names = append(names, c.name)
	}
	for _, c := range joinCases {
		names = append(names, c.name)
	}
	for _, c := range tableCases {
		names = append(names, c.name)
	}
	if *update {
		for _, name := range goldens(t) {
			if !slices.Contains(names, name) {
				require.NoError(t, os.Remove(pathOf(name)))
			}
		}
		return
	}
	require.ElementsMatch(t, names, goldens(t))
}

// opsOf returns the primitives of a device.
func opsOf(t *testing.T, device *backend.Device, overrides primitive.Tuning) *primitive.Ops {
	ops, err := primitive.New(device, overrides)
	require.NoError(t, err)
	return ops
}

// infoOf returns the device that the name of a case begins with: one of [devices], or one described for OpenCL.
func infoOf(name string) backend.DeviceInfo {
	folder, _, _ := strings.Cut(name, "/")
	if info, ok := recorded.OpenCL()[folder]; ok {
		return info
	}
	return devices[folder]()
}
