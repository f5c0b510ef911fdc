package kernel_test

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
	"github.com/spirjoin/spirjoin/opencl/opencltest"
	"github.com/spirjoin/spirjoin/shaders"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// deviceShapes are what devices run besides the defaults: small, and odd where the kernel allows it.
var deviceShapes = []backend.Config{
	{},
	{"serial": 1, "workgroup": 3, "items": 65},
	{"serial": 0, "workgroup": 64, "items": 14, "batch": 5},
	{"serial": 0, "shared": 1, "workgroup": 96, "items": 3, "stage": 1}, // scans of other lengths than powers of two
	{"serial": 0, "shared": 1, "workgroup": 1, "items": 32},
}

// TestDevices compares kernels with the oracle of the references, on every device that the environment selects.
// Compiling takes most of the time. Therefore each variant runs in its default shape and one other, which is another
// one on devices with subgroups of the next size; the full matrix has all. In a short run the first variant of each
// kernel and a third of the others run in one shape on devices with subgroups of 8 and more, the other two thirds on
// devices with smaller ones, as SwiftShader compiles them in less time than lavapipe does. Instrumented shaders take
// seconds to compile: a short run has the variant of each kernel with the least code, and leaves the two longest
// kernels out, which take as long as the others together.
func TestDevices(t *testing.T) {
	full, instrumented := devicetest.Full(), vulkantest.Validation(t) == vulkan.GPUAssisted
	for _, driver := range openDrivers(t) {
		t.Run(driver.Info().Name, func(t *testing.T) {
			device := openDevice(t, driver)
			turn := bits.Len32(driver.Info().SubgroupSize)
			for _, spec := range kernel.Shaders() {
				variants := slices.DeleteFunc(kernel.Variants(spec), func(variant backend.Config) bool {
					return len(shapesOf(t, device, spec, variant)) == 0
				})
				require.True(t, len(variants) > 0 || !kerneltest.RunsEverywhere(spec), spec.Name)
				if instrumented && testing.Short() {
					slices.SortStableFunc(variants, func(a, b backend.Config) int {
						return len(codeOf(t, spec, a)) - len(codeOf(t, spec, b))
					})
					if len(codeOf(t, spec, variants[0])) > 64<<10 {
						continue
					}
				}
				for number, variant := range variants {
					turn++
					name := kernel.SPIRVName(spec, variant)
					drawn := crc32.ChecksumIEEE([]byte(name))
					turns := drawn%3 == 0 != (driver.Info().SubgroupSize >= 8)
					if driver.Info().Backend == "opencl" {
						turns = drawn%6 != 1
					}
					if testing.Short() && number > 0 && (instrumented || turns) {
						continue
					}
					t.Run(name, func(t *testing.T) {
						if onlySubgroups && !kerneltest.UsesSubgroups(spec, variant) {
							t.Skip("the shader uses no subgroups; it ran with subgroups of the usual size")
						}
						configs := shapesOf(t, device, spec, variant)
						switch {
						case instrumented:
							// One shape is enough to show bad addresses. The others also hold workgroups that fill no
							// subgroup: lavapipe (Mesa 22.3) runs the missing invocations without their loads, and loops
							// that this validation puts into a shader never end for them.
							configs = configs[:1]
						case testing.Short():
							configs = configs[int(drawn>>4)%len(configs):][:1]
						case !full && len(configs) > 2:
							configs = []backend.Config{configs[0], configs[1+turn%(len(configs)-1)]}
						}
						for _, config := range configs {
							runCases(t, device, spec, config)
						}
					})
				}
			}
		})
	}
}

// onlySubgroups leaves out what does not depend on the size of subgroups.
var onlySubgroups = os.Getenv("SPIRJOIN_TEST_SUBGROUPS") == "only"

func codeOf(t testing.TB, spec *backend.KernelSpec, variant backend.Config) []byte {
	code, err := shaders.SPIRV(kernel.SPIRVName(spec, variant))
	require.NoError(t, err)
	return code
}

// shapesOf returns the configurations of a variant in all shapes that suit it and that a device runs, the default one
// first.
func shapesOf(t testing.TB, device *backend.Device, spec *backend.KernelSpec,
	variant backend.Config) (configs []backend.Config) {
	for _, shape := range deviceShapes {
		if config, ok := deviceConfig(t, spec, variant, shape); ok && kerneltest.Runs(device.Info(), spec, config) {
			configs = append(configs, config)
		}
	}
	if len(configs) == 0 {
		if config, ok := kerneltest.DefaultOn(device.Info(), spec, variant); ok { // a walk
			configs = append(configs, config)
		}
	}
	return configs
}

// openDrivers opens the Vulkan and OpenCL devices that the environment names.
func openDrivers(t testing.TB) (drivers []backend.Driver) {
	for _, info := range opencltest.Devices(t) {
		drivers = append(drivers, opencltest.Open(t, info.ID))
	}
	if len(drivers) > 0 && !vulkantest.Named() {
		return drivers
	}
	return append(drivers, vulkantest.Open(t)...)
}

func openDevice(t *testing.T, driver backend.Driver) *backend.Device {
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// deviceConfig gives a variant a shape; ok is false where it does not suit. A shape with shared=1 suits these variants
// only.
func deviceConfig(t testing.TB, spec *backend.KernelSpec, variant,
	shape backend.Config) (config backend.Config, ok bool) {
	config = backend.Config{}
	for _, part := range []backend.Config{shape, variant} {
		for name, value := range part {
			config[name] = value
		}
	}
	full, err := kernel.Defaults(spec, config)
	require.NoError(t, err)
	serial, has := variant["serial"]
	switch {
	case len(shape) == 0:
		return full, true
	case shape["shared"] == 1:
		return full, variant["shared"] == 1
	case has:
		return full, serial == shape["serial"]
	}
	return full, full["workgroup"]*full["items"]%32 == 0 // unpack_words
}

// runCases runs a configuration at each edge and at two random numbers of rows, with every distribution or with one of
// them in turn.
func runCases(t *testing.T, device *backend.Device, spec *backend.KernelSpec, config backend.Config) {
	options, full := kerneltest.Options{}, devicetest.Full()
	if testing.Short() && device.Info().Backend == "opencl" {
		options.Constants = kerneltest.OnePipeline // each set of constants is a program, which takes long to compile
	}
	most := 5 * int(kernel.TileRows(kernel.Named(config)))
	for i, rows := range append(edgeRows(config), rand.IntN(most), rand.IntN(most)) {
		for j, distribution := range kerneltest.Distributions {
			if full || (i+j)%len(kerneltest.Distributions) == 0 {
				options.Rows, options.Distribution, options.Seed = rows, distribution, rand.Uint64()
				c := kerneltest.NewCase(spec, config, options)
				require.NoError(t, c.Check(runDevice(t, device, c)), "%+v", options)
			}
		}
	}
}

// runDevice runs a case on a device and returns the arguments.
func runDevice(t *testing.T, device *backend.Device, c *kerneltest.Case) [][]byte {
	after, err := c.RunOn(t.Context(), device)
	require.NoError(t, err)
	return after
}

// Matches of a tile whose number takes more than 32 bits: every left row meets all right ones.
func TestDevicesCountManyMatches(t *testing.T) {
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("instrumented shaders take many seconds to compile")
	}
	const leftRows, rightRows = 4096, 1<<20 + 3
	for _, driver := range openDrivers(t) {
		device := openDevice(t, driver)
		for _, variant := range kernel.Variants(kernel.RangeSearch.KernelSpec) {
			if variant["serial"] == 1 {
				continue // its tiles are small
			}
			bytes := variant["key_bits"] / 8
			variant["workgroup"], variant["items"] = 64, leftRows/64
			config, err := kernel.Defaults(kernel.RangeSearch.KernelSpec, variant)
			require.NoError(t, err)
			if !kerneltest.Runs(device.Info(), kernel.RangeSearch.KernelSpec, config) {
				continue
			}
			keys := make([]byte, rightRows*bytes)
			dispatch := kerneltest.NewDispatch(kernel.RangeSearch.KernelSpec, config, leftRows,
				kernel.RangeSearchArgsOf[[]byte]{
					LeftKeys: keys[:leftRows*bytes], RightKeys: keys, TileTotals: make([]byte, 8),
					LeftRows: leftRows, RightRows: rightRows, Tiles: 1,
				})
			after, err := dispatch.RunOn(t.Context(), device)
			require.NoError(t, err)
			require.Equal(t, []uint64{leftRows * rightRows}, backend.Longs(after[len(after)-1]), "%v", variant)
		}
	}
}

// The same of a unit of a join.
func TestDevicesCountManyMatchesOfUnit(t *testing.T) {
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("instrumented shaders take many seconds to compile")
	}
	const leftRows, rightRows = 4099, 1<<20 + 3
	dispatches := make([]*kerneltest.Dispatch, 2)
	for shared := range dispatches {
		config, err := kernel.Defaults(kernel.PartitionCount.KernelSpec,
			backend.Config{"key_bits": 32, "shared": uint32(shared), "workgroup": 64, "table": leftRows, "heads": 256})
		require.NoError(t, err)
		dispatches[shared] = kerneltest.NewDispatch(kernel.PartitionCount.KernelSpec, config, 1,
			kernel.PartitionCountArgsOf[[]byte]{
				Units:    backend.AsBytes([]uint32{0, leftRows, 0, rightRows}),
				LeftKeys: make([]byte, 4*leftRows), RightKeys: make([]byte, 4*rightRows), Counts: make([]byte, 8),
			})
	}
	for _, driver := range openDrivers(t) {
		device := openDevice(t, driver)
		for _, dispatch := range dispatches {
			if !kerneltest.Runs(device.Info(), dispatch.Spec, dispatch.Config) {
				continue
			}
			after, err := dispatch.RunOn(t.Context(), device)
			require.NoError(t, err)
			require.Equal(t, []uint64{leftRows * rightRows}, backend.Longs(after[len(after)-1]))
		}
	}
	dispatches[0].RunReference()
	require.Equal(t, []uint64{leftRows * rightRows}, backend.Longs(dispatches[0].Args[len(dispatches[0].Args)-1]))
}

// Dispatches of more workgroups than fit one row of the grid.
func TestDevicesFoldTheGrid(t *testing.T) {
	for _, driver := range openDrivers(t) {
		device := openDevice(t, driver)
		config, err := kernel.Defaults(kernel.Iota.KernelSpec, backend.Config{"workgroup": 32, "items": 1})
		require.NoError(t, err)
		for _, rows := range []int{32 * 32768, 32*32768 + 1, 2*32*32768 + 77} {
			c := newCase(kernel.Iota.KernelSpec, config, rows, "random", uint64(rows))
			require.NoError(t, c.Check(runDevice(t, device, c)), "rows %d", rows)
		}
	}
}

// lavapipe's subgroups are as wide as the vectors it is told to use: 4 and 16 invocations besides the usual 8. Its
// shader cache does not tell the widths apart, so each width has its own.
func TestDevicesOfOtherSubgroupSizes(t *testing.T) {
	devices := vulkantest.Devices(t)
	if !slices.ContainsFunc(devices, func(d backend.DeviceInfo) bool { return strings.Contains(d.Name, "llvmpipe") }) {
		t.Skip("only lavapipe has a choice")
	}
	if vulkantest.Validation(t) != vulkan.Off {
		t.Skip("nothing new for the validation layer")
	}
	for _, bits := range []string{"128", "512"} {
		t.Run(bits, func(t *testing.T) {
			t.Parallel()
			again := exec.Command(os.Args[0], "-test.run=^TestDevices$", "-test.v")
			again.Env = append(os.Environ(), "SPIRJOIN_TEST_DEVICES=lavapipe", "SPIRJOIN_TEST_SUBGROUPS=only",
				"LP_NATIVE_VECTOR_WIDTH="+bits)
			if cache := os.Getenv("MESA_SHADER_CACHE_DIR"); cache != "" {
				again.Env = append(again.Env, "MESA_SHADER_CACHE_DIR="+cache+"-"+bits)
			} else {
				again.Env = append(again.Env, "MESA_SHADER_CACHE_DISABLE=true")
			}
			output, err := again.CombinedOutput()
			require.NoError(t, err, "%s", output)
			require.Regexp(t, `--- PASS: \S*`+bits+`_bits\)/radix_scatter`, string(output),
				"another vector width than asked for, or nothing looked at")
		})
	}
}

func TestWalkedRowsAreThoseOfTheShader(t *testing.T) {
	text, err := os.ReadFile("../shaders/include/join_walking.glsl")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("\n#define WALKED %du ", kernel.WalkedRows))
}

// Room for more than 2^16 rows of a batch, in batches of both turns.
func TestDevicesJoinHotBatches(t *testing.T) {
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("GPU-assisted validation puts loops into shaders, and lavapipe ends those after 65,535 trips too")
	}
	for _, driver := range openDrivers(t) {
		device := openDevice(t, driver)
		for shared := range uint32(2) {
			c, err := kerneltest.HotBatches(driver.Info().SubgroupSize, shared)
			require.NoError(t, err)
			require.NoError(t, c.Check(c.RunReference()))
			if kerneltest.Runs(device.Info(), c.Spec, c.Config) {
				require.NoError(t, c.Check(runDevice(t, device, c)))
			}
		}
	}
}

// Keys that many rows of both sides have.
func TestDevicesCountAndMarkFrequentKeys(t *testing.T) {
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("instrumented shaders take many seconds to compile")
	}
	config := func(shared uint32, name string, value uint32) backend.Config {
		return backend.Config{"key_bits": 32, "shared": shared, "workgroup": 64, "items": kernel.MaxMarkItems, "table": 700,
			"heads": 8, name: value}
	}
	const both = kernel.MarkLeft | kernel.MarkRight
	for _, driver := range openDrivers(t) {
		device := openDevice(t, driver)
		for _, k := range []struct {
			spec   *backend.KernelSpec
			config backend.Config
		}{
			{kernel.PartitionCount.KernelSpec, config(0, "distinct", 0)},
			{kernel.PartitionCount.KernelSpec, config(0, "distinct", 1)},
			{kernel.PartitionCount.KernelSpec, config(1, "distinct", 1)},
			{kernel.MergeCount.KernelSpec, config(0, "table", 700)},
			{kernel.MergeCount.KernelSpec, config(1, "table", 700)},
			{kernel.PartitionMark.KernelSpec, config(0, "sides", both)},
			{kernel.PartitionMark.KernelSpec, config(1, "sides", both)},
			{kernel.MergeMark.KernelSpec, config(0, "sides", both)},
			{kernel.MergeMark.KernelSpec, config(1, "sides", both)},
		} {
			c, err := kerneltest.FrequentKeys(k.spec, k.config)
			require.NoError(t, err)
			require.NoError(t, c.Check(c.RunReference()))
			if kerneltest.Runs(device.Info(), c.Spec, c.Config) {
				require.NoError(t, c.Check(runDevice(t, device, c)))
			}
		}
	}
}

// lavapipe ends loops silently after 65,535 trips.
func TestDevicesWalkLongChains(t *testing.T) {
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("GPU-assisted validation puts loops into shaders, and lavapipe ends those after 65,535 trips too")
	}
	for _, driver := range openDrivers(t) {
		device := openDevice(t, driver)
		c, err := kerneltest.LongChain(driver.Info().SubgroupSize)
		require.NoError(t, err)
		require.NoError(t, c.Check(c.RunReference()))
		if kerneltest.Runs(device.Info(), c.Spec, c.Config) {
			require.NoError(t, c.Check(runDevice(t, device, c)))
		}
	}
}
