package shaders

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded reads the sums that tools/glslc.sh wrote beside the binaries, by path.
func recorded(t *testing.T) map[string]string {
	f, err := os.Open("spv/SOURCES.sha256")
	require.NoError(t, err)
	defer f.Close()
	sums := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if sum, path, ok := strings.Cut(lines.Text(), "  "); ok && !strings.HasPrefix(sum, "#") {
			sums[path] = sum
		}
	}
	require.NotEmpty(t, sums)
	return sums
}

func TestBinariesBelongToTheirSources(t *testing.T) {
	found := map[string]string{}
	for _, pattern := range []string{"*.comp", "*.vert", "*.frag", "include/*.glsl", "include/kernels/*.glsl",
		"include/draws/*.glsl", "variants.txt", "spv/*.spv"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			sum := sha256.Sum256(content)
			found[filepath.ToSlash(path)] = hex.EncodeToString(sum[:])
		}
	}
	require.Empty(t, differing(recorded(t), found), "a source or a binary changed without the other: run make generate")
}

// differing names the files whose sums differ, or that only one side has.
func differing(want, got map[string]string) (names []string) {
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case want[name] == "":
			names = append(names, name+" (new)")
		case got[name] == "":
			names = append(names, name+" (missing)")
		case want[name] != got[name]:
			names = append(names, name)
		}
	}
	return names
}

func TestDiffering(t *testing.T) {
	require.Equal(t, []string{"a (missing)", "c", "d (new)"},
		differing(map[string]string{"a": "1", "b": "2", "c": "3"}, map[string]string{"b": "2", "c": "4", "d": "5"}))
}

func TestEveryVariantIsEmbedded(t *testing.T) {
	list, err := os.ReadFile("variants.txt")
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(list)) {
		if name, _, ok := strings.Cut(line, " "); ok && name != "#" {
			names = append(names, name)
			code, err := SPIRV(name)
			require.NoError(t, err)
			require.NotEmpty(t, code)
		}
	}
	embedded, err := fs.Glob(compiled, "spv/*.spv")
	require.NoError(t, err)
	require.Len(t, embedded, len(names))
}

func TestUnknownVariant(t *testing.T) {
	_, err := SPIRV("nothing.spv")
	require.True(t, errors.Is(err, fs.ErrNotExist))
	require.ErrorContains(t, err, "nothing.spv")
}

func TestHash(t *testing.T) {
	require.Len(t, Hash(), 64)
	require.Equal(t, Hash(), Hash())
}
