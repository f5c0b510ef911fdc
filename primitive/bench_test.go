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

// benchTunings are configurations of primitives to compare, from an environment variable, as "workgroup=256 items=52
// batch=13; ...", beside the device's own.
func benchTunings(b *testing.B, variable string, primitives ...string) map[string]primitive.Tuning {
	tunings := map[string]primitive.Tuning{"own": nil}
	for _, text := range strings.Split(os.Getenv(variable), ";") {
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
		tunings[strings.ReplaceAll(text, " ", ",")] = primitive.Override(config, primitives...)
	}
	return tunings
}

// sorter is a sort of pairs with row numbers that a benchmark compares with others.
type sorter struct {
	name     string
	variable string   // of the environment, with configurations
	tuned    []string // primitives that they belong to
	plan     func(t primitive.Tuning, rows uint64, keyBytes int) (plan sortPlan, err error)
}

// sortPlan is what both kinds of sort have in common.
type sortPlan struct {
	scratchBytes uint64
	result       int
	record       func(o *primitive.Ops, list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error
}

var sorters = []sorter{
	{"radix", "SPIRJOIN_BENCH_SORT", []string{"radix_sort"},
		func(t primitive.Tuning, rows uint64, keyBytes int) (sortPlan, error) {
			p, err := primitive.PlanSort(t, primitive.Sort{Layout: primitive.Layout{Rows: rows, KeyBytes: keyBytes,
				Payload: primitive.RowNumbers}, EndBit: keyBytes * 8})
			return sortPlan{p.ScratchBytes, p.Result(), func(o *primitive.Ops, list *backend.List, keys,
				payload [2]backend.Range, scratch backend.Range) error {
				rows := [2]primitive.Columns{{Keys: keys[0], Payload: payload[:1]},
					{Keys: keys[1], Payload: payload[1:]}}
				return o.Sort(list, p, scratch, rows[0], rows)
			}}, err
		}},
	{"merge", "SPIRJOIN_BENCH_MERGE_SORT", []string{"merge", "merge_sort"},
		func(t primitive.Tuning, rows uint64, keyBytes int) (sortPlan, error) {
			p, err := primitive.PlanMergeSort(t,
				primitive.Layout{Rows: rows, KeyBytes: keyBytes, Payload: primitive.RowNumbers})
			return sortPlan{p.ScratchBytes, p.Result(), func(o *primitive.Ops, list *backend.List, keys,
				payload [2]backend.Range, scratch backend.Range) error {
				rows := [2]primitive.Columns{{Keys: keys[0], Payload: payload[:1]},
					{Keys: keys[1], Payload: payload[1:]}}
				return o.MergeSort(list, p, scratch, rows[0], rows)
			}}, err
		}},
}

// BenchmarkSort sorts random pairs that are on the device and reports the device time of each kind of kernel. The
// result of the last run is verified.
func BenchmarkSort(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, rows)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	devicetest.Bench(b, func(device *backend.Device, name string) {
		for _, s := range sorters {
			tunings := benchTunings(b, s.variable, s.tuned...)
			for _, tuning := range sortedKeys(tunings) {
				for _, keyBytes := range []int{4, 8} {
					b.Run(fmt.Sprintf("algorithm=%s/rows=%d/key=%d/payload=32/tuning=%s/device=%s", s.name, rows,
						keyBytes*8, tuning, name), func(b *testing.B) {
						benchSort(b, device, s, keys, keyBytes, tunings[tuning])
					})
				}
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

func benchSort(b *testing.B, device *backend.Device, s sorter, values []uint64, keyBytes int, tuning primitive.Tuning) {
	ctx := context.Background()
	ops, err := primitive.New(device, tuning)
	require.NoError(b, err)
	rows := uint64(len(values))
	p, err := s.plan(ops.Tuning(), rows, keyBytes)
	require.NoError(b, err)
	allocate, release := allocator(b, device)
	defer release()
	keys := [2]backend.Range{allocate(rows * uint64(keyBytes)), allocate(rows * uint64(keyBytes))}
	payload := [2]backend.Range{allocate(rows * 4), allocate(rows * 4)}
	source, scratch := allocate(rows*uint64(keyBytes)), allocate(p.scratchBytes)
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
	require.NoError(b, point.Wait(ctx))
	var total []time.Duration
	profile := new(backend.Profile)
	// An idle GPU runs at a fraction of its clock: it is kept busy for a while before anything is timed.
	for start := time.Now(); time.Since(start) < time.Second; {
		var list backend.List
		require.NoError(b, p.record(ops, &list, keys, payload, scratch))
		require.NoError(b, device.Run(ctx, &list))
	}
	b.ResetTimer()
	for i := range b.N {
		var list backend.List
		list.Copy(keys[0], source)
		require.NoError(b, device.Run(ctx, &list))
		list = backend.List{}
		require.NoError(b, p.record(ops, &list, keys, payload, scratch))
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
			verifySorted(b, device, keys[p.result], payload[p.result], values, keyBytes)
		}
	}
	slices.Sort(total)
	for _, s := range profile.Stages() {
		b.ReportMetric(s.Time.Seconds()*1000/float64(b.N), "ms-"+s.Stage)
	}
	b.ReportMetric(total[len(total)/2].Seconds()*1000, "ms-median")
	b.ReportMetric(float64(rows)/total[len(total)/2].Seconds()/1e9, "Gpairs/s")
}

// allocator returns a function that allocates columns on a device and one that releases them all.
func allocator(b *testing.B, device *backend.Device) (allocate func(sizeBytes uint64) backend.Range, release func()) {
	var buffers []*backend.Buffer
	return func(sizeBytes uint64) backend.Range {
			buffer, err := device.Allocate(context.Background(), backend.DeviceLocal, sizeBytes, "bench")
			require.NoError(b, err)
			buffers = append(buffers, buffer)
			return buffer.All()
		}, func() {
			for _, buffer := range buffers {
				buffer.Release()
			}
		}
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
