//go:build opencl && linux

package opencl

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// PoCL is not to read clang's header: a function that builtins.h does not declare is unknown.
func TestPoCLReadsNoHeaderOfBuiltins(t *testing.T) {
	b, err := New(Options{CacheDir: "off"})
	if errors.Is(err, backend.ErrNoDevice) {
		t.Skipf("SKIPPED, NOTHING RAN: %v", err)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	ran := false
	for _, p := range b.found {
		if p.info.Driver != pocl || p.info.Type != backend.Software || p.info.Subgroups || p.info.Unusable != "" {
			continue
		}
		opened, err := b.Open(p.info.ID)
		require.NoError(t, err)
		d := opened.(*driver)
		spec := &backend.KernelSpec{Name: "rounded"}
		build := func(function string) error {
			p := &program{d: d, spec: spec}
			defer p.release()
			return p.build(d.text("__kernel void rounded(__global uint* a) { a[0] = "+function+"; }"), d.options(spec, nil))
		}
		require.NoError(t, build("min(a[1], popcount(a[2]))"))
		require.ErrorContains(t, build("convert_uint(sin(convert_float(a[1])))"), "sin'")
		require.NoError(t, d.Close())
		ran = true
	}
	if !ran {
		t.Skip("SKIPPED, NOTHING RAN: no PoCL without subgroups")
	}
}
