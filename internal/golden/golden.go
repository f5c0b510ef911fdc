// Package golden compares the output of tests with files in their testdata folder. `go test -update` writes the files.
// For tests only.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the tests print into testdata")

// Require fails the test unless text equals the content of the file testdata/name.
func Require(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "%s; go test -update accepts the change", path)
}
