package vulkan_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// TestDMABuf links two logical devices of one physical device by a dma-buf.
func TestDMABuf(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			if !vulkan.HasDMABuf(vulkantest.OpenDevice(t, info.ID)) {
				t.Skip("the driver has no dma-bufs")
			}
			runDMABuf(t, info.ID)
		})
	}
}

func runDMABuf(t *testing.T, id string) {
	backendtest.RunLinks(t, func(t *testing.T) backend.Driver {
		return openWith(t, id, vulkan.Options{CacheDir: "off"})
	}, backendtest.Options{Paths: []link.Path{link.DMABuf}})
}

// TestDMABufBetweenDevices links different physical devices: each link carries the pattern and copies, or says why it
// cannot, and leaves nothing behind.
func TestDMABufBetweenDevices(t *testing.T) {
	infos := vulkantest.Devices(t)
	if len(infos) < 2 {
		t.Skip("needs two devices")
	}
	for i := range infos {
		for j := range infos {
			if i == j {
				continue
			}
			t.Run(fmt.Sprintf("%d to %d", i, j), func(t *testing.T) {
				if err := linkByDMABuf(t, infos[i].ID, infos[j].ID); err != nil {
					require.ErrorIs(t, err, backend.ErrUnsupported)
					t.Skip(err)
				}
			})
		}
	}
}

// linkByDMABuf copies between two devices, or returns why there is no link.
func linkByDMABuf(t *testing.T, from, to string) error {
	open := func(id string) *backend.Device { // of a backend of its own, which reports memory that is left
		d := backend.NewDevice(openWith(t, id, vulkan.Options{CacheDir: "off"}), backend.DeviceOptions{})
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
	a, b := open(from), open(to)
	files := openFiles(t)
	l, err := link.Connect(t.Context(), a, b, link.DMABuf)
	if err == nil {
		t.Logf("%.1f GB/s", l.BytesPerSecond/1e9)
		for _, sizeBytes := range []uint64{4, l.ChunkBytes, 15*l.ChunkBytes + 4} {
			src, dst := allocateOn(t, a, sizeBytes), allocateOn(t, b, sizeBytes)
			sent, arrived := make([]byte, sizeBytes), make([]byte, sizeBytes)
			rand.NewChaCha8([32]byte{byte(sizeBytes)}).Read(sent)
			_, err := a.Upload(t.Context(), src.All(), sent)
			require.NoError(t, err)
			require.NoError(t, l.Copy(t.Context(), dst.All(), src.All()))
			require.NoError(t, b.Download(t.Context(), arrived, dst.All()))
			require.True(t, bytes.Equal(sent, arrived), "%d bytes", sizeBytes)
		}
		require.NoError(t, l.Close())
	}
	require.NotErrorIs(t, err, backend.ErrInvalidInput, "memory was left")
	require.Equal(t, files, openFiles(t), "open files")
	return err
}

// TestDMABufThroughALayer links two physical devices that a layer feigns, see testdata/layer.c, because no driver for
// CPU cores has dma-bufs. It shows that Vulkan is called as intended, not that a GPU reaches the memory of another.
func TestDMABufThroughALayer(t *testing.T) {
	lavapipe, err := filepath.Glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
	require.NoError(t, err)
	compiler, missing := exec.LookPath("cc")
	if len(lavapipe) == 0 || missing != nil {
		t.Skip("needs lavapipe and a C compiler")
	}
	if !inChild(t, feignTwoDevices(t, compiler, lavapipe[0])...) {
		return
	}
	infos := vulkantest.Devices(t)
	require.Len(t, infos, 2)
	require.NotEqual(t, infos[0].UUID, infos[1].UUID)
	runDMABuf(t, infos[0].ID)
	require.NoError(t, linkByDMABuf(t, infos[0].ID, infos[1].ID))
	require.NoError(t, linkByDMABuf(t, infos[1].ID, infos[0].ID))
	for _, refusal := range []string{"no types", "no import"} {
		t.Setenv("SPIRJOIN_LAYER", refusal)
		err := linkByDMABuf(t, infos[0].ID, infos[1].ID)
		require.ErrorIs(t, err, backend.ErrUnsupported, refusal)
		require.ErrorContains(t, err, "VK_ERROR_INVALID_EXTERNAL_HANDLE")
	}
}

// feignTwoDevices builds the layer and returns the environment in which the Vulkan loader finds it above two lavapipes.
func feignTwoDevices(t *testing.T, compiler, manifest string) []string {
	if os.Getenv(childVariable) != "" {
		return nil
	}
	dir := t.TempDir()
	library := filepath.Join(dir, "layer.so")
	output, err := exec.Command(compiler, "-std=gnu11", "-fPIC", "-shared", "-I.", "-o", library,
		"testdata/layer.c").CombinedOutput()
	require.NoError(t, err, "%s", output)
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	var drivers []string
	for _, name := range []string{"first.json", "second.json"} {
		drivers = append(drivers, filepath.Join(dir, name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	const layer = `{"file_format_version": "1.2.0", "layer": {"name": "VK_LAYER_SPIRJOIN_test", "type": "GLOBAL",
"library_path": "%s", "api_version": "1.3.0", "implementation_version": "1", "description": "for tests"}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "layer.json"), fmt.Appendf(nil, layer, library), 0o600))
	list := strings.Join(drivers, ":")
	return []string{"VK_DRIVER_FILES=" + list, "VK_ICD_FILENAMES=" + list, "VK_ADD_LAYER_PATH=" + dir,
		"VK_INSTANCE_LAYERS=VK_LAYER_SPIRJOIN_test", "SPIRJOIN_TEST_DEVICES=lavapipe"}
}

// TestOpaqueMemoryStaysOnItsDevice: another physical device could open it, and map other memory.
func TestOpaqueMemoryStaysOnItsDevice(t *testing.T) {
	infos := vulkantest.Devices(t)
	if len(infos) < 2 {
		t.Skip("needs two devices")
	}
	owner, guest := vulkantest.OpenDevice(t, infos[0].ID), vulkantest.OpenDevice(t, infos[1].ID)
	block, err := owner.(backend.SharedMemory).AllocateShared(1<<16, false)
	require.NoError(t, err)
	_, err = guest.(backend.SharedMemory).OpenShared(owner, block)
	require.ErrorIs(t, err, backend.ErrUnsupported)
	require.ErrorContains(t, err, "another physical device")
	require.NoError(t, block.Free())
}
