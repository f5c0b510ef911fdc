package primitive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
)

// benchTunings are configurations of the sort to compare: SPIRJOIN_BENCH_SORT, as "workgroup=256 items=52 batch=13; ...",
// beside the device's own.
func benchTunings(b *testing.B) map[string]primitive.Tuning {
	tunings := map[string]primitive.Tuning{"own": nil}
	for _, text := range strings.Split(os.Getenv("SPIRJOIN_BENCH_SORT"), ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		config := make(backend.Config)
		for _, setting := range strings.Fields(text) {
			name, value, _ := strings.Cut(setting, "=")
			n, err := strconv.Atoi(value)
			require.NoError(b, err)
			config[name] = uint32(n)
		}
		tunings[strings.ReplaceAll(text, " ", ",")] = primitive.Override(config, "radix_sort")
	}
	return tunings
}

// BenchmarkSort sorts random pairs that are on the device and reports the device time of each kind of kernel. The result of the
// first run is verified.
func BenchmarkSort(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, rows)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	devicetest.Bench(b, func(device *backend.Device, name string) {
		tunings := benchTunings(b)
		for _, tuning := range sortedKeys(tunings) {
			for _, keyBytes := range []int{4, 8} {
				b.Run(fmt.Sprintf("rows=%d/key=%d/payload=4/tuning=%s/device=%s", rows, keyBytes*8, tuning, name), func(b *testing.B) {
					benchSort(b, device, keys, keyBytes, tunings[tuning])
				})
			}
		}
	})
}

func sortedKeys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func benchSort(b *testing.B, device *backend.Device, values []uint64, keyBytes int, tuning primitive.Tuning) {
	ctx := context.Background()
	ops, err := primitive.New(device, tuning)
	require.NoError(b, err)
	rows := uint64(len(values))
	p, err := primitive.PlanSort(ops.Tuning(), rows, keyBytes, keyBytes*8, primitive.RowNumbers)
	require.NoError(b, err)
	var buffers []*backend.Buffer
	allocate := func(sizeBytes uint64) backend.Range {
		buffer, err := device.Allocate(backend.DeviceLocal, sizeBytes, "bench")
		require.NoError(b, err)
		buffers = append(buffers, buffer)
		return buffer.All()
	}
	defer func() {
		for _, buffer := range buffers {
			buffer.Release()
		}
	}()
	keys := [2]backend.Range{allocate(rows * uint64(keyBytes)), allocate(rows * uint64(keyBytes))}
	payload := [2]backend.Range{allocate(rows * 4), allocate(rows * 4)}
	source, scratch := allocate(rows*uint64(keyBytes)), allocate(p.ScratchBytes)
	input := backend.AsBytes(values)
	if keyBytes == 4 {
		narrow := make([]uint32, rows)
		for i, v := range values {
			narrow[i] = uint32(v)
		}
		input = backend.AsBytes(narrow)
	}
	point, err := device.Upload(ctx, source, input)
	require.NoError(b, err)
	require.NoError(b, device.Wait(ctx, point))
	var total []time.Duration
	profile := new(backend.Profile)
	// An idle GPU runs at a fraction of its clock: it is kept busy for a while before anything is timed.
	for start := time.Now(); time.Since(start) < time.Second; {
		var list backend.List
		require.NoError(b, ops.Sort(&list, p, keys, payload, scratch))
		require.NoError(b, device.Run(ctx, &list))
	}
	b.ResetTimer()
	for i := range b.N {
		var list backend.List
		list.Copy(keys[0], source)
		require.NoError(b, device.Run(ctx, &list))
		list = backend.List{}
		require.NoError(b, ops.Sort(&list, p, keys, payload, scratch))
		list = byKernel(list)
		one := new(backend.Profile)
		list.Profile = one
		require.NoError(b, device.Run(ctx, &list))
		var sum time.Duration
		for _, s := range one.Stages() {
			sum += s.Time
			profile.Add(s.Stage, s.Time)
		}
		total = append(total, sum)
		if i == b.N-1 {
			verifySorted(b, device, keys[p.Result()], payload[p.Result()], values, keyBytes)
		}
	}
	slices.Sort(total)
	for _, s := range profile.Stages() {
		b.ReportMetric(s.Time.Seconds()*1000/float64(b.N), "ms-"+s.Stage)
	}
	b.ReportMetric(total[len(total)/2].Seconds()*1000, "ms-median")
	b.ReportMetric(float64(rows)/total[len(total)/2].Seconds()/1e9, "Gpairs/s")
}

// byKernel makes every dispatch a stage of its kernel's name.
func byKernel(list backend.List) (marked backend.List) {
	for _, c := range list.Commands {
		if c.Kind == backend.Dispatch {
			marked.Stage(c.Kernel.Spec.Name)
		}
		marked.Commands = append(marked.Commands, c)
	}
	return marked
}

func verifySorted(b *testing.B, device *backend.Device, keys, payload backend.Range, values []uint64, keyBytes int) {
	b.StopTimer()
	defer b.StartTimer()
	sorted, ids := make([]byte, len(values)*keyBytes), make([]uint32, len(values))
	require.NoError(b, device.Download(context.Background(), sorted, keys))
	require.NoError(b, device.Download(context.Background(), backend.AsBytes(ids), payload))
	at := func(i int) uint64 {
		if keyBytes == 4 {
			return uint64(backend.Words(sorted)[i])
		}
		return backend.Longs(sorted)[i]
	}
	seen := make([]bool, len(values))
	for i, id := range ids {
		want := values[id]
		if keyBytes == 4 {
			want = uint64(uint32(want))
		}
		if seen[id] || at(i) != want || i > 0 && (at(i-1) > at(i) || at(i-1) == at(i) && ids[i-1] > id) {
			b.Fatalf("wrong at row %d", i)
		}
		seen[id] = true
	}
}
