package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/source"
)

// named is a table whose keys are texts, some NULL and some empty, at an odd offset of its chunks.
func named(t testing.TB, seed uint64, rows, values int, keyType arrow.DataType) arrow.Table {
	random, drawn := rand.New(rand.NewPCG(seed, 3)), 0
	kind := keyKind{nulls: true, value: func(b array.Builder, _ int, n int64) { appendText(b, n) }}
	number := func(*rand.Rand, int, int) int64 { drawn++; return int64(random.IntN(values)) }
	whole := randomTable(random, rows+7, types(keyType), &kind, number, "k")
	defer whole.Release()
	var columns []arrow.Column
	for c := range int(whole.NumCols()) {
		sliced := array.NewChunkedSlice(whole.Column(c).Data(), 5, int64(rows)+5)
		columns = append(columns, *arrow.NewColumn(whole.Column(c).Field(), sliced))
		sliced.Release()
	}
	require.Equal(t, rows+7, drawn)
	table := array.NewTable(whole.Schema(), columns, int64(rows))
	t.Cleanup(table.Release)
	return table
}

// TestTextsOfEveryKind: every kind by every algorithm with every degree of collision, in granules and windows, of rows,
// of counts and in order.
func TestTextsOfEveryKind(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ShortOnHost(t)
	left := named(t, 1, 150, 60, arrow.BinaryTypes.String)
	right := named(t, 2, 190, 70, dictionaryOf(arrow.BinaryTypes.String))
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		for n, c := range devicetest.Product(t, len(kinds)-1, len(algorithms), 3) {
			spec := join.Spec{On: []string{"k0"}, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100,
				Materialize: join.Materialize(n % 3), BuildSide: join.BuildSide(n / 3 % 3)}
			switch n / 9 % 4 {
			case 1:
				spec.Output = join.Count
			case 2:
				spec.Deterministic = true
			}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			kind := keyKind{hashBits: []int{0, 4, noHashBits}[c[2]]}
			checkOn(t, kind.engine(engine.NewEngine(ops, allocator, 0)), left, right, spec, parts[n%len(parts)])
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamOfTexts: the same where one side comes batch by batch, and where the build side stays.
func TestStreamOfTexts(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ShortOnHost(t)
	tables := [2]arrow.Table{named(t, 1, 150, 60, arrow.BinaryTypes.LargeString),
		named(t, 2, 190, 70, arrow.BinaryTypes.String)}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 3, 3, len(parts), 3, 2) {
			spec := join.Spec{On: []string{"k0"}, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 50,
				Materialize: join.Materialize(c[0] % 3), BuildSide: join.BuildSide(c[5]),
				Output: []join.Output{join.Rows, join.Count}[c[6]]}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			kind := keyKind{hashBits: []int{0, 4, noHashBits}[c[2]]}
			engine := kind.engine(engine.NewEngine(ops, allocator, 0))
			engine.GranuleRows, engine.WindowRows = parts[c[4]][0], parts[c[4]][1]
			rows := []int64{7, 64, 1000}[c[3]]
			sources := [2]source.Source{sourceOf(tables[0], rows), sourceOf(tables[1], rows)}
			checkStream(t, engine, tables, sources, spec)
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestManyPairsAreProved: where pairs are many more than rows, hashes are proved, or, where that fails, pairs compared.
func TestManyPairsAreProved(t *testing.T) {
	devicetest.ShortOnHost(t)
	left, right := named(t, 1, 200, 12, arrow.BinaryTypes.String), named(t, 2, 260, 14, arrow.BinaryTypes.LargeString)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 2, 3) {
			bits, spec := []int{64, 2}[c[2]], join.Spec{On: []string{"k0"}, How: kinds[c[0]], Algorithm: algorithms[c[1]]}
			switch c[3] {
			case 1:
				spec.Output = join.Count
			case 2:
				spec.Deterministic = true
			}
			engine := smallEngine(t, device)
			engine.HashBits = new(bits)
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			require.Equal(t, bits == 64, plan.Trees[0].Keep == nil)
			checkOn(t, engine, left, right, spec, [2]uint64{})
		}
		noMemoryInUse(t, device)
	})
}

// TestCandidatesAreNoRows: the limit of the output counts partners, and unique keys may have equal hashes.
func TestCandidatesAreNoRows(t *testing.T) {
	devicetest.ShortOnHost(t)
	left, right := named(t, 1, 100, 40, arrow.BinaryTypes.StringView), named(t, 2, 120, 50, arrow.BinaryTypes.String)
	unique := randomTable(rand.New(rand.NewPCG(1, 1)), 80, types(arrow.BinaryTypes.String),
		&keyKind{value: func(b array.Builder, _ int, n int64) { appendText(b, n) }},
		func(_ *rand.Rand, i, _ int) int64 { return int64(i) }, "k")
	defer unique.Release()
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(algorithms), 3, 3, 2) {
			engine := smallEngine(t, device)
			engine.HashBits = new([]int{64, 4, 0}[c[1]])
			engine.GranuleRows = []uint64{0, 30, 0}[c[2]]
			spec := join.Spec{On: []string{"k0"}, Algorithm: algorithms[c[0]], BatchRows: 50,
				Output: []join.Output{join.Rows, join.Count}[c[3]]}
			run := func(l, r arrow.Table) (rows uint64, err error) {
				plan, err := engine.Plan(context.Background(), l, r, spec)
				if err != nil {
					return 0, err
				}
				result, err := plan.Run(context.Background())
				if err != nil {
					return 0, err
				}
				defer result.Close()
				if spec.Output == join.Rows {
					for batch, err := range result.Batches(context.Background()) {
						if err != nil {
							return 0, err
						}
						batch.Release()
					}
				}
				return result.Rows(), nil
			}
			describe := fmt.Sprintf("%+v, collisions %d", spec, c[1])
			want := uint64(len(oracle.Join(left, right, spec)))
			spec.MaxOutputRows = want
			rows, err := run(left, right)
			require.NoError(t, err, describe)
			require.Equal(t, want, rows, describe)
			spec.MaxOutputRows = want - 1
			_, err = run(left, right)
			require.ErrorIs(t, err, backend.ErrLimit, describe)
			require.ErrorContains(t, err, "max_output_rows allows", describe)

			spec.MaxOutputRows, spec.Validate = 0, join.OneToMany
			rows, err = run(unique, right)
			require.NoError(t, err, describe)
			require.EqualValues(t, len(oracle.Join(unique, right, spec)), rows, describe)
			spec.Validate = join.OneToOne
			_, err = run(unique, right)
			require.ErrorIs(t, err, backend.ErrInvalidInput, describe)
			require.ErrorContains(t, err, "keys of the right table must be unique, but rows", describe)
		}
		noMemoryInUse(t, device)
	})
}

// TestExplainHashes says that keys are hashed and compared.
func TestExplainHashes(t *testing.T) {
	devicetest.HostTest(t)
	left, right := named(t, 1, 100, 40, arrow.BinaryTypes.String), named(t, 2, 120, 50, arrow.BinaryTypes.LargeString)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	plan, err := engine.Plan(context.Background(), left, right, join.Spec{On: []string{"k0"}})
	require.NoError(t, err)
	require.Contains(t, plan.String(),
		"key          k0 utf8 = k0 large_utf8\nkey          hash of k0 (64 bits), verified\n")
	require.NoError(t, done())
}

// TestCandidatesUnderCaps: many more candidates than there is memory for, most of which are no partners. Whatever is
// planned runs, with one payload column on the device and with NULLs.
func TestCandidatesUnderCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	table := named(t, 1, 20_000, 7_000, arrow.BinaryTypes.String)
	want := int64(len(oracle.Join(table, table, join.Spec{On: []string{"k0"}, How: join.Full})))
	ran := 0
	for _, algorithm := range algorithms {
		for capBytes := uint64(3 << 20); capBytes <= 24<<20; capBytes *= devicetest.Short[uint64](8, 2) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			engine := smallEngine(t, device)
			engine.HashBits = new(8)
			plan, err := engine.Plan(context.Background(), table, table, join.Spec{On: []string{"k0"}, How: join.Full,
				Algorithm: algorithm, BatchRows: 1 << 12, Materialize: join.Materialize(1 + ran%2)})
			if err == nil {
				rows, err := drawn(context.Background(), plan)
				require.NoError(t, err, "%s, %d bytes", algorithm, capBytes)
				require.Equal(t, want, rows, "%s, %d bytes", algorithm, capBytes)
				ran++
			} else {
				require.ErrorIs(t, err, backend.ErrDeviceMemory, "%s, %d bytes", algorithm, capBytes)
			}
			require.NoError(t, done())
		}
	}
	require.Greater(t, ran, devicetest.Short(4, 10))
}
