package engine_test

import (
	"context"
	"fmt"
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
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// keyed is a table of an int64 key, NULL where it is negative, and columns of several widths.
func keyed(t testing.TB, key string, rows int, value func(i int) int64) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: key, Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "a", Type: arrow.PrimitiveTypes.Int32},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64}, {Name: "c", Type: arrow.PrimitiveTypes.Float32},
		{Name: "d", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		if v := value(i); v < 0 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(v)
		}
		b.Field(1).(*array.Int32Builder).Append(int32(i))
		b.Field(2).(*array.Float64Builder).Append(float64(i))
		b.Field(3).(*array.Float32Builder).Append(float32(i))
		if i%5 == 0 {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.Int32Builder).Append(int32(-i))
		}
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

// mostlyNull keeps every n-th value.
func mostlyNull(n int, value func(int) int64) func(int) int64 {
	return func(i int) int64 {
		if i%n != 0 {
			return -1
		}
		return value(i)
	}
}

// force makes an alternative the one that runs, and tells whether there is such a one that can.
func force(p *engine.Plan, name, place string) bool {
	i := slices.IndexFunc(p.Alternatives, func(a query.Alternative) bool {
		return a.Algorithm.Name() == name && a.Place == place && a.Err == nil
	})
	if i >= 0 {
		p.Alternatives[0], p.Alternatives[i] = p.Alternatives[i], p.Alternatives[0]
	}
	return i >= 0
}

// TestPredictedMemory runs each alternative of many joins with as much device memory as it is predicted to need: that is
// enough, and not much more than it takes. After each nothing is left.
func TestPredictedMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	const leftRows, rightRows = 30_000, 100_000
	unique, many := keyed(t, "k", leftRows, primary), keyed(t, "k", rightRows, foreign(leftRows))
	nulls := keyed(t, "k", rightRows, mostlyNull(10, foreign(leftRows)))
	for name, c := range map[string]struct {
		spec  join.Spec
		right arrow.Table
	}{
		"rows":        {spec: join.Spec{}},
		"one side":    {spec: join.Spec{Columns: []string{"a"}}},
		"several":     {spec: join.Spec{Columns: []string{"a", "a_right", "c"}}},
		"nullable":    {spec: join.Spec{Columns: []string{"d", "d_right"}}},
		"pairs":       {spec: join.Spec{Output: join.Pairs}},
		"count":       {spec: join.Spec{Output: join.Count}},
		"left":        {spec: join.Spec{How: join.Left}},
		"right":       {spec: join.Spec{How: join.Right}},
		"full":        {spec: join.Spec{How: join.Full}},
		"full, nulls": {spec: join.Spec{How: join.Full}, right: nulls},
		"semi":        {spec: join.Spec{How: join.Semi}},
		"anti":        {spec: join.Spec{How: join.RightAnti}},
		"mark":        {spec: join.Spec{How: join.Mark}},
		"mark, nulls": {spec: join.Spec{How: join.Mark}, right: nulls},
		"count, null": {spec: join.Spec{Output: join.Count}, right: nulls},
		"order":       {spec: join.Spec{How: join.Left, Order: join.LeftOrder}},
		"validate":    {spec: join.Spec{Validate: join.OneToMany}},
		"count, 1:m":  {spec: join.Spec{Validate: join.OneToMany, Output: join.Count, BuildSide: join.BuildRight}},
	} {
		spec, right := c.spec, c.right
		if right == nil {
			right = many
		}
		spec.On, spec.BatchRows = []string{"k"}, 1<<14
		run := func(capBytes uint64, use func(p *engine.Plan)) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			ops, err := primitive.New(device, nil)
			require.NoError(t, err)
			engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
			p, err := engine.Plan(context.Background(), unique, right, spec)
			require.NoError(t, err, "%s with %d bytes", name, capBytes)
			use(p)
			noMemoryInUse(t, device)
			require.NoError(t, done())
		}
		want := len(oracle.Join(unique, right, spec))
		var all []query.Alternative
		run(0, func(p *engine.Plan) { all = p.Alternatives })
		for _, a := range all {
			describe := fmt.Sprintf("%s: %s of %s", name, a.Algorithm.Name(), a.Place)
			if a.Algorithm.Name() == drawing {
				require.ErrorIs(t, a.Err, backend.ErrUnsupported, describe) // the host does not draw
				continue
			}
			require.NoError(t, a.Err, describe)
			run(a.PeakBytes, func(p *engine.Plan) {
				require.True(t, force(p, a.Algorithm.Name(), a.Place), describe)
				require.Equal(t, a.Facts.Granule, p.Alternatives[0].Facts.Granule, describe)
				result, err := p.Run(context.Background())
				require.NoError(t, err, describe)
				defer result.Close()
				switch spec.Output {
				case join.Rows:
					for batch, err := range result.Batches(context.Background()) {
						require.NoError(t, err, describe)
						batch.Release()
					}
				case join.Pairs:
					for _, err := range result.Pairs(context.Background()) {
						require.NoError(t, err, describe)
					}
				}
				require.EqualValues(t, want, result.Rows(), describe)
				taken := result.Stats().DevicePeakBytes
				require.LessOrEqual(t, taken, a.PeakBytes, describe)
				with := taken // the columns that are used where the tables have them
				for side, in := range a.Facts.InPlace {
					for i := range in {
						if in[i] {
							with += a.Facts.Rows[side] * uint64(a.Facts.Payload[side][i])
						}
					}
				}
				require.LessOrEqual(t, a.PeakBytes, taken+with/2+3<<20, describe)
			})
		}
	}
}

// TestHiddenKeys joins keys of which one repeats more often than the sample told: the plan of hj expects no row without
// a slot, but there are some, and it joins them within its memory.
func TestHiddenKeys(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	const rows, hot = 1 << 19, 400
	row := func(i int) int64 { return int64(i) }
	right := keyed(t, "k", rows, func(i int) int64 { return int64(min(i, rows-3) + 3) }) // four of the hidden key
	keys, err := keys.PlanJoin(t.Context(), right, right, []string{"k"}, []string{"k"})
	require.NoError(t, err)
	sampled := make(map[uint64]bool)
	for _, of := range [][2]int{{planner.SampleRows, 1}, {int(planner.ScanRows(rows)), planner.BlockRows}} {
		for _, code := range slices.Concat(keys.Sample(relation.Right, of[0], of[1])...) {
			sampled[code] = true
		}
	}
	hidden := 0
	left := keyed(t, "k", rows, func(i int) int64 {
		if hidden < hot && i > 0 && !sampled[uint64(i)] {
			hidden++
			return rows
		}
		return row(i)
	})
	for _, spec := range []join.Spec{{Columns: []string{"a", "a_right"}}, {How: join.Full, Columns: []string{"k"}}} {
		spec.On, spec.BuildSide, spec.Algorithm = onK, join.BuildLeft, "hj"
		plan := func(capBytes uint64, use func(*engine.Plan)) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			ops, err := primitive.New(device, nil)
			require.NoError(t, err)
			p, err := engine.NewEngine(ops, memory.DefaultAllocator, 0).Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			use(p)
			noMemoryInUse(t, device)
			require.NoError(t, done())
		}
		need := uint64(0)
		plan(0, func(p *engine.Plan) {
			need = p.Alternatives[0].PeakBytes
			require.Zero(t, p.Facts.Hottest[operator.Build])
		})
		plan(need, func(p *engine.Plan) {
			got, err := drawn(context.Background(), p)
			require.NoError(t, err)
			require.EqualValues(t, len(oracle.Join(left, right, spec)), got)
		})
	}
}

// TestTinyMemory joins under falling caps, with every algorithm and kind. The planner divides windows and granules. It
// refuses a join that cannot fit and names a memory size that is enough. Joins that run stay within the cap and agree
// with the oracle.
func TestTinyMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	const leftRows, rightRows = 20_000, 160_000
	left := keyed(t, "k", leftRows, primary)
	right := keyed(t, "k", rightRows, func(i int) int64 {
		if i%7 == 3 {
			return -1
		}
		return foreign(leftRows + 1000)(i)
	})
	kinds := []join.How{join.Inner, join.Full, join.RightAnti, join.Mark}
	forms := []join.Spec{{Columns: []string{"k", "d"}}, {Columns: []string{"d"}, Order: join.RightOrder},
		{Output: join.Count}}
	divided := make(map[string]int)
	for _, c := range devicetest.Combinations(t, len(algorithms)-1, len(kinds), len(forms)) {
		spec := forms[c[2]]
		spec.How, spec.Algorithm, spec.On = kinds[c[1]], algorithms[c[0]+1], []string{"k"}
		if spec.BatchRows = 1 << 14; spec.Check() != nil {
			spec.Order = join.LeftOrder
		}
		describe := fmt.Sprintf("%s by %s, %s, order %s", spec.How, spec.Algorithm, spec.Output, spec.Order)
		var plan *engine.Plan
		run := func(capBytes uint64) (rows int, granules uint64, err error) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			defer func() { require.NoError(t, done()) }()
			ops, err := primitive.New(device, nil)
			require.NoError(t, err)
			engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
			engine.Undivided = true
			if plan, err = engine.Plan(context.Background(), left, right, spec); err != nil {
				return 0, 0, err
			}
			result, err := plan.Run(context.Background())
			require.NoError(t, err, "%s with %d bytes: a plan that was made runs", describe, capBytes)
			defer result.Close()
			if spec.Output == join.Rows {
				var batches []arrow.RecordBatch
				for batch, err := range result.Batches(context.Background()) {
					require.NoError(t, err, "%s with %d bytes", describe, capBytes)
					batches = append(batches, batch)
					defer batch.Release()
				}
				oracle.Require(t, left, right, plan.Layout, batches)
			}
			require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, capBytes)
			return int(result.Rows()), result.Stats().Granules, nil
		}
		want := len(oracle.Join(left, right, spec))
		_, _, err := run(1)
		least := needed(t, err)
		for _, capBytes := range []uint64{least, least + least/2} {
			rows, granules, err := run(capBytes)
			require.NoError(t, err, "%s with %d bytes", describe, capBytes)
			require.Equal(t, want, rows, describe)
			if granules > 1 {
				divided["granules of "+spec.How.String()]++
			}
		}
	}
	for _, how := range kinds {
		require.Positive(t, divided["granules of "+how.String()], how)
	}
}

// TestTinyMemoryOfManyMatches: where the output is what does not fit, the planner makes it in windows.
func TestTinyMemoryOfManyMatches(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left := keyed(t, "k", 6000, func(i int) int64 { return int64(i % 100) })
	right := keyed(t, "k", 8000, func(i int) int64 { return int64(i*7%100) + 1 })
	for i, algorithm := range algorithms[1:] {
		for o, order := range []join.Order{join.Unordered, join.RightOrder} {
			if !devicetest.Turn(i+o, 2) {
				continue
			}
			spec := join.Spec{On: onK, Algorithm: algorithm, Columns: []string{"a", "a_right"}, Order: order,
				How: join.Left, BatchRows: 1 << 14}
			run := func(capBytes uint64) error {
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
				defer func() { require.NoError(t, done()) }()
				ops, err := primitive.New(device, nil)
				require.NoError(t, err)
				engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
				engine.Undivided = true
				p, err := engine.Plan(context.Background(), left, right, spec)
				if err != nil {
					return err
				}
				require.Positive(t, p.Alternatives[0].Facts.Window)
				result, err := p.Run(context.Background())
				require.NoError(t, err, "%s with %d bytes", algorithm, capBytes)
				defer result.Close()
				var batches []arrow.RecordBatch
				for batch, err := range result.Batches(context.Background()) {
					require.NoError(t, err, "%s with %d bytes", algorithm, capBytes)
					batches = append(batches, batch)
					defer batch.Release()
				}
				oracle.Require(t, left, right, p.Layout, batches)
				require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, capBytes)
				return nil
			}
			require.NoError(t, run(needed(t, run(1))), "%s, order %s", algorithm, order)
		}
	}
}

// TestErrorOfMemory: where memory is short, the error says so, and not what an algorithm could never do.
func TestErrorOfMemory(t *testing.T) {
	devicetest.HostTest(t)
	hot := keyed(t, "k", 3000, func(int) int64 { return 7 })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 10_000})
	_, err := smallEngine(t, device).Plan(context.Background(), hot, hot, join.Spec{On: []string{"k"}})
	require.Greater(t, needed(t, err), uint64(10_000))
	require.NoError(t, done())
}

// TestValidateNeedsMemory: what it takes to prove that keys are unique is planned too.
func TestValidateNeedsMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	few, many := keyed(t, "k", 1000, primary), keyed(t, "k", 90_000, primary)
	spec := join.Spec{On: []string{"k"}, Validate: join.ManyToOne, BuildSide: join.BuildLeft, Output: join.Count,
		Algorithm: "hj"}
	run := func(capBytes uint64) (rows uint64, err error) {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
		defer func() { require.NoError(t, done()) }()
		p, err := smallEngine(t, device).Plan(context.Background(), few, many, spec)
		if err != nil {
			return 0, err
		}
		result, err := p.Run(context.Background())
		require.NoError(t, err)
		defer result.Close()
		require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, p.Alternatives[0].PeakBytes)
		return result.Rows(), nil
	}
	_, err := run(2 << 20)
	require.ErrorContains(t, err, "to prove that the keys of the right table are unique")
	rows, err := run(needed(t, err))
	require.NoError(t, err)
	require.EqualValues(t, 1000, rows)
}
