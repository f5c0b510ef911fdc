package join_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
)

func TestWorthDrawing(t *testing.T) {
	limits := backend.Limits{MaxInvocations: 1024, MaxSharedBytes: 48 << 10}
	nvidia := backend.DeviceInfo{Name: "NVIDIA H200", Backend: "vulkan", Driver: "NVIDIA", Type: backend.Discrete,
		Subgroups: true, SubgroupSize: 32, Limits: limits}
	software := backend.DeviceInfo{Name: "cores", Backend: "vulkan", Driver: "cores", Type: backend.Software,
		Subgroups: true, SubgroupSize: 8, Limits: limits}
	unknown := backend.DeviceInfo{Name: "another", Backend: "vulkan", Driver: "another", Type: backend.Discrete,
		Subgroups: true, SubgroupSize: 32, Limits: limits}
	fast := operator.RasterRates{PointNs: 0.002, VertexNs: 0.001}
	for _, c := range []struct {
		name  string
		info  backend.DeviceInfo
		drawn operator.RasterRates
		worth bool
	}{
		{"as measured on an H200", nvidia, operator.RasterRates{PointNs: 2.2, VertexNs: 0.6}, false},
		{"as measured on lavapipe", software, operator.RasterRates{PointNs: 990, VertexNs: 57}, false},
		{"fast draws, slow kernels", software, fast, true},
		{"a GPU without rates of kernels", unknown, fast, false},
	} {
		worth, err := join.WorthDrawing(&c.info, c.drawn)
		require.NoError(t, err, c.name)
		require.Equal(t, c.worth, worth, c.name)
	}
}
