package kernel_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
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
		call, groups := benchCall(spec, full, rows)
		before := changedArgs(spec, call)
		reportBest(b, rows, func() time.Duration {
			for i, arg := range before {
				copy(call.Args[i], arg)
			}
			began := time.Now()
			run := call.prepare(spec)
			for group := range groups {
				run(group)
			}
			return time.Since(began)
		})
	})
}

// BenchmarkDevice runs the kernels on the devices that the environment selects, in the shape that suits the device, and
// reports device time, the best of all runs. The outputs are compared with those of the reference first.
func BenchmarkDevice(b *testing.B) {
	rows := benchRows(b)
	for _, driver := range vulkantest.Open(b) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		defer func() { require.NoError(b, device.Close()) }()
		serial := uint32(0)
		if device.Info().CPULike() {
			serial = 1
		}
		b.Run("device="+device.Info().Name, func(b *testing.B) {
			eachVariant(b, func(b *testing.B, spec *backend.KernelSpec, variant backend.Config) {
				if s, ok := variant["serial"]; ok && s != serial {
					b.Skip("the shape of another kind of device")
				}
				config, err := kernel.Defaults(spec, variant)
				require.NoError(b, err)
				benchDevice(b, device, spec, config, rows)
			})
		})
	}
}

func benchDevice(b *testing.B, device *backend.Device, spec *backend.KernelSpec, config backend.Config, rows int) {
	call, groups := benchCall(spec, config, rows)
	k, err := device.Kernel(spec, config)
	require.NoError(b, err)
	args := make([]backend.Range, len(call.Args))
	for i, arg := range call.Args {
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
	before := changedArgs(spec, call)
	run := func() time.Duration {
		for i, arg := range before {
			_, err := device.Upload(b.Context(), args[i], arg)
			require.NoError(b, err)
		}
		list := backend.List{Profile: new(backend.Profile)}
		list.Stage("kernel")
		list.Dispatch(k, groups, args, call.Params...)
		require.NoError(b, device.Run(b.Context(), &list))
		var took time.Duration
		for _, stage := range list.Profile.Stages() {
			took += stage.Time
		}
		return took
	}
	run()
	reference := call.prepare(spec)
	for group := range groups {
		reference(group)
	}
	for i, arg := range call.Args {
		if arg != nil {
			got := make([]byte, len(arg))
			require.NoError(b, device.Download(b.Context(), got, args[i]))
			require.True(b, bytes.Equal(arg, got), "%s", spec.Args[i].Name)
		}
	}
	reportBest(b, rows, run)
}

// changedArgs copies the arguments that a run reads and writes: each run must find them as they were.
func changedArgs(spec *backend.KernelSpec, call *dispatch) map[int][]byte {
	changed := make(map[int][]byte)
	for i, arg := range spec.Args {
		if arg.Access == backend.ReadWrite || arg.Access == backend.Accumulate {
			changed[i] = bytes.Clone(call.Args[i])
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

// lookupCall makes a call of a kernel that joins one of a kernel that counts or marks, if that is what the kernel does.
func lookupCall(spec *backend.KernelSpec, call *dispatch, out []byte, params ...uint32) {
	if strings.HasSuffix(spec.Name, "_count") || strings.HasSuffix(spec.Name, "_mark") {
		call.Args, call.Params = append(call.Args[:3:3], out), params
	}
}

// benchCall makes a dispatch over rows rows.
func benchCall(spec *backend.KernelSpec, config backend.Config, rows int) (call *dispatch, groups uint32) {
	random := rand.New(rand.NewPCG(1, 2))
	words := func(n int, word func(i int) uint64, bits uint32) []byte {
		if bits == 64 {
			column := make([]uint64, n)
			for i := range column {
				column[i] = word(i)
			}
			return backend.AsBytes(column)
		}
		column := make([]uint32, n)
		for i := range column {
			column[i] = uint32(word(i))
		}
		return backend.AsBytes(column)
	}
	any := func(int) uint64 { return random.Uint64() }
	id := func(int) uint64 { return random.Uint64N(uint64(rows)) }
	zero := func(int) uint64 { return 0 }
	tiles := kernel.Tiles(kernel.Named(config), uint64(rows))
	call = &dispatch{Config: config}
	covered := rows
	switch spec.Name {
	case "iota":
		call.Args, call.Params = [][]byte{words(rows, zero, 32)}, []uint32{uint32(rows), 0}
	case "gather":
		bits := config["value_bits"]
		call.Args, call.Params = [][]byte{words(rows, any, bits), words(rows, id, 32), words(rows, zero, bits)}, []uint32{uint32(rows)}
	case "gather_bits":
		n := (rows + 31) / 32
		call.Args, call.Params = [][]byte{words(n, any, 32), words(rows, id, 32), words(n, zero, 32)}, []uint32{uint32(rows), 0}
	case "block_sort":
		payload, payloadOut := payloadOf(config["payload_bits"], words, rows, any)
		call.Args = [][]byte{words(rows, any, config["key_bits"]), payload, words(rows, zero, config["key_bits"]), payloadOut}
		call.Params = []uint32{uint32(rows), tiles}
	case "merge_partition", "merge_tiles":
		// Both sides hold half of the rows; tiles of 2048 rows are partitioned.
		left, keyBits := rows/2, config["key_bits"]
		keys := [2][]byte{ascending(random, left, rows, keyBits), ascending(random, rows-left, rows, keyBits)}
		tileRows := uint32(2048)
		if spec == kernel.MergeTiles.KernelSpec {
			tileRows = kernel.TileRows(kernel.Named(config))
		}
		tiles = (uint32(rows) + tileRows - 1) / tileRows
		partition := &dispatch{Config: backend.Config{"key_bits": keyBits, "workgroup": 1, "items": 1},
			Args: [][]byte{keys[0], keys[1], words(int(tiles), zero, 32)}, Params: []uint32{uint32(left), uint32(rows - left), 0, tiles, tileRows}}
		if spec == kernel.MergePartition.KernelSpec {
			call.Args, call.Params, covered = partition.Args, partition.Params, int(tiles)
			break
		}
		for tile := range tiles {
			partition.prepare(kernel.MergePartition.KernelSpec)(tile)
		}
		leftPayload, payloadOut := payloadOf(config["payload_bits"], words, rows, any)
		rightPayload, _ := payloadOf(config["payload_bits"], words, rows, any)
		call.Args = [][]byte{keys[0], keys[1], leftPayload, rightPayload, partition.Args[2], words(rows, zero, keyBits), payloadOut}
		call.Params = []uint32{uint32(left), uint32(rows - left), 0, tiles}
	case "radix_counts":
		call.Args = [][]byte{words(rows, any, config["key_bits"]), words(4*256, zero, 32), nil}
		call.Params = []uint32{uint32(rows), 4, 0x18100800, 0, 0x08080808, 0, 0}
	case "partition_starts":
		ascending := func(i int) uint64 { return uint64(i) }
		call.Args = [][]byte{words(rows, ascending, config["key_bits"]), words(rows, zero, 32)}
		call.Params = []uint32{uint32(rows), uint32(rows), 0, 32}
	case "radix_starts":
		call.Args, call.Params = [][]byte{words(rows, any, 32), words(rows+1, zero, 32)}, []uint32{uint32(rows), 1, 0}
	case "radix_histogram", "radix_scatter":
		keyBits := config["key_bits"]
		keys, counts := words(rows, any, keyBits), words(256*int(tiles), zero, 32)
		histogram := &dispatch{Config: config, Args: [][]byte{keys, counts, nil}, Params: []uint32{uint32(rows), tiles, 8, 8, 0}}
		call.Args, call.Params = histogram.Args, histogram.Params
		if spec == kernel.RadixHistogram.KernelSpec {
			break
		}
		for group := range kernel.Groups(kernel.Named(config), uint64(rows)) {
			histogram.prepare(kernel.RadixHistogram.KernelSpec)(group)
		}
		sum := uint32(0)
		for i, n := range backend.Words(counts) {
			backend.Words(counts)[i] = sum
			sum += n
		}
		var chain []byte
		if config["lookback"] == 1 {
			offsets := make([]uint32, 256)
			for d := range offsets {
				offsets[d] = backend.Words(counts)[d*int(tiles)]
			}
			counts, chain = backend.AsBytes(offsets), words(int(kernel.ChainWords(tiles)), zero, 32)
		}
		payload, payloadOut := payloadOf(config["payload_bits"], words, rows, any)
		call.Args = [][]byte{keys, payload, nil, nil, counts, chain, words(rows, zero, keyBits), payloadOut, nil, nil, nil}
		call.Params = []uint32{uint32(rows), tiles, 0, 8, 8, 0}
	case "unmix":
		call.Args, call.Params = [][]byte{words(rows, any, config["key_bits"]), words(rows, zero, config["key_bits"])}, []uint32{uint32(rows), 1, 0}
	case "partition_units", "partition_pieces":
		start := func(i int) uint64 { return 2048 * uint64(i) }
		call.Args = [][]byte{words(rows+1, start, 32), words(rows+1, start, 32), words(rows, zero, 32), words(1, zero, 32)}
		call.Params = []uint32{uint32(rows), 2048, 4096, 4096}
		if spec == kernel.PartitionPieces.KernelSpec {
			one := func(i int) uint64 { return uint64(i) }
			call.Args = [][]byte{words(rows+1, one, 32), call.Args[0], call.Args[1], words(4*rows, zero, 32)}
			call.Params = []uint32{uint32(rows), uint32(rows), 2048, 4096, 1}
		}
	case "merge_units":
		call.Args = [][]byte{ascending(random, rows, 4*rows, config["key_bits"]), ascending(random, 4*rows, 4*rows, config["key_bits"]),
			words(2*rows, zero, 32), words(2*rows, zero, 32), words(rows, zero, 32)}
		call.Params = []uint32{uint32(rows), uint32(4 * rows), uint32(rows), 4, 1280}
	case "merge_join", "merge_walk", "merge_count", "merge_mark":
		// A left row has two matches.
		left := min(int(kernel.TileRows(kernel.Named(config)))/2, int(config["table"]))
		units := max(1, rows/(2*left))
		covered = units * int(kernel.TileRows(kernel.Named(config)))
		call.Args = [][]byte{
			words(4*units, func(i int) uint64 {
				return [4]uint64{uint64(i / 4 * left), uint64((i/4 + 1) * left), uint64(i / 4 * 2 * left), uint64((i/4 + 1) * 2 * left)}[i%4]
			}, 32),
			words(units*left, func(i int) uint64 { return uint64(i) }, config["key_bits"]), words(2*units*left, func(i int) uint64 { return uint64(i / 2) }, config["key_bits"]),
			words(units*left, any, 32), words(2*units*left, any, 32), nil, nil, words(units, func(i int) uint64 { return uint64(i * 2 * left) }, 64),
			words(2*units*left, zero, config["key_bits"]), words(2*units*left, zero, 32), words(2*units*left, zero, 32), nil, nil,
		}
		call.Params = []uint32{0, uint32(2 * units * left)}
		lookupCall(spec, call, words(max(units, (2*units*left+31)/32), zero, 32))
	case "partition_join", "partition_walk", "partition_count", "partition_mark":
		// Partitions fill a table; a left row has two matches.
		left := int(config["table"])
		units := max(1, rows/(2*left))
		covered = units * int(kernel.TileRows(kernel.Named(config)))
		key := func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }
		call.Args = [][]byte{
			words(4*units, func(i int) uint64 {
				return [4]uint64{uint64(i / 4 * left), uint64((i/4 + 1) * left), uint64(i / 4 * 2 * left), uint64((i/4 + 1) * 2 * left)}[i%4]
			}, 32),
			words(units*left, key, config["key_bits"]), words(2*units*left, func(i int) uint64 { return key(i / 2) }, config["key_bits"]),
			words(units*left, any, 32), words(2*units*left, any, 32), nil, nil, words(units, func(i int) uint64 { return uint64(i * 2 * left) }, 64),
			words(2*units*left, zero, config["key_bits"]), words(2*units*left, zero, 32), words(2*units*left, zero, 32), nil, nil,
		}
		call.Params = []uint32{0, uint32(2 * units * left), 0, 0}
		lookupCall(spec, call, words(max(units, (2*units*left+31)/32), zero, 32), 0)
	case "table_build", "table_probe", "table_count", "table_mark":
		// An eighth of the rows on the left.
		left, mask := max(1, rows/8), uint32(1)
		for mask < 2*uint32(left) {
			mask = 2*mask + 1
		}
		key := func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }
		build := &dispatch{Config: backend.Config{"key_bits": config["key_bits"], "patience": 256, "workgroup": 1, "items": 64},
			Args:   [][]byte{words(left, key, config["key_bits"]), words(int(mask)+1, zero, 32), words(1, zero, 32)},
			Params: []uint32{uint32(left), mask, 1}}
		if spec == kernel.TableBuild.KernelSpec {
			call.Args, call.Params, covered = build.Args, build.Params, left
			break
		}
		for group := range kernel.Groups(kernel.Named(build.Config), uint64(left)) {
			build.prepare(kernel.TableBuild.KernelSpec)(group)
		}
		call.Args = [][]byte{build.Args[1], build.Args[0], words(rows, func(i int) uint64 { return key(random.IntN(left)) }, config["key_bits"]),
			words(left, any, 32), words(rows, any, 32), nil, nil, words(int(tiles), func(i int) uint64 { return uint64(i) * uint64(kernel.TileRows(kernel.Named(config))) }, 64),
			words(rows, zero, config["key_bits"]), words(rows, zero, 32), words(rows, zero, 32), nil, nil}
		call.Params = []uint32{0, uint32(rows), uint32(rows), mask}
		lookupCall(spec, call, words(max(int(tiles), (rows+31)/32), zero, 32), uint32(rows), mask)
	case "range_search":
		// A fifth of the rows on the left, with unique keys; each of the others matches one of them.
		left := rows / 5
		covered, tiles = left, kernel.Tiles(kernel.Named(config), uint64(left))
		call.Args = [][]byte{words(left, func(i int) uint64 { return 3 * uint64(i) }, config["key_bits"]), ascending(random, rows-left, left, config["key_bits"]),
			words(left, zero, 32), words(left, zero, 32), words(int(tiles), zero, 64)}
		call.Params = []uint32{uint32(left), uint32(rows - left), tiles}
	case "range_expand":
		offsets := words(rows/4+1, func(i int) uint64 { return 4 * uint64(i) }, 64)
		call.Args = [][]byte{offsets, words(rows/4, func(i int) uint64 { return 4 * uint64(i) }, 32), words(rows/4, any, 32), words(rows, any, 32),
			words(rows, zero, 32), words(rows, zero, 32)}
		call.Params = []uint32{uint32(rows / 4), uint32(rows / 4 * 4), 0, 0}
	case "copy":
		call.Args, call.Params = [][]byte{words(rows, any, 32), words(rows, zero, 32)}, []uint32{uint32(rows), 0, 0}
	case "scatter":
		bits := config["value_bits"]
		ids := random.Perm(rows)
		place := func(i int) uint64 { return uint64(ids[i]) }
		call.Args, call.Params = [][]byte{words(rows, any, bits), words(rows, place, 32), words(rows, zero, bits)}, []uint32{uint32(rows)}
	case "varying_bits":
		call.Args = [][]byte{words(rows, any, config["key_bits"]), words(3, zero, config["key_bits"])}
		call.Params = []uint32{uint32(rows), tiles}
	case "reduce":
		call.Args = [][]byte{words(rows, any, config["in_bits"]), words(int(tiles), zero, config["sum_bits"])}
		call.Params = []uint32{uint32(rows), tiles}
	case "segmented_scan":
		heads := words((rows+31)/32, func(int) uint64 { return random.Uint64() & random.Uint64() & random.Uint64() }, 32)
		call.Args = [][]byte{words(rows, any, config["in_bits"]), heads, nil, words(rows, zero, config["sum_bits"]), nil, nil}
		call.Params = []uint32{uint32(rows), tiles, 0}
	case "compact", "compact_count":
		bitmap, counts := words((rows+31)/32, any, 32), words(int(tiles), zero, 32)
		call.Args, call.Params = [][]byte{bitmap, counts}, []uint32{uint32(rows), tiles}
		if spec == kernel.CompactCount.KernelSpec {
			break
		}
		count := &dispatch{Config: config, Args: call.Args, Params: call.Params}
		for group := range kernel.Groups(kernel.Named(config), uint64(rows)) {
			count.prepare(kernel.CompactCount.KernelSpec)(group)
		}
		sum := uint64(0)
		offset := func(i int) uint64 {
			before := sum
			sum += uint64(backend.Words(counts)[i])
			return before
		}
		offsets := words(int(tiles), offset, 64)
		call.Args = [][]byte{bitmap, offsets, words(rows, any, config["value_bits"]), words(int(sum), zero, config["value_bits"])}
	case "histogram":
		call.Args, call.Params = [][]byte{words(rows, any, config["key_bits"]), words(1<<kernel.MaxHistogramBits, zero, 64)}, []uint32{uint32(rows), 8, kernel.MaxHistogramBits}
	case "scan_lookback":
		status := words(int(kernel.ScanStatusWords(config["sum_bits"], tiles)), zero, 32)
		call.Args = [][]byte{words(rows, any, config["in_bits"]), words(rows, zero, config["sum_bits"]), status}
		call.Params = []uint32{uint32(rows), tiles, 0}
	case "scan_tiles":
		call.Args = [][]byte{words(rows, any, config["in_bits"]), words(int(tiles), any, config["sum_bits"]), words(rows, zero, config["sum_bits"])}
		call.Params = []uint32{uint32(rows), tiles, 0}
	default:
		panic(fmt.Sprintf("no benchmark of kernel %s", spec.Name))
	}
	return call, kernel.Groups(kernel.Named(config), uint64(covered))
}

// payloadOf makes columns for a payload of given width, none where it is 0.
func payloadOf(bits uint32, words func(int, func(int) uint64, uint32) []byte, rows int, value func(int) uint64) (in, out []byte) {
	if bits == 0 {
		return nil, nil
	}
	return words(rows, value, bits), words(rows, func(int) uint64 { return 0 }, bits)
}

// ascending draws n sorted keys, multiples of 3 below 3*different.
func ascending(random *rand.Rand, n, different int, bits uint32) []byte {
	counts := make([]int, different)
	for range n {
		counts[random.IntN(different)]++
	}
	keys := make([]uint64, 0, n)
	for i, count := range counts {
		for range count {
			keys = append(keys, 3*uint64(i))
		}
	}
	if bits == 64 {
		return backend.AsBytes(keys)
	}
	return backend.AsBytes(narrow(keys))
}
