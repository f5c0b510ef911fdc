package vulkan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Mesa makes only the last part of the path of its cache, and complains where the others are missing.
func TestTuneLavapipe(t *testing.T) {
	for _, name := range []string{"LP_NATIVE_VECTOR_WIDTH", "MESA_SHADER_CACHE_DIR"} {
		t.Setenv(name, "") // restores it afterwards
		require.NoError(t, os.Unsetenv(name))
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "new"))
	t.Setenv("HOME", t.TempDir())
	tuneLavapipe()
	require.Equal(t, "128", os.Getenv("LP_NATIVE_VECTOR_WIDTH"))
	require.DirExists(t, os.Getenv("MESA_SHADER_CACHE_DIR"))

	t.Setenv("LP_NATIVE_VECTOR_WIDTH", "256")
	t.Setenv("MESA_SHADER_CACHE_DIR", "mine")
	tuneLavapipe()
	require.Equal(t, "256", os.Getenv("LP_NATIVE_VECTOR_WIDTH"), "what the user chose stays")
	require.Equal(t, "mine", os.Getenv("MESA_SHADER_CACHE_DIR"))
}
