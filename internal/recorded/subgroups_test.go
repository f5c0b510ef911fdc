package recorded_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/shaders"
)

// TestWithoutSubgroups: whatever is recorded, on the H200, whose rows ask for look-back, and on a device for CPU cores,
// whose rows ask for serial shapes and walks: without subgroup operations no kernel has any.
func TestWithoutSubgroups(t *testing.T) {
	for _, device := range []string{"h200 without subgroups", "cores without subgroups"} {
		for _, c := range primitiveCases {
			if folder, name, _ := strings.Cut(c.name, "/"); folder == "h200" {
				c.name = device + "/" + name
				t.Run(c.name, func(t *testing.T) { requireNoSubgroups(t, recordPrimitive(t, c)) })
			}
		}
		for i, c := range joinCases {
			if folder, name, _ := strings.Cut(c.name, "/"); folder == "h200" && (i%3 == 0 || !testing.Short()) {
				c.name = device + "/" + name
				t.Run(c.name, func(t *testing.T) { requireNoSubgroups(t, recordJoin(t, c, 2)) })
			}
		}
	}
}

func h200WithoutSubgroups() backend.DeviceInfo {
	info := recorded.H200()
	info.Subgroups = false
	return info
}

func coresWithoutSubgroups() backend.DeviceInfo {
	info := h200WithoutSubgroups()
	info.Name, info.Driver, info.Type = "cores", "cores", backend.Software
	return info
}

var dispatched = regexp.MustCompile(`(?m)^  (\w+)\[([^]]*)\] groups=`)

// dispatchedKernel is a kernel of a record, in its configuration.
type dispatchedKernel struct {
	text   string
	spec   *backend.KernelSpec
	config backend.Config
}

// dispatches returns the kernels of a record.
func dispatches(t *testing.T, record string) (kernels []dispatchedKernel) {
	specs := make(map[string]*backend.KernelSpec)
	for _, spec := range kernel.Catalogue() {
		specs[spec.Name] = spec
	}
	for _, match := range dispatched.FindAllStringSubmatch(record, -1) {
		config := backend.Config{}
		for _, setting := range strings.Fields(match[2]) {
			name, text, _ := strings.Cut(setting, "=")
			value, err := strconv.ParseUint(text, 10, 32)
			require.NoError(t, err)
			config[name] = uint32(value)
		}
		kernels = append(kernels, dispatchedKernel{match[0], specs[match[1]], config})
	}
	return kernels
}

// requireNoSubgroups looks at the SPIR-V of every kernel of a record.
func requireNoSubgroups(t *testing.T, record string) {
	for _, k := range dispatches(t, record) {
		code, err := shaders.SPIRV(kernel.SPIRVName(k.spec, k.config))
		require.NoError(t, err)
		require.False(t, shaders.UsesSubgroups(code), "%s", k.text)
	}
}
