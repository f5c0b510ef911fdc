package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariantsAreGenerated(t *testing.T) {
	want, err := variants()
	require.NoError(t, err)
	got, err := os.ReadFile("../../shaders/variants.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "the catalogue changed: run make generate")
}
