package kerneltest

import (
	"maps"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/shaders"
)

// UsesSubgroups reports whether the variant of a configuration has subgroup operations. It panics for one that is not
// compiled.
func UsesSubgroups(spec *backend.KernelSpec, config backend.Config) bool {
	code, err := shaders.SPIRV(kernel.SPIRVName(spec, config))
	if err != nil {
		panic(err)
	}
	return shaders.UsesSubgroups(code)
}

// Runs reports whether a device runs a configuration. Without subgroup operations it does not if the kernel uses them,
// but for kernels that are right on OpenCL with subgroups of one invocation. Only the host backend runs kernels without
// a shader.
func Runs(info *backend.DeviceInfo, spec *backend.KernelSpec, config backend.Config) bool {
	switch {
	case spec.HostOnly:
		return info.Backend == "host"
	case info.Subgroups || !UsesSubgroups(spec, config):
		return true
	case info.Backend != "opencl":
		return false
	case spec == kernel.PartitionWalk.KernelSpec || spec == kernel.MergeWalk.KernelSpec:
		return config["workgroup"] == 1
	}
	return spec == kernel.RadixScatter.KernelSpec && config["serial"] == 1
}

// RunsEverywhere reports whether each device must run a kernel in some variant. Where others do its work on devices
// without subgroup operations, those need not.
func RunsEverywhere(spec *backend.KernelSpec) bool {
	return !spec.HostOnly && spec != kernel.ScanLookback.KernelSpec
}

// DefaultOn returns the complete configuration of a variant on a device: the default one, or in workgroups of one if
// that is what the device runs. ok is false where it runs neither. It panics for a variant that the kernel lacks.
func DefaultOn(info *backend.DeviceInfo, spec *backend.KernelSpec, variant backend.Config) (config backend.Config,
	ok bool) {
	for _, shape := range []backend.Config{{}, {"workgroup": 1, "items": 32}} {
		set := maps.Clone(variant)
		maps.Copy(set, shape)
		config, err := kernel.Defaults(spec, set)
		if err != nil {
			panic(err)
		}
		if Runs(info, spec, config) {
			return config, true
		}
	}
	return nil, false
}
