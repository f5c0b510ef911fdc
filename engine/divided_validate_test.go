package engine_test

import (
	"slices"
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
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

// TestDividedValidates: keys that must be unique are found to be in their parts, also those that the other side's type
// cannot hold; an error names the rows of the source.
func TestDividedValidates(t *testing.T) {
	devicetest.ShortOnHost(t)
	with := func(value float64, rows ...int) arrow.Table {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		for i := range 400 {
			switch {
			case slices.Contains(rows, i):
				b.Append(value)
			case i%5 == 4:
				b.AppendNull()
			default:
				b.Append(float64(i))
			}
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
		batch := array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 400)
		return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	}
	other := keyed(t, "k", 500, func(i int) int64 { return int64(i % 450) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for name, c := range map[string]struct {
			left  arrow.Table
			wrong string
		}{
			"unique":                 {with(0), ""},
			"twice":                  {with(7, 7, 333), "rows 7 and 333 both have k=7"},
			"twice without partners": {with(0.5, 101, 350), "rows 101 and 350 both have k=0.5"},
		} {
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, memory.DefaultAllocator, 0)
			engine.DivideBytes = 1 << 10
			spec := join.Spec{On: onK, How: join.Left, Validate: join.OneToMany, BuildSide: join.BuildLeft}
			result, err := engine.Stream(t.Context(), sourceOf(c.left, 33), sourceOf(other, 70), spec)
			if err == nil {
				for batch, failed := range result.Batches(t.Context()) {
					if err = failed; err == nil {
						batch.Release()
					}
				}
				result.Close()
			}
			if c.wrong == "" {
				require.NoError(t, err, name)
				continue
			}
			require.ErrorIs(t, err, backend.ErrInvalidInput, name)
			require.ErrorContains(t, err, c.wrong)
		}
	})
}

// TestDividedValidatesWithoutOutput: parts that have no output for lack of rows on the other side, or because a not-in
// join has met a NULL, are validated too.
func TestDividedValidatesWithoutOutput(t *testing.T) {
	devicetest.HostTest(t)
	repeats := func(twice bool) arrow.Table { // and has a NULL
		return keyed(t, "k", 200, func(i int) int64 {
			switch {
			case i == 7:
				return -1
			case i == 150 && twice:
				return 3
			}
			return int64(i)
		})
	}
	none, some := keyed(t, "k", 0, primary), keyed(t, "k", 3, func(i int) int64 { return int64(100 * i) })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	engine.DivideBytes = 1 << 10
	for _, how := range kinds[:len(kinds)-1] { // a cross join has no keys
		for side, validate := range []join.Validate{join.OneToMany, join.ManyToOne} {
			for _, other := range []arrow.Table{none, some} {
				for _, twice := range []bool{false, true} {
					tables := [2]arrow.Table{other, other}
					tables[side] = repeats(twice)
					spec := join.Spec{How: how, On: onK, Validate: validate}
					sources := [2]source.Source{sourceOf(tables[0], 33), sourceOf(tables[1], 33)}
					if how == join.NotIn && side == 0 {
						continue // the right side is the build side, and validated
					}
					if !twice {
						checkStream(t, engine, tables, sources, spec)
						continue
					}
					result, err := engine.Stream(t.Context(), sources[0], sources[1], spec)
					if err == nil {
						for batch, failed := range result.Batches(t.Context()) {
							if err = failed; err == nil {
								batch.Release()
							}
						}
						result.Close()
					}
					require.ErrorContains(t, err, "rows 3 and 150 both have k=3", "%s of %d x %d rows", how,
						tables[0].NumRows(), tables[1].NumRows())
				}
			}
		}
	}
	require.NoError(t, done())
}
