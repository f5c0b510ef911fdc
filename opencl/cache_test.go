//go:build opencl && linux

package opencl

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/opencl/kernels"
)

// TestCache: a binary is kept and used by whoever opens the device next. One that is damaged, of another program or
// refused by the driver is made anew; another driver, source or option takes none.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	b, d := openFirst(t, Options{CacheDir: dir, CacheAll: true})
	compile := func(d *driver, items uint32) (cached bool) {
		t.Helper()
		p, err := d.Compile(kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": items})
		require.NoError(t, err)
		cached, known := p.(backend.CachedProgram).Cached()
		require.True(t, known)
		return cached
	}
	again := func(items uint32) (cached bool) {
		t.Helper()
		other, err := b.Open(d.info.ID)
		require.NoError(t, err)
		defer func() { require.NoError(t, other.Close()) }()
		return compile(other.(*driver), items)
	}
	source, err := kernels.Source(kernel.Iota.Name)
	require.NoError(t, err)
	path := d.cachePath(d.text(source), d.options(kernel.Iota.KernelSpec, iotaConfig))
	before, err := os.ReadDir(dir) // of a device with subgroups: its proof of them
	require.True(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	require.False(t, compile(d, 2))
	require.True(t, again(2))
	require.False(t, again(3), "other options")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, len(before)+2, "no temporary file stays")

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	flipped := bytes.Clone(content)
	flipped[len(flipped)-1] ^= 1
	i := slices.IndexFunc(files, func(f os.DirEntry) bool { return f.Name() != filepath.Base(path) })
	other, err := os.ReadFile(filepath.Join(dir, files[i].Name()))
	require.NoError(t, err)
	for name, damaged := range map[string][]byte{
		"empty": {}, "cut": content[:len(content)/2], "short": content[:len(cacheMagic)+3], "flipped": flipped,
		"text": bytes.Repeat([]byte("x"), 500), "of another program": other,
	} {
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		require.True(t, readBinary(path) == nil, name)
	}
	require.NoError(t, os.WriteFile(path, other, 0o600))
	require.False(t, again(2), "of another program")
	foreign := bytes.Repeat([]byte("binary of another driver"), 100)
	keep(path, foreign)
	require.Equal(t, foreign, readBinary(path))
	require.False(t, again(2), "refused")
	require.True(t, again(2), "made anew")

	options := d.options(kernel.Iota.KernelSpec, iotaConfig)
	require.NotEqual(t, path, d.cachePath(d.text(source)+" ", options), "other source")
	build := d.p.build
	d.p.build = build + " updated"
	require.False(t, again(2), "other driver")
	d.p.build = build
	require.True(t, again(2))
	require.NoError(t, d.Close())
}

// TestCacheIsOptional: where binaries cannot be kept, kernels are compiled.
func TestCacheIsOptional(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{"off", filepath.Join(file, "below")} {
		_, d := openFirst(t, Options{CacheDir: dir, CacheAll: true})
		_, err := d.Compile(kernel.Iota.KernelSpec, iotaConfig)
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}
