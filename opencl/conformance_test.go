package opencl_test

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/opencl"
	"github.com/spirjoin/spirjoin/opencl/opencltest"
)

// forEach runs a test on each device: those that SPIRJOIN_TEST_DEVICES names, or all if it is not set. Without OpenCL
// the test is skipped.
func forEach(t *testing.T, options opencl.Options, test func(t *testing.T, b *opencl.Backend, id string)) {
	t.Helper()
	if os.Getenv("SPIRJOIN_TEST_DEVICES") != "" && !opencltest.Named() {
		t.Skip("SPIRJOIN_TEST_DEVICES names no OpenCL device")
	}
	if options.CacheDir == "" {
		options.CacheDir = "off"
	}
	options.Unoptimized = testing.Short()
	b, err := opencl.New(options)
	if errors.Is(err, backend.ErrNoDevice) && !opencltest.Named() {
		t.Skipf("SKIPPED, NOTHING RAN: %v", err)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	infos, err := b.Devices()
	require.NoError(t, err)
	for _, info := range infos {
		if info.Unusable == "" && info.TwinOf == "" {
			t.Run(info.Driver, func(t *testing.T) { test(t, b, info.ID) })
		}
	}
}

func open(t *testing.T, b *opencl.Backend, id string) backend.Driver {
	t.Helper()
	d, err := b.Open(id)
	require.NoError(t, err)
	return d
}

func TestConformance(t *testing.T) {
	for name, staged := range map[string]bool{"as it is": false, "staged": true} {
		t.Run(name, func(t *testing.T) {
			options := backendtest.Options{NoCatalogue: testing.Short() || staged}
			forEach(t, opencl.Options{Staged: staged}, func(t *testing.T, b *opencl.Backend, id string) {
				backendtest.Run(t, func(t *testing.T) backend.Driver { return open(t, b, id) }, options)
			})
		})
	}
}
