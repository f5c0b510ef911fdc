package join_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
)

// keyed is a table of an int64 key and columns of several widths.
func keyed(t testing.TB, key string, rows int, value func(i int) int64) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: key, Type: arrow.PrimitiveTypes.Int64},
		{Name: "a", Type: arrow.PrimitiveTypes.Int32},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64}, {Name: "c", Type: arrow.PrimitiveTypes.Float32}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(value(i))
		b.Field(1).(*array.Int32Builder).Append(int32(i))
		b.Field(2).(*array.Float64Builder).Append(float64(i))
		b.Field(3).(*array.Float32Builder).Append(float32(i))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	t.Cleanup(table.Release)
	return table
}

func primary(i int) int64 { return int64(i) * 7919 % 100_003 }
func foreign(rows int) func(int) int64 {
	return func(i int) int64 { return int64(i*31%rows) * 7919 % 100_003 }
}

// TestPredictedMemory runs each alternative with as much device memory as it is predicted to need: that is enough, and
// not much more than it takes.
func TestPredictedMemory(t *testing.T) {
	devicetest.HostTest(t)
	const leftRows, rightRows = 60_000, 200_000
	left, right := keyed(t, "k", leftRows, primary), keyed(t, "k", rightRows, foreign(leftRows))
	for _, c := range []struct {
		output  join.Output
		columns []string
	}{{output: join.Rows}, {columns: []string{"a"}}, {columns: []string{"a", "a_right", "c"}},
		{columns: []string{"b_right"}}, {output: join.Pairs}, {output: join.Count}} {
		spec := join.Spec{On: []string{"k"}, Columns: c.columns, Output: c.output, BatchRows: 1 << 14}
		run := func(capBytes uint64, use func(p *join.Plan)) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			ops, err := primitive.New(device, nil)
			require.NoError(t, err)
			p, err := (&join.Engine{Ops: ops, Allocator: memory.DefaultAllocator}).Plan(context.Background(), left,
				right, spec)
			require.NoError(t, err)
			use(p)
			require.NoError(t, done())
		}
		var all []join.Alternative
		run(0, func(p *join.Plan) { all = p.Alternatives })
		for _, a := range all {
			describe := fmt.Sprintf("%s %v, %s of %s", c.output, c.columns, a.Name(), a.Place)
			run(a.PeakBytes, func(p *join.Plan) {
				i := slices.IndexFunc(p.Alternatives,
					func(b join.Alternative) bool { return a.Name() == b.Name() && a.Place == b.Place })
				require.NoError(t, p.Alternatives[i].Err, describe)
				p.Alternatives[0] = p.Alternatives[i]
				result, err := p.Run(context.Background())
				require.NoError(t, err, describe)
				defer result.Close()
				require.EqualValues(t, rightRows, result.Rows)
				require.Empty(t, result.Stats().Fallback, describe)
				if c.output == join.Rows {
					for batch, err := range result.Batches(context.Background()) {
						require.NoError(t, err, describe)
						batch.Release()
					}
				}
				taken := result.Stats().DevicePeakBytes
				require.LessOrEqual(t, a.PeakBytes, taken+taken/2+3<<20, describe)
			})
		}
	}
}

// TestSmallerAlternative makes joins fail whose output is larger than the sample told. They fall back to an alternative
// that needs less memory and report it, unless the algorithm was asked for.
func TestSmallerAlternative(t *testing.T) {
	// The sample sees every twelfth row of the left side, and never one of the 400 with the same key.
	hot := func(i int) int64 {
		if i < 4800 && i%12 == 5 {
			return -1
		}
		return int64(i)
	}
	left, right := keyed(t, "k", 8192*12, hot), keyed(t, "k", 8192*12+1, func(i int) int64 { return int64(i) })
	for name, c := range map[string]struct {
		algorithm plan.Algorithm
		fails     string
	}{"a key repeats": {plan.HJ, "found no slot"}} {
		t.Run(name, func(t *testing.T) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
			ops, err := primitive.New(device, nil)
			require.NoError(t, err)
			engine := &join.Engine{Ops: ops, Allocator: memory.DefaultAllocator}
			spec := join.Spec{On: []string{"k"}}
			p, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			i := slices.IndexFunc(p.Alternatives, func(a join.Alternative) bool { return a.Algorithm == c.algorithm })
			p.Alternatives[0], p.Alternatives[i] = p.Alternatives[i], p.Alternatives[0]
			result, err := p.Run(context.Background())
			require.NoError(t, err)
			require.EqualValues(t, 8192*12-400, result.Rows)
			require.Equal(t, "smj-um", result.Stats().Algorithm)
			require.Contains(t, result.Stats().Fallback, c.fails)
			require.Contains(t, result.Explain(), c.fails)
			result.Close()

			spec.Algorithm = c.algorithm
			p, err = engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			_, err = p.Run(context.Background())
			require.ErrorContains(t, err, c.fails)
			require.NoError(t, done())
		})
	}
}

// TestCapOfEveryAlgorithm runs each algorithm under falling caps: the plan refuses what does not fit and names the
// memory that would be enough.
func TestCapOfEveryAlgorithm(t *testing.T) {
	devicetest.HostTest(t)
	const leftRows, rightRows = 60_000, 200_000
	left, right := keyed(t, "k", leftRows, primary), keyed(t, "k", rightRows, foreign(leftRows))
	for _, algorithm := range algorithms {
		run := func(capBytes uint64) (rows int64, err error) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			ops, err := primitive.New(device, nil)
			require.NoError(t, err)
			spec := join.Spec{On: []string{"k"}, Algorithm: algorithm, Materialize: join.MaterializeDevice,
				BatchRows: 1 << 14}
			rows, err = drain(context.Background(), &join.Engine{Ops: ops, Allocator: memory.DefaultAllocator}, left,
				right, spec)
			require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, capBytes)
			require.NoError(t, done())
			return rows, err
		}
		fits := 0
		for capBytes := uint64(64 << 20); capBytes >= 1<<20; capBytes -= capBytes / 4 {
			rows, err := run(capBytes)
			if err == nil {
				require.EqualValues(t, rightRows, rows, "%s", algorithm)
				fits++
				continue
			}
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			var op *backend.OpError
			require.True(t, errors.As(err, &op))
			require.Contains(t, op.Op, "plan", "%s with %d bytes: the plan knows before", algorithm, capBytes)
		}
		require.Positive(t, fits)
	}
}
