package kernel_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
)

// The benchmarks run every variant on 10 million rows of even, random data, or on SPIRJOIN_BENCH_ROWS. They report the
// rate of the fastest run; for range_search a row is one of either side, four on the right for each on the left.

func benchRows(b *testing.B) int {
	text := os.Getenv("SPIRJOIN_BENCH_ROWS")
	if text == "" {
		return 10_000_000
	}
	rows, err := strconv.Atoi(text)
	require.NoError(b, err)
	return rows
}

// BenchmarkReference runs the references on one core, in the shape of the host backend.
func BenchmarkReference(b *testing.B) {
	rows := benchRows(b)
	eachVariant(b, func(b *testing.B, spec *backend.KernelSpec, variant backend.Config) {
		if serial, ok := variant["serial"]; ok && serial == 0 {
			b.Skip("the shape of a GPU")
		}
		config := backend.Config{"workgroup": 1, "items": 1 << 16}
		for axis, value := range variant {
			config[axis] = value
		}
		full, err := spec.Complete(config)
		require.NoError(b, err)
		dispatch := kerneltest.NewBenchmark(spec, full, rows)
		before := changedArgs(dispatch)
		reportBest(b, rows, func() time.Duration {
			for i, arg := range before {
				copy(dispatch.Args[i], arg)
			}
			began := time.Now()
			dispatch.RunReference()
			return time.Since(began)
		})
	})
}

// BenchmarkDevice runs the kernels on the devices that the environment selects, in all shapes that a device runs, the
// serial one on CPU cores only. It reports the least device time of all runs. First it compares outputs with the
// reference, unless their order is open.
func BenchmarkDevice(b *testing.B) {
	rows := benchRows(b)
	for _, driver := range openDrivers(b) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		defer func() { require.NoError(b, device.Close()) }()
		b.Run("device="+device.Info().Name, func(b *testing.B) {
			eachVariant(b, func(b *testing.B, spec *backend.KernelSpec, variant backend.Config) {
				if variant["serial"] == 1 && !device.Info().CPULike() {
					b.Skip("the shape of CPU cores")
				}
				shapes := shapesOf(b, device, spec, variant)
				if len(shapes) == 0 {
					b.Skip("the device lacks the subgroup operations of this shape")
				}
				benchDevice(b, device, spec, shapes[0], rows)
			})
		})
	}
}

func benchDevice(b *testing.B, device *backend.Device, spec *backend.KernelSpec, config backend.Config, rows int) {
	dispatch := kerneltest.NewBenchmark(spec, config, rows)
	k, err := device.Kernel(spec, config)
	require.NoError(b, err)
	args := make([]backend.Range, len(dispatch.Args))
	for i, arg := range dispatch.Args {
		if arg == nil {
			continue
		}
		buffer, err := device.Allocate(b.Context(), backend.DeviceLocal, uint64(len(arg)), spec.Args[i].Name)
		require.NoError(b, err)
		defer buffer.Release()
		args[i] = buffer.All()
		_, err = device.Upload(b.Context(), args[i], arg)
		require.NoError(b, err)
	}
	before := changedArgs(dispatch)
	run := func() time.Duration {
		for i, arg := range before {
			_, err := device.Upload(b.Context(), args[i], arg)
			require.NoError(b, err)
		}
		list := backend.List{Profile: new(backend.Profile)}
		list.Stage("kernel")
		list.DispatchPart(k, 0, dispatch.EndGroup, args, dispatch.Params...)
		require.NoError(b, device.Run(b.Context(), &list))
		var took time.Duration
		for _, stage := range list.Profile.Stages() {
			took += stage.Time
		}
		return took
	}
	run()
	dispatch.RunReference()
	for i, arg := range dispatch.Args {
		if arg != nil && spec.Compare == backend.Exact {
			got := make([]byte, len(arg))
			require.NoError(b, device.Download(b.Context(), got, args[i]))
			require.True(b, bytes.Equal(arg, got), "%s", spec.Args[i].Name)
		}
	}
	reportBest(b, rows, run)
}

// changedArgs copies the arguments that a run reads and writes: each run must find them as they were.
func changedArgs(dispatch *kerneltest.Dispatch) map[int][]byte {
	changed := make(map[int][]byte)
	for i, arg := range dispatch.Spec.Args {
		if (arg.Access == backend.ReadWrite || arg.Access == backend.Accumulate) && dispatch.Args[i] != nil {
			changed[i] = bytes.Clone(dispatch.Args[i])
		}
	}
	return changed
}

// eachVariant runs a benchmark for every variant, named by its axes.
func eachVariant(b *testing.B, run func(b *testing.B, spec *backend.KernelSpec, variant backend.Config)) {
	for _, spec := range kernel.Catalogue() {
		for _, variant := range kernel.Variants(spec) {
			name := strings.TrimSuffix(spec.Name+"/"+strings.ReplaceAll(variant.String(), " ", "/"), "/")
			b.Run(name, func(b *testing.B) { run(b, spec, variant) })
		}
	}
}

// reportBest reports the shortest time that run returns.
func reportBest(b *testing.B, rows int, run func() time.Duration) {
	best := time.Duration(1<<63 - 1)
	for b.Loop() {
		best = min(best, run())
	}
	b.ReportMetric(float64(rows)/best.Seconds(), "rows/s")
	b.ReportMetric(float64(best.Nanoseconds())/float64(rows), "ns/row")
	b.ReportMetric(0, "ns/op")
}
