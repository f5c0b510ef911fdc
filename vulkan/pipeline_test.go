package vulkan_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// fakeShaders hands out what a test wants.
type fakeShaders struct {
	code []byte
	err  error
}

func (f fakeShaders) Find(*backend.KernelSpec, backend.Config) ([]byte, error) { return f.code, f.err }
func (f fakeShaders) Hash() string                                             { return "fake" }

// openWith opens a device of a backend with options of its own.
func openWith(t *testing.T, id string, options vulkan.Options) backend.Driver {
	t.Helper()
	options.Validation = vulkantest.Validation(t)
	b, err := vulkan.New(options)
	require.NoError(t, err)
	d, err := b.Open(id)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		require.NoError(t, b.Close())
		vulkantest.Check(t)
	})
	return d
}

func TestSubgroupOperationsAreRefused(t *testing.T) {
	info := vulkantest.Devices(t)[0]
	require.True(t, info.Subgroups)
	d := openWith(t, info.ID, vulkan.Options{CacheDir: "off", NoSubgroups: true})
	require.False(t, d.Info().Subgroups)
	config := backend.Config{"in_bits": 32, "sum_bits": 32, "serial": 0, "workgroup": 64, "items": 4}
	for shared := range uint32(2) {
		config["shared"] = shared
		_, err := d.Compile(kernel.ScanTiles.KernelSpec, config)
		if shared == 1 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, "subgroup operations")
	}
}

func TestCompileErrors(t *testing.T) {
	info := vulkantest.Devices(t)[0]
	d := vulkantest.OpenDevice(t, info.ID)
	good := backend.Config{"workgroup": 64, "items": 8}
	wide := &backend.KernelSpec{Name: "wide", Args: make([]backend.ArgSpec, 14), Params: make([]string, 40)}
	for name, c := range map[string]struct {
		spec   *backend.KernelSpec
		config backend.Config
		want   error
	}{
		"no constant": {kernel.Iota.KernelSpec, backend.Config{"workgroup": 64}, backend.ErrInvalidInput},
		"no axis":     {kernel.Gather.KernelSpec, good, backend.ErrInvalidInput},
		"no invocations": {kernel.Iota.KernelSpec, backend.Config{"workgroup": 0, "items": 8},
			backend.ErrUnsupported},
		"too many": {kernel.Iota.KernelSpec,
			backend.Config{"workgroup": info.Limits.MaxInvocations + 1, "items": 8}, backend.ErrUnsupported},
		"unknown kernel":     {&backend.KernelSpec{Name: "none"}, good, backend.ErrUnsupported},
		"too many arguments": {wide, good, backend.ErrUnsupported},
		"too many constants": {&backend.KernelSpec{Name: "iota", Constants: make([]backend.Constant, 33)}, good,
			backend.ErrUnsupported},
	} {
		_, err := d.Compile(c.spec, c.config)
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, c.spec.Name, name)
	}
	for name, shaders := range map[string]fakeShaders{
		"missing": {err: fs.ErrNotExist}, "empty": {}, "text": {code: bytes.Repeat([]byte("text"), 10)},
		"cut": {code: []byte{3, 2, 0x23, 7}},
	} {
		_, err := openWith(t, info.ID,
			vulkan.Options{CacheDir: "off", Shaders: shaders}).Compile(kernel.Iota.KernelSpec, good)
		require.Error(t, err, name)
		require.True(t, errors.Is(err, backend.ErrUnsupported) || errors.Is(err, backend.ErrInvalidInput), name)
	}
}

func TestPipelineCache(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "made", "on demand")
			open := func() backend.Driver { return openWith(t, info.ID, vulkan.Options{CacheDir: dir}) }
			compile := func(d backend.Driver, items uint32) {
				_, err := d.Compile(kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": items})
				require.NoError(t, err)
			}
			first := open()
			require.Zero(t, vulkan.CacheLoaded(first))
			path := vulkan.CachePath(first)
			require.Equal(t, dir, filepath.Dir(path))
			compile(first, 3)
			second := open() // beside the first
			compile(second, 5)
			require.NoError(t, first.Close())
			require.NoError(t, second.Close())
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, entries, 1, "no temporary file stays")

			again := open()
			require.Positive(t, vulkan.CacheLoaded(again))
			compile(again, 3)
			require.NoError(t, again.Close())

			other := openWith(t, info.ID, vulkan.Options{CacheDir: dir, Shaders: fakeShaders{}})
			require.NotEqual(t, path, vulkan.CachePath(other), "other shaders, other file")

			flipped := bytes.Clone(content)
			flipped[len(flipped)-1] ^= 1
			for name, damaged := range map[string][]byte{
				"empty": {}, "cut": content[:len(content)/2], "short": content[:30], "flipped": flipped,
				"foreign": bytes.Repeat([]byte("x"), 500),
			} {
				require.NoError(t, os.WriteFile(path, damaged, 0o600))
				d := open()
				require.Zero(t, vulkan.CacheLoaded(d), name)
				compile(d, 3)
				require.NoError(t, d.Close())
				repaired := open()
				require.Positive(t, vulkan.CacheLoaded(repaired), name)
				require.NoError(t, repaired.Close())
			}
		})
	}
}

// Pipelines are compiled at the same time into one cache. What drivers are not asked to compile leaves the file alone.
func TestCompileAtOnce(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			dir := t.TempDir()
			first := openWith(t, info.ID, vulkan.Options{CacheDir: dir})
			device := backend.NewDevice(first, backend.DeviceOptions{})
			for items := range uint32(24) {
				device.Prefetch(kernel.Iota.KernelSpec, backend.Config{"items": items + 1})
			}
			for items := range uint32(24) {
				_, err := device.Kernel(kernel.Iota.KernelSpec, backend.Config{"items": items + 1})
				require.NoError(t, err)
			}
			stats := device.KernelStats()
			require.Equal(t, 24, stats.Compiled)
			require.Zero(t, stats.Unused)
			require.Zero(t, stats.Cached, "the cache was empty")
			path := vulkan.CachePath(first)
			require.NoError(t, device.Close())
			content, err := os.ReadFile(path)
			require.NoError(t, err)

			warm := openWith(t, info.ID, vulkan.Options{CacheDir: dir})
			device = backend.NewDevice(warm, backend.DeviceOptions{})
			_, err = device.Kernel(kernel.Iota.KernelSpec, backend.Config{"items": 7})
			require.NoError(t, err)
			if stats = device.KernelStats(); vulkan.CacheLoaded(warm) > 1<<10 && stats.Answered > 0 { // not only a header
				require.Equal(t, 1, stats.Cached)
			}
			require.NoError(t, device.Close())

			require.NoError(t, os.Remove(path))
			idle := openWith(t, info.ID, vulkan.Options{CacheDir: dir})
			require.NoError(t, idle.Close())
			require.NoFileExists(t, path, "nothing was compiled")
			large := append(bytes.Clone(content), make([]byte, vulkan.MostCacheBytes)...)
			require.NoError(t, os.WriteFile(path, large, 0o600))
			require.Zero(t, vulkan.CacheLoaded(openWith(t, info.ID, vulkan.Options{CacheDir: dir})), "too large")
		})
	}
}

// The file is written even if the device was closed because a query was interrupted, while kernels are compiled.
func TestCloseWhileCompiling(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			d := openWith(t, info.ID, vulkan.Options{CacheDir: t.TempDir()})
			device := backend.NewDevice(d, backend.DeviceOptions{})
			_, err := device.Kernel(kernel.Iota.KernelSpec, nil)
			require.NoError(t, err)
			for items := range uint32(100) {
				device.Prefetch(kernel.Iota.KernelSpec, backend.Config{"items": items + 1})
			}
			path := vulkan.CachePath(d)
			require.NoError(t, device.Close())
			require.FileExists(t, path)
		})
	}
}

// A cache that cannot be written is a warning and nothing more.
func TestPipelineCacheUnwritable(t *testing.T) {
	info := vulkantest.Devices(t)[0]
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	var heard []vulkan.Message
	b, err := vulkan.New(vulkan.Options{Validation: vulkantest.Validation(t), CacheDir: filepath.Join(file, "below"),
		Sink: func(m vulkan.Message) { heard = append(heard, m) }})
	require.NoError(t, err)
	d, err := b.Open(info.ID)
	require.NoError(t, err)
	_, err = d.Compile(kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": 8})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, b.Close())
	require.Len(t, heard, 1)
	require.Equal(t, heard, b.Messages())
	require.Equal(t, "spirjoin", heard[0].ID)
	require.Contains(t, heard[0].Text, "not a directory")
}
