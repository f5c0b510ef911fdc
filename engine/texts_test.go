package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// textOf is the n-th text: 0 to 300 bytes of invalid UTF-8, most of them equal to the bytes of its neighbour.
func textOf(n int) string {
	text := []byte(fmt.Sprint(n) + strings.Repeat("\xff\x00z", 100))[:n*37%301]
	if len(text) > 0 {
		text[n%len(text)] ^= byte(n + 1)
	}
	return string(text)
}

// spread makes a table of key columns k0, k1 ... and numbers, in chunks that are slices at odd offsets. value is the
// text of a row and column, or nil for NULL.
func spread(t testing.TB, rows int, types []arrow.DataType, value func(row, column int) *string) arrow.Table {
	var chunks [][]arrow.Array
	var fields []arrow.Field
	for c, dtype := range append(slices.Clone(types), arrow.PrimitiveTypes.Int32) {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("k%d", c), Type: dtype, Nullable: true})
		var column []arrow.Array
		for from, size := 0, 1; from < rows; from, size = from+size, size*3+1 {
			b := array.NewBuilder(memory.DefaultAllocator, dtype)
			for range 3 { // before the slice
				appendValue(b, "before it")
			}
			for row := from; row < min(from+size, rows); row++ {
				if c == len(types) {
					b.(*array.Int32Builder).Append(int32(row))
				} else if text := value(row, c); text != nil {
					appendValue(b, *text)
				} else {
					b.AppendNull()
				}
			}
			appendValue(b, "behind it")
			whole := b.NewArray()
			b.Release()
			column = append(column, array.NewSlice(whole, 3, int64(whole.Len()-1)))
			whole.Release()
		}
		chunks = append(chunks, column)
	}
	var columns []arrow.Column
	for c, field := range fields {
		chunked := arrow.NewChunked(field.Type, chunks[c])
		columns = append(columns, *arrow.NewColumn(field, chunked))
		for _, chunk := range chunks[c] {
			chunk.Release()
		}
		chunked.Release()
	}
	fields[len(fields)-1].Name = "n"
	columns[len(fields)-1] = *arrow.NewColumn(fields[len(fields)-1], columns[len(fields)-1].Data())
	table := array.NewTable(arrow.NewSchema(fields, nil), columns, int64(rows))
	t.Cleanup(table.Release)
	return table
}

// appendValue appends a text, or a number that follows from it.
func appendValue(b array.Builder, text string) {
	switch b := b.(type) {
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte((text + strings.Repeat("~", 13))[:13]))
	case *array.LargeStringBuilder:
		b.Append(text)
	case *array.BinaryBuilder: // of large binary too
		b.Append([]byte(text))
	case *array.Int32Builder, *array.Int64Builder, *array.Date32Builder:
		appendInt(b, int64(len(text)))
	default:
		appendString(b, text)
	}
}

// randomTexts draws texts below a number, some NULL, that one column shares with the next.
func randomTexts(seed uint64, rows, values int) func(row, column int) *string {
	random := rand.New(rand.NewPCG(seed, 1))
	drawn := make([]int, rows*3)
	for i := range drawn {
		drawn[i] = random.IntN(values+values/10) - values/10
	}
	return func(row, column int) *string {
		n := drawn[row*3+column]
		if n < 0 {
			return nil
		}
		text := textOf(n)
		return &text
	}
}

// textKeys are pairs of key columns that a device hashes and compares.
var textKeys = [][2][]arrow.DataType{
	{types(arrow.BinaryTypes.String), types(arrow.BinaryTypes.LargeString)},
	{types(arrow.BinaryTypes.Binary), types(&arrow.FixedSizeBinaryType{ByteWidth: 13})},
	{types(&arrow.FixedSizeBinaryType{ByteWidth: 13}), types(&arrow.FixedSizeBinaryType{ByteWidth: 13})},
	{types(arrow.BinaryTypes.LargeBinary, arrow.PrimitiveTypes.Int32),
		types(arrow.BinaryTypes.Binary, arrow.PrimitiveTypes.Int64)},
	{types(arrow.PrimitiveTypes.Date32, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary),
		types(arrow.PrimitiveTypes.Date32, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary)},
}

// textNames names the key columns.
func textNames(keys [2][]arrow.DataType) (on []string) {
	for c := range keys[0] {
		on = append(on, fmt.Sprintf("k%d", c))
	}
	return on
}

// TestTextsOnDevice: every kind by every algorithm with every degree of collision, of keys that the device hashes and
// compares, in granules and windows, of rows, of counts and in order.
func TestTextsOnDevice(t *testing.T) {
	devicetest.SkipRace(t)
	var tables [][2]arrow.Table
	for i, keys := range textKeys {
		tables = append(tables, [2]arrow.Table{spread(t, 150, keys[0], randomTexts(uint64(i), 150, 90)),
			spread(t, 190, keys[1], randomTexts(uint64(i)+100, 190, 95))})
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		for n, c := range devicetest.Product(t, len(kinds)-1, len(algorithms), 3) {
			how, algorithm, bits := kinds[c[0]], algorithms[c[1]], []int{0, 4, noHashBits}[c[2]]
			of := n % len(tables)
			if how == join.NotIn { // takes one key
				of = n % 3
			}
			spec := join.Spec{On: textNames(textKeys[of]), How: how, Algorithm: algorithm, BatchRows: 100,
				Materialize: join.Materialize(n % 3), BuildSide: join.BuildSide(n / 3 % 3)}
			switch n / 9 % 4 {
			case 1:
				spec.Output = join.Count
			case 2:
				spec.Deterministic = true
			}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := (&keyKind{hashBits: bits}).engine(engine.NewEngine(ops, allocator, 0))
			engine.Compare = query.CompareDevice
			plan, err := engine.Plan(context.Background(), tables[of][0], tables[of][1], spec)
			require.NoError(t, err)
			require.Equal(t, plan.Trees[0].Keep != nil, plan.Alternatives[0].Compare == query.CompareDevice)
			require.True(t, plan.Trees[0].Keep != nil || bits == 0, "%v", textKeys[of]) // or hashes were proved
			checkOn(t, engine, tables[of][0], tables[of][1], spec, parts[n%len(parts)])
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestTextsOfStreams: parts of a stream are hashed on the device, or on the host where their texts are longer than was
// planned for, and meet the same build side.
func TestTextsOfStreams(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	keys := types(arrow.BinaryTypes.String)
	short := func(row, _ int) *string { text := fmt.Sprintf("%08d", row*7%150); return &text }
	long := func(row, column int) *string {
		if row > 100 {
			text := strings.Repeat("w", 3000) + fmt.Sprint(row)
			return &text
		}
		return short(row, column)
	}
	tables := [2]arrow.Table{spread(t, 150, keys, short), spread(t, 900, keys, long)}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 3, len(parts), 2) {
			spec := join.Spec{On: []string{"k0"}, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100,
				BuildSide: join.BuildLeft, Output: []join.Output{join.Rows, join.Count}[c[4]]}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(ops, allocator, 0)
			engine.Compare = query.CompareDevice
			engine.HashBits = new([]int{64, 4, 0}[c[2]])
			engine.GranuleRows, engine.WindowRows = parts[c[3]][0], parts[c[3]][1]
			checkStream(t, engine, tables, [2]source.Source{sourceOf(tables[0], 50), sourceOf(tables[1], 70)}, spec)
			allocator.AssertSize(t, 0)
		}
		for texts, value := range map[string]func(row, _ int) *string{"some": short, "none": func(row, _ int) *string {
			return long(row+101, 0)
		}} {
			engine := smallEngine(t, device)
			engine.Compare = query.CompareDevice
			part := sourceOf(spread(t, 300, keys, value), 70)
			result, err := engine.Stream(context.Background(), sourceOf(tables[0], 50), part,
				join.Spec{On: []string{"k0"}, BuildSide: join.BuildLeft})
			require.NoError(t, err)
			for _, batch := range drawAll(t, result, join.Rows) {
				batch.Release()
			}
			stages := result.Stats().StageSeconds
			require.Contains(t, stages, "hash left")
			if texts == "some" {
				require.Contains(t, stages, "hash right")
			} else {
				require.NotContains(t, stages, "hash right")
			}
			result.Close()
		}
		noMemoryInUse(t, device)
	})
}

// TestLongText: one text of 1 MiB is hashed and compared piece by piece; a longer one leaves the keys with the host.
func TestLongText(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	for _, c := range []struct {
		longest int
		compare query.Comparing
	}{{1 << 20, query.CompareDevice}, {1<<20 + 1, query.CompareHost}} {
		value := func(changed int) func(row, _ int) *string {
			return func(row, _ int) *string {
				text := []byte(textOf(row))
				if row%9 == 4 {
					text = []byte(strings.Repeat("long text ", 1<<17)[:c.longest-row/9])
					text[(row*7919+changed*row/9*65537)%len(text)]++
				}
				s := string(text)
				return &s
			}
		}
		left := spread(t, 20, types(arrow.BinaryTypes.String), value(0))
		right := spread(t, 20, types(arrow.BinaryTypes.String), value(1))
		devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
			for _, bits := range []int{64, 0} {
				engine := smallEngine(t, device)
				engine.Compare = query.CompareDevice
				engine.HashBits = new(bits)
				spec := join.Spec{On: []string{"k0"}, How: join.Full}
				plan, err := engine.Plan(context.Background(), left, right, spec)
				require.NoError(t, err)
				require.Equal(t, c.compare, plan.Alternatives[0].Compare)
				checkOn(t, engine, left, right, spec, [2]uint64{})
			}
			noMemoryInUse(t, device)
		})
	}
}

// TestTextsUnderCaps: where texts do not fit beside the join, the plan has them compared on the host. Whatever is planned
// runs.
func TestTextsUnderCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	keys, rows := types(arrow.BinaryTypes.String), 12_000
	text := func(row, _ int) *string {
		if row%50 == 0 {
			return nil
		}
		text := fmt.Sprintf("%060d", row*7919%rows)
		return &text
	}
	left, right := spread(t, rows, keys, text), spread(t, rows, keys, text)
	ran, inGranules := make(map[query.Comparing]int), 0
	for _, how := range []join.How{join.Inner, join.Full, join.Semi} {
		for _, algorithm := range algorithms {
			for capBytes := uint64(1 << 20); capBytes <= 24<<20; capBytes = capBytes * devicetest.Short[uint64](6, 5) / 4 {
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
				engine := smallEngine(t, device)
				engine.Compare = query.CompareDevice
				plan, err := engine.Plan(context.Background(), left, right,
					join.Spec{On: []string{"k0"}, How: how, Algorithm: algorithm})
				if err == nil {
					got, err := drawn(context.Background(), plan)
					require.NoError(t, err, "%s %s, %d bytes\n%s", how, algorithm, capBytes, plan)
					matched, alone := rows-rows/50, 0
					if how == join.Full {
						alone = 2 * (rows / 50)
					}
					require.EqualValues(t, matched+alone, got)
					taken := &plan.Alternatives[0]
					if ran[taken.Compare]++; taken.Compare == query.CompareDevice && taken.Facts.Granules() > 1 {
						inGranules++
					}
				}
				require.NoError(t, done())
			}
		}
	}
	require.Greater(t, ran[query.CompareHost], devicetest.Short(2, 10))
	require.Greater(t, ran[query.CompareDevice], devicetest.Short(10, 30))
	require.Greater(t, inGranules, devicetest.Short(2, 10))
}

// TestTextsOfSmallBuffers: if texts exceed the maximum buffer size, a probe side is joined in granules, and with a
// build side the host makes the keys.
func TestTextsOfSmallBuffers(t *testing.T) {
	devicetest.HostTest(t)
	keys, rows := types(arrow.BinaryTypes.String), 3000
	wide := func(row, _ int) *string { text := fmt.Sprintf("%0500d", row*7919%rows); return &text }
	narrow := func(row, _ int) *string {
		if row%10 > 0 {
			text := fmt.Sprint("none ", row)
			return &text
		}
		return wide(row, 0)
	}
	left, right := spread(t, rows, keys, narrow), spread(t, rows, keys, wide)
	for _, build := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
		device, done := hostDevice(t, host.Options{MaxAllocationBytes: 700_000, MaxBlockBytes: 700_000},
			backend.DeviceOptions{})
		engine := smallEngine(t, device)
		engine.Compare = query.CompareDevice
		plan, err := engine.Plan(context.Background(), left, right, join.Spec{On: []string{"k0"}, BuildSide: build})
		require.NoError(t, err)
		taken := &plan.Alternatives[0]
		require.Equal(t, build == join.BuildLeft, taken.Compare == query.CompareDevice)
		require.Equal(t, build == join.BuildLeft, taken.Facts.Granules() >= 3)
		got, err := drawn(context.Background(), plan)
		require.NoError(t, err)
		require.EqualValues(t, rows/10, got)
		require.NoError(t, done())
	}
}

// TestTextsOfTheHost: views, dictionaries, and keys of which NULL is a value stay with the host, whatever is asked for.
func TestTextsOfTheHost(t *testing.T) {
	texts := arrow.BinaryTypes.String
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for i, right := range []arrow.DataType{arrow.BinaryTypes.StringView, dictionaryOf(texts), texts} {
			left := spread(t, 80, types(texts), randomTexts(1, 80, 30))
			right := spread(t, 90, types(right), randomTexts(2, 90, 30))
			engine := smallEngine(t, device)
			engine.Compare = query.CompareDevice
			spec := join.Spec{On: []string{"k0"}, How: join.Full}
			if i == 2 {
				spec.NullsEqual = []string{"k0"}
			}
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			require.Equal(t, query.CompareHost, plan.Alternatives[0].Compare)
			checkOn(t, engine, left, right, spec, [2]uint64{})
		}
		noMemoryInUse(t, device)
	})
}
