package vulkan_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func TestBackendsShareTheInstance(t *testing.T) {
	info := vulkantest.Devices(t)[0]
	validation := vulkantest.Validation(t)
	b, err := vulkan.New(vulkan.Options{Validation: validation, CacheDir: "off"})
	require.NoError(t, err)
	require.Equal(t, "vulkan", b.Name())

	other := vulkan.Sync
	if validation == vulkan.Sync {
		other = vulkan.Off
	}
	for _, conflicting := range []vulkan.Options{{Validation: other}, {Validation: validation, AppName: "another"},
		{Validation: 77}} {
		_, err = vulkan.New(conflicting)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}

	_, err = b.Open("vulkan:none:of-these")
	require.ErrorIs(t, err, backend.ErrNoDevice)
	require.ErrorContains(t, err, info.ID)

	d, err := b.Open(info.ID)
	require.NoError(t, err)
	require.Equal(t, info.ID, d.Info().ID)
	err = b.Close()
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.ErrorContains(t, err, "was not closed")
	_, err = d.AllocateBlock(64, backend.DeviceLocal)
	require.ErrorIs(t, err, backend.ErrInvalidInput)

	require.NoError(t, b.Close())
	_, err = b.Devices()
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = b.Open(info.ID)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	vulkantest.OpenDevice(t, info.ID) // the shared backend lives on
}

func TestDeviceList(t *testing.T) {
	vulkantest.Devices(t)
	infos, err := vulkantest.Backend(t).Devices()
	require.NoError(t, err)
	seen := make(map[string]bool)
	for i, info := range infos {
		require.Equal(t, i, info.Index)
		require.False(t, seen[info.ID], info.ID)
		seen[info.ID] = true
		require.True(t, strings.HasPrefix(info.ID, "vulkan:"), info.ID)
		require.Equal(t, "vulkan", info.Backend)
		require.Equal(t, info.Type.String(), info.TypeName)
		require.NotEmpty(t, info.Name)
		if info.Unusable != "" {
			continue
		}
		require.Len(t, info.UUID, 36)
		require.NotEmpty(t, info.Driver)
		require.NotEmpty(t, info.DriverVersion)
		size, budget := info.MemoryBytes()
		require.Positive(t, size)
		require.Positive(t, budget)
		require.LessOrEqual(t, budget, size)
		require.NotEmpty(t, info.QueueFamilies)
		require.Positive(t, info.Limits.MaxAllocationBytes)
		require.Positive(t, info.Limits.MaxBufferBytes)
		require.LessOrEqual(t, info.Limits.MaxBlockBytes, info.Limits.MaxBufferBytes)
		require.True(t, slices.Contains(info.Features, "sparseBinding") ||
			info.Limits.MaxBlockBytes <= info.Limits.MaxAllocationBytes)
		require.GreaterOrEqual(t, info.Limits.MaxInvocations, uint32(128))
		require.GreaterOrEqual(t, info.Limits.MaxSharedBytes, uint32(16<<10))
		require.GreaterOrEqual(t, info.Limits.MaxArgumentBytes, uint32(128))
		require.GreaterOrEqual(t, info.Limits.MaxGroups, uint32(65535))
		require.GreaterOrEqual(t, info.SubgroupSize, uint32(1))
		require.LessOrEqual(t, info.MinSubgroupSize, info.SubgroupSize)
		require.GreaterOrEqual(t, info.MaxSubgroupSize, info.SubgroupSize)
		require.IsIncreasing(t, append([]string{""}, info.Features...))
	}
}

// inChild runs this test again in a process of its own with additions to the environment; true in that process.
const childVariable = "SPIRJOIN_TEST_CHILD"

func inChild(t *testing.T, environment ...string) bool {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		return true
	}
	vulkantest.Devices(t) // skips without
	binary, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	command.Env = append(append(os.Environ(), childVariable+"="+t.Name()), environment...)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name(), "%s", output)
	return false
}

func TestNoDriver(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.json")
	if inChild(t, "VK_DRIVER_FILES="+missing, "VK_ICD_FILENAMES="+missing, "VK_ADD_DRIVER_FILES=") {
		for range 2 {
			_, err := vulkan.New(vulkan.Options{})
			require.ErrorIs(t, err, backend.ErrNoDevice)
			require.ErrorContains(t, err, "none.json")
			require.ErrorContains(t, err, "mesa-vulkan-drivers")
		}
	}
}

func TestNoLoader(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libvulkan.so.1"), []byte("not a library"), 0o600))
	if inChild(t, "LD_LIBRARY_PATH="+dir) {
		_, err := vulkan.New(vulkan.Options{})
		require.ErrorIs(t, err, backend.ErrNoDevice)
		require.ErrorContains(t, err, "libvulkan1")
	}
}

func TestNoValidationLayer(t *testing.T) {
	if inChild(t, "VK_LAYER_PATH="+t.TempDir(), "VK_ADD_LAYER_PATH=", "XDG_DATA_HOME="+t.TempDir(),
		"SPIRJOIN_TEST_VALIDATION=off") {
		_, err := vulkan.New(vulkan.Options{Validation: vulkan.Sync})
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, "vulkan-validationlayers")
	}
}

// An instance goes with its last backend, so that the next may have other options.
func TestInstancesInTurn(t *testing.T) {
	if !inChild(t, "SPIRJOIN_TEST_VALIDATION=off") {
		return
	}
	for i := range 3 {
		b, err := vulkan.New(vulkan.Options{AppName: fmt.Sprint("run ", i), CacheDir: "off"})
		require.NoError(t, err)
		infos, err := b.Devices()
		require.NoError(t, err)
		require.NotEmpty(t, infos)
		d, err := b.Open(infos[0].ID)
		require.NoError(t, err)
		require.NoError(t, errors.Join(d.Close(), b.Close()))
	}
}
