package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShadersAreGenerated(t *testing.T) {
	files, err := generated()
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../../shaders", name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), "the catalogue changed: run make generate")
	}
	found, err := filepath.Glob("../../shaders/include/[kd]*s/*.glsl")
	require.NoError(t, err)
	require.Len(t, found, len(files)-1, "declarations of a kernel or draw that is not in the catalogue: run make generate")
}
