package engine_test

import (
	"cmp"
	"context"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

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
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// block is what there is in blocks of a table that the device cannot divide.
type block int

const (
	whole    block = iota // nothing: all values have 4 or 8 bytes
	narrow                // a column of two bytes
	someNull              // in the first block, a NULL in the key and one in another column
)

// words is a table of rows whose key has a type.
func words(t *testing.T, key arrow.DataType, rows int, kind block, value func(i int) int64) arrow.Table {
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "k", Type: key, Nullable: true},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64}, {Name: "c", Type: arrow.PrimitiveTypes.Int64},
		{Name: "d", Type: arrow.PrimitiveTypes.Uint32, Nullable: true}}
	if kind == narrow {
		fields = append(fields, arrow.Field{Name: "e", Type: arrow.PrimitiveTypes.Int16})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range rows {
		for f, field := range fields {
			if kind == someNull && i == 11*f && field.Nullable {
				b.Field(f).AppendNull()
				continue
			}
			switch n := value(i); b := b.Field(f).(type) {
			case *array.Int64Builder:
				b.Append([]int64{int64(i) << 40, n}[flag(field.Name == "k")])
			case *array.Int32Builder:
				b.Append([]int32{int32(-i), int32(n)}[flag(field.Name == "k")])
			case *array.Uint32Builder:
				b.Append([]uint32{uint32(i), uint32(n)}[flag(field.Name == "k")])
			case *array.Uint64Builder:
				b.Append(uint64(n))
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(n))
			case *array.Date32Builder:
				b.Append(arrow.Date32(n))
			case *array.Float64Builder:
				b.Append(float64(value(i)))
			case *array.Int16Builder:
				b.Append(int16(i))
			}
		}
	}
	return array.NewTableFromRecords(b.Schema(), []arrow.RecordBatch{b.NewRecordBatch()})
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// blockKinds are which blocks of both sides the device cannot divide, because of a column of two bytes or of a NULL.
var blockKinds = [][2]block{{}, {narrow, whole}, {narrow, narrow}, {someNull, someNull}}

// TestDividedOnDevice: blocks divided by the device and by the host belong to one division. The output equals one
// join's, for every kind, type of key and skew.
func TestDividedOnDevice(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ShortOnHost(t)
	keys := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Uint32, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Date32}
	skews := []struct {
		value func(i int) int64
		rows  [2]int // more than a part holds, and no more, since output rows are many
	}{{func(i int) int64 { return int64(i*7%410 - 100) }, [2]int{300, 500}}, // negative or large, and repeated
		{func(i int) int64 { return int64(math.Sqrt(400 / float64(i+1))) }, [2]int{150, 200}},
		{func(int) int64 { return 5 }, [2]int{150, 160}}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		pins := relation.NewPinnedAllocator(device, 1<<30)
		defer pins.Close()
		for _, c := range devicetest.Combinations(t, len(kinds), len(keys), len(skews), len(blockKinds), 2, 2) {
			spec := join.Spec{How: kinds[c[0]], On: onK, BatchRows: 100, Output: []join.Output{join.Rows, join.Count}[c[5]]}
			if spec.How == join.Cross {
				continue
			}
			if spec.How == join.NotIn {
				spec.BuildSide = join.BuildRight
			}
			var tables [2]arrow.Table
			for side, kind := range blockKinds[c[3]] {
				tables[side] = words(t, keys[c[1]], skews[c[2]].rows[side], kind, skews[c[2]].value)
			}
			allocator := memory.NewCheckedAllocator(pins)
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.DivideBytes, engine.DivideOn = []uint64{1 << 9, 1 << 12}[c[4]], task.DivideOnDevice
			checkStream(t, engine, tables, [2]source.Source{sourceOf(tables[0], 33), sourceOf(tables[1], 70)}, spec)
			allocator.AssertSize(t, 0)
		}
		for _, key := range keys {
			tables := [2]arrow.Table{words(t, key, 300, whole, skews[0].value), words(t, key, 500, whole, skews[0].value)}
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, pins, 0)
			engine.DivideBytes, engine.DivideOn = 1<<12, task.DivideOnDevice
			text, err := dividedText(t, engine, tables, join.Spec{On: onK})
			require.NoError(t, err)
			require.Contains(t, text, "by the device")
		}
		noMemoryInUse(t, device)
	})
}

// TestDividedToPinned: kernels bring the columns of large blocks to pinned memory, on devices that import memory.
func TestDividedToPinned(t *testing.T) {
	value := func(i int) int64 { return int64(i * 7919 % 50_021) }
	tables := [2]arrow.Table{words(t, arrow.PrimitiveTypes.Int64, 60_000, whole, value),
		words(t, arrow.PrimitiveTypes.Int64, 45_000, whole, value)}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		pins := relation.NewPinnedAllocator(device, 1<<30)
		defer pins.Close()
		engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, pins, 0)
		engine.DivideBytes, engine.DivideOn = 1400<<10, task.DivideOnDevice // columns of 8 bytes have more than 256 KiB
		text, err := dividedText(t, engine, tables, join.Spec{On: onK})
		require.NoError(t, err)
		require.Contains(t, text, "by the device")
		pinned, _ := pins.Pinned()
		require.Equal(t, device.Info().Limits.ImportAlignment > 0, pinned > 0)
		noMemoryInUse(t, device)
	})
}

// dividedText joins sources of both tables, which are divided, and returns what explains that.
func dividedText(t *testing.T, engine *engine.Engine, tables [2]arrow.Table, spec join.Spec) (text string, err error) {
	sources := [2]source.Source{sourceOf(tables[0], 3000), sourceOf(tables[1], 3000)}
	for side, table := range tables { // so that parts are few
		sources[side].Rows = table.NumRows()
	}
	result, err := engine.Stream(t.Context(), sources[0], sources[1], spec)
	if err != nil {
		return "", err
	}
	defer result.Close()
	text = result.Explain()
	var batches []arrow.RecordBatch
	for batch, err := range result.Batches(t.Context()) {
		if err != nil {
			return text, err
		}
		defer batch.Release()
		batches = append(batches, batch)
	}
	layout, err := join.NewLayout(tables[0].Schema(), tables[1].Schema(), spec)
	require.NoError(t, err)
	oracle.Require(t, tables[0], tables[1], layout, batches)
	return text, nil
}

// TestWhereDivided: a device with memory of its own divides blocks of words by one integer key, while all parts are in
// memory and it has room.
func TestWhereDivided(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	value := func(i int) int64 { return int64(i * 7 % 2500) }
	int32s, int64s := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	floats := arrow.PrimitiveTypes.Float64
	for name, c := range map[string]struct {
		keys     [2]arrow.DataType
		kind     block
		cores    bool
		capBytes uint64
		change   func(*engine.Engine)
		on       []string
		onDevice bool
	}{
		"words":               {keys: [2]arrow.DataType{int64s, int64s}, onDevice: true},
		"on the host's cores": {keys: [2]arrow.DataType{int64s, int64s}, cores: true},
		"forced on cores": {keys: [2]arrow.DataType{int64s, int64s}, cores: true, onDevice: true,
			change: func(e *engine.Engine) { e.DivideOn = task.DivideOnDevice }},
		"forced on the host": {keys: [2]arrow.DataType{int64s, int64s},
			change: func(e *engine.Engine) { e.DivideOn = task.DivideOnHost }},
		"keys of two types":  {keys: [2]arrow.DataType{int32s, int64s}},
		"keys of two floats": {keys: [2]arrow.DataType{floats, floats}},
		"two keys":           {keys: [2]arrow.DataType{int64s, int64s}, on: []string{"k", "a"}},
		"a narrow column":    {keys: [2]arrow.DataType{int64s, int64s}, kind: narrow},
		"a NULL":             {keys: [2]arrow.DataType{int64s, int64s}, kind: someNull},
		"parts in a file": {keys: [2]arrow.DataType{int64s, int64s},
			change: func(e *engine.Engine) { e.PartsBytes = 1 }},
		"blocks larger than memory": {keys: [2]arrow.DataType{int64s, int64s}, capBytes: 96 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			limits := backend.DeviceOptions{DeviceMemoryBytes: cmp.Or(c.capBytes, 32<<20)}
			device, done := hostDevice(t, host.Options{Discrete: !c.cores}, limits)
			defer func() { require.NoError(t, done()) }()
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.Spill(t.TempDir(), math.MaxUint64)
			if engine.DivideBytes = 16 << 10; c.change != nil {
				c.change(engine)
			}
			tables := [2]arrow.Table{words(t, c.keys[0], 2000, c.kind, value), words(t, c.keys[1], 3000, c.kind, value)}
			spec := join.Spec{On: c.on}
			if c.on == nil {
				spec.On = onK
			}
			text, err := dividedText(t, engine, tables, spec)
			require.NoError(t, err)
			require.Contains(t, text, "divided ")
			require.Equal(t, c.onDevice, strings.Contains(text, "by the device"), text)
			allocator.AssertSize(t, 0)
			noMemoryInUse(t, device)
		})
	}
}

// TestDivisionFails: wherever a device fails in the division, the join ends with its error and leaves nothing behind,
// or goes on if that was an allocation: then the host divides.
func TestDivisionFails(t *testing.T) {
	devicetest.HostTest(t)
	value := func(i int) int64 { return int64(i * 7 % 2500) }
	tables := [2]arrow.Table{words(t, arrow.PrimitiveTypes.Int64, 2000, whole, value),
		words(t, arrow.PrimitiveTypes.Int64, 3000, whole, value)}
	for name, faults := range map[string]func(n int) host.Faults{
		"lost":       func(n int) host.Faults { return host.Faults{LoseAtSubmit: n} },
		"allocation": func(n int) host.Faults { return host.Faults{AllocateDevice: n} },
		"staging":    func(n int) host.Faults { return host.Faults{AllocateHost: n} },
		"kernels":    func(n int) host.Faults { return host.Faults{Compile: n} },
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			step := stepOf(t, name, 3)
			for n := 1; n < 60; n += step {
				device, done := hostDevice(t, host.Options{Discrete: true, Faults: faults(n),
					CloseLimit: 200 * time.Millisecond}, backend.DeviceOptions{DeviceMemoryBytes: 32 << 20})
				allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
				engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
				engine.DivideBytes = 16 << 10
				if _, err := dividedText(t, engine, tables, join.Spec{On: onK}); err != nil {
					failed++
					require.ErrorContains(t, err, "injected")
				}
				require.Equal(t, device.Options().DeviceMemoryBytes, engine.Budget().Free().Device[device])
				engine.Close()
				allocator.AssertSize(t, 0)
				if err := done(); err != nil {
					require.NotContains(t, err.Error(), "not released")
				}
			}
			if name == "lost" {
				require.Positive(t, failed)
			}
		})
	}
}

// TestDivisionIsCancelled: a join that is cancelled while a device divides blocks ends, and leaves nothing behind.
func TestDivisionIsCancelled(t *testing.T) {
	table := words(t, arrow.PrimitiveTypes.Int64, 3000, whole, func(i int) int64 { return int64(i) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for after := range 6 {
			ctx, cancel := context.WithCancel(t.Context())
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.DivideBytes, engine.DivideOn = 16<<10, task.DivideOnDevice
			source := sourceOf(table, 500)
			all := source.Batches
			source.Batches = func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
				return func(yield func(arrow.RecordBatch, error) bool) {
					batches := 0
					for batch, err := range all(ctx) {
						if batches++; batches > after {
							cancel()
						}
						if !yield(batch, err) {
							return
						}
					}
				}
			}
			source.Rows = table.NumRows()
			_, err := engine.Stream(ctx, source, source, join.Spec{On: onK})
			require.ErrorIs(t, err, backend.ErrCancelled)
			cancel()
			engine.Close()
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}
