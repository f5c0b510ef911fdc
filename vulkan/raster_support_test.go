package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// TestCanRaster: what keeps a device from drawing is named.
func TestCanRaster(t *testing.T) {
	drawing := func() *driver {
		d := &driver{p: &physical{graphics: true}}
		d.lines[backend.Graphics] = &timeline{}
		return d
	}
	require.NoError(t, drawing().CanRaster())
	for want, spoil := range map[string]func(d *driver){
		"not opened for draws": func(d *driver) { d.p.graphics = false },
		"no graphics queue":    func(d *driver) { d.lines[backend.Graphics] = nil },
		"lacks independentBlend, blending of format r32f": func(d *driver) {
			d.p.raster.lacks = []string{"independentBlend", "blending of format r32f"}
		},
	} {
		d := drawing()
		spoil(d)
		err := d.CanRaster()
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, want)
	}
	p := &physical{features: required | rasterBits}
	require.EqualValues(t, required, p.enabled(), "features of draws are enabled for draws only")
	p.graphics = true
	require.EqualValues(t, required|rasterBits, p.enabled())
}
