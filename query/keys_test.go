package query

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// keyTypes are the types whose codes a device makes.
var keyTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: 2},
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal256Type{Precision: 76, Scale: 2},
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
	arrow.FixedWidthTypes.Timestamp_s, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Asia/Tokyo"},
	arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Duration_us,
	arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval,
}

// otherSide are types of the other side that change how codes are made: floats of other widths, and integers.
var otherSide = map[arrow.DataType]arrow.DataType{
	arrow.FixedWidthTypes.Float16: arrow.PrimitiveTypes.Float64,
	arrow.PrimitiveTypes.Float32:  arrow.PrimitiveTypes.Float64,
	arrow.PrimitiveTypes.Int8:     arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Uint64:   arrow.PrimitiveTypes.Int32,
	arrow.PrimitiveTypes.Uint16:   arrow.PrimitiveTypes.Float32,
}

// keyTable draws tables of key columns.
type keyTable struct {
	*rand.Rand
	rows     int
	cuts     []int // ends of the chunks
	imported []byte
}

// bytes returns n zero bytes at a random multiple of 4 bytes, of the imported memory while there is some left.
func (d *keyTable) bytes(n int) []byte {
	at := 4 * d.IntN(20)
	if at+n > len(d.imported) {
		return make([]byte, n)
	}
	b := d.imported[at:][:n:n]
	d.imported = d.imported[at+(n+3)&^3:]
	clear(b)
	return b
}

// column draws a column of values in a range of a few bits around a random base, some of them NULL: a slice of an
// array, in chunks.
func (d *keyTable) column(dt arrow.DataType, bits, nullPercent int) *arrow.Chunked {
	skip, width := d.IntN(70), dt.(arrow.FixedWidthDataType).BitWidth()
	all := skip + d.rows
	values, validity := d.bytes((all*width+7)/8), d.bytes((all+7)/8)
	// Near zero are floats of both signs and subnormals, near the other bases infinity and NaN.
	base := []uint64{0, 0x7c00, 0x7f80_0000, 0x7ff0_0000_0000_0000, d.Uint64()}[d.IntN(5)] - 1<<bits>>1
	for i := range all {
		value := base + d.Uint64N(1<<bits)
		if sign := uint64(1) << (min(width, 64) - 1); arrow.IsFloating(dt.ID()) && d.IntN(2) == 0 &&
			value&^sign < 1<<bits {
			value |= sign
		}
		if i >= skip && d.IntN(100) >= nullPercent {
			validity[i/8] |= 1 << (i % 8)
		}
		if width == 1 {
			values[i/8] |= byte(value&1) << (i % 8)
			continue
		}
		for b := range width / 8 { // sign-extended
			values[i*width/8+b] = byte(int64(value) >> min(8*b, 63))
		}
	}
	buffers, nulls := []*memory.Buffer{memory.NewBufferBytes(validity), memory.NewBufferBytes(values)},
		array.UnknownNullCount
	if nullPercent == 0 {
		buffers[0], nulls = nil, 0
	}
	whole := array.MakeFromData(array.NewData(dt, d.rows, buffers, nil, nulls, skip))
	var chunks []arrow.Array
	from := 0
	for _, cut := range append(slices.Clip(d.cuts), d.rows) {
		chunks = append(chunks, array.NewSlice(whole, int64(from), int64(cut)))
		from = cut
	}
	return arrow.NewChunked(dt, chunks)
}

func tableOf(columns ...*arrow.Chunked) arrow.Table {
	var fields []arrow.Field
	var all []arrow.Column
	for k, column := range columns {
		field := arrow.Field{Name: fmt.Sprint("k", k), Type: column.DataType(), Nullable: true}
		fields, all = append(fields, field), append(all, *arrow.NewColumn(field, column))
	}
	return array.NewTable(arrow.NewSchema(fields, nil), all, int64(columns[0].Len()))
}

// scanOf returns a scan whose words are columns of a table.
func scanOf(plan *keys.Plan, table arrow.Table, columns ...int) *Scan {
	s := &Scan{Side: relation.Left, Table: table, Keys: plan}
	var fields []arrow.Field
	for _, c := range columns {
		column := table.Column(c)
		s.Columns, s.Names = append(s.Columns, column.Data()), append(s.Names, column.Name())
		field := column.Field()
		field.Nullable = column.NullN() > 0
		fields = append(fields, field)
	}
	s.Words = relation.PlanWords(fields)
	return s
}

// discreteDevice runs the reference kernels, in memory that the host cannot access.
func discreteDevice(t *testing.T) *backend.Device {
	return hostDevice(t, host.Options{Discrete: true, Poison: true}, 0)
}

// hostDevice has capBytes of device memory; 0: no limit.
func hostDevice(t *testing.T, options host.Options, capBytes uint64) *backend.Device {
	driver, err := host.New(options).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// TestKeysOnDevice loads granules of tables whose key codes the device makes. It compares codes and words with a chunk
// whose codes the host made. It draws up to four key columns of every type, codes of 4 and 8 bytes, nulls that are a
// value or leave the row out, values that the other side does not have, chunks, slices at any offset, and columns that
// are payload too.
func TestKeysOnDevice(t *testing.T) {
	devicetest.ForEach(t, testKeysOnDevice)
	t.Run("discrete", func(t *testing.T) { testKeysOnDevice(t, discreteDevice(t)) })
}

func testKeysOnDevice(t *testing.T, device *backend.Device) {
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	engine := NewEngine(ops, memory.DefaultAllocator, 0)
	engine.Keys = KeysOnDevice
	pages, unmap, err := offheap.Map(4 << 20)
	require.NoError(t, err)
	imports := device.Info().Limits.ImportAlignment > 0
	if imports {
		buffer, err := device.Import(t.Context(), pages, "imported columns")
		require.NoError(t, err)
		buffer.WhenFreed(unmap)
		defer buffer.Release()
	}
	usual := importedBytes
	defer func() { importedBytes = usual }()
	widths, types, pinned := [9]int{}, make(map[arrow.DataType]int), 0
	for seed := range uint64(150) {
		d := keyTable{Rand: rand.New(rand.NewPCG(seed, 1)), rows: []int{1, 63, 300, 2500}[seed%4]}
		if imports && seed%3 > 0 {
			d.imported = pages
		}
		importedBytes = []uint64{usual, 100, 1 << 12}[seed/3%3]
		for range d.IntN(5) {
			d.cuts = append(d.cuts, d.IntN(d.rows+1))
		}
		slices.Sort(d.cuts)
		other := keyTable{Rand: d.Rand, rows: d.rows}
		var sides [2][]*arrow.Chunked
		var on []string
		var equal []bool
		var payload []int
		columns := 1 + d.IntN(4)
		for k := range columns {
			dt := keyTypes[(int(seed)*7+k*5)%len(keyTypes)]
			against := dt
			if o, ok := otherSide[dt]; ok && d.IntN(2) == 0 {
				against = o
			}
			bits := 1 + d.IntN([]int{31, 15, 10, 8}[columns-1]*(1+int(seed%2)))
			sides[0] = append(sides[0], d.column(dt, bits, []int{0, 20, 50}[d.IntN(3)]))
			partner := other.column(against, bits, 30)
			if d.IntN(2) == 0 && against == dt {
				partner = sides[0][k]
			}
			sides[1] = append(sides[1], partner)
			on, equal = append(on, fmt.Sprint("k", k)), append(equal, d.IntN(2) == 0)
			if d.IntN(2) == 0 {
				payload = append(payload, k)
			}
		}
		table := tableOf(sides[0]...)
		plan, err := keys.PlanJoin(t.Context(), table, tableOf(sides[1]...), on, on, equal...)
		require.NoError(t, err)
		s := scanOf(plan, table, payload...)
		if s.Numbers = d.IntN(2) == 0; !engine.EncodesKeys(s) {
			continue
		}
		engine.Keys = KeysAuto
		if engine.EncodesKeys(s) && len(payload) == 0 && plan.KeyBytes() > 0 {
			pinned++
		}
		engine.Keys = KeysOnDevice
		widths[plan.KeyBytes()]++
		for _, column := range sides[0] {
			types[column.DataType()]++
		}
		from := d.IntN(d.rows)
		for _, r := range [][2]int{{0, d.rows}, {from, from + d.IntN(d.rows-from+1)}, {0, 0}} {
			requireSameLoad(t, ops, s, r[0], r[1],
				fmt.Sprintf("seed %d, rows %v of %d, cuts %v\n%s", seed, r, d.rows, d.cuts, plan))
		}
	}
	require.Greater(t, min(widths[4], widths[8]), 20)
	require.Equal(t, imports && !device.Info().Unified, pinned > 5, "%d tables whose keys are imported", pinned)
	for _, dt := range keyTypes {
		require.Positive(t, types[dt], "%s", dt)
	}
}

// requireSameLoad loads rows of a scan both ways and compares.
func requireSameLoad(t *testing.T, ops *primitive.Ops, s *Scan, from, to int, what string) {
	all, ids := make([]byte, int(s.Rows())*s.Keys.KeyBytes()), make([]uint32, s.Rows())
	require.NoError(t, s.Keys.Encode(t.Context(), s.Side, all, ids))
	first, end := s.Keys.RowsIn(s.Side, 0, from), s.Keys.RowsIn(s.Side, 0, to)
	all = all[first*uint64(s.Keys.KeyBytes()) : end*uint64(s.Keys.KeyBytes())]
	var payload [2][][]byte
	for way, onDevice := range []bool{true, false} {
		lane := exec.NewLane(t.Context(), ops, nil)
		scan := *s
		scan.Encodes = onDevice
		chunk, err := scan.load(t.Context(), lane, lane.Memory, from, to, nil)
		require.NoError(t, err, what)
		require.NoError(t, chunk.Check("load"))
		require.Equal(t, end-first, chunk.Rows, what)
		for _, column := range append([]relation.Values{chunk.Keys}, chunk.Payload...) {
			got := make([]byte, column.Data.SizeBytes)
			if len(got) > 0 {
				require.NoError(t, lane.Download(t.Context(), got, column.Data))
			}
			payload[way] = append(payload[way], got)
		}
		require.True(t, string(all) == string(payload[way][0]), "on the device %t, %s", onDevice, what)
		lane.Memory.ReleaseAll()
	}
	for i, want := range payload[1] {
		require.True(t, string(want) == string(payload[0][i]), "column %d, %s", i, what)
	}
}

// TestStagedKeys loads more rows than are uploaded at a time, in one chunk and in chunks of one row.
func TestStagedKeys(t *testing.T) {
	devicetest.HostTest(t)
	device := discreteDevice(t)
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	const rows = 2*relation.StageRows + 777
	cuts := []int{70_000, 1, rows}
	if devicetest.RaceDetector {
		cuts = cuts[:1]
	}
	for _, cut := range cuts {
		d := keyTable{Rand: rand.New(rand.NewPCG(3, 4)), rows: rows}
		if cut == 1 {
			d.rows = 5000
		}
		for at := cut; at < d.rows; at += cut {
			d.cuts = append(d.cuts, at)
		}
		table := tableOf(d.column(arrow.FixedWidthTypes.Boolean, 1, 10), d.column(arrow.PrimitiveTypes.Int64, 20, 10),
			d.column(arrow.PrimitiveTypes.Int16, 9, 0))
		on := []string{"k0", "k1", "k2"}
		plan, err := keys.PlanJoin(t.Context(), table, table, on, on, true, false, false)
		require.NoError(t, err)
		s := scanOf(plan, table, 1)
		require.True(t, plan.OnDevice(s.Side))
		requireSameLoad(t, ops, s, 1, d.rows, fmt.Sprintf("chunks of %d rows", cut))
	}
}

// TestLoadingMemory: the planned memory is enough to load a chunk, with codes made by the host and by the device, if
// all rows have a key and if few have.
func TestLoadingMemory(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	for _, nulls := range []int{0, 99} {
		for _, payload := range [][]int{nil, {0}, {1}, {0, 1}} {
			for _, encodes := range []bool{false, true} {
				d := keyTable{Rand: rand.New(rand.NewPCG(7, 8)), rows: relation.StageRows + 777}
				table := tableOf(d.column(arrow.PrimitiveTypes.Int64, 12, nulls),
					d.column(arrow.PrimitiveTypes.Int32, 12, 0))
				on := []string{"k0", "k1"}
				plan, err := keys.PlanJoin(t.Context(), table, table, on, on)
				require.NoError(t, err)
				s := scanOf(plan, table, payload...)
				s.Encodes = encodes
				needed := s.Rows()*uint64(plan.KeyBytes()) + s.loadingBytes()
				for _, bytes := range s.Words.Bytes {
					needed += s.Rows() * uint64(bytes)
				}
				device := hostDevice(t, host.Options{Discrete: true}, needed+operator.Slack(needed))
				ops, err := primitive.New(device, nil)
				require.NoError(t, err)
				lane := exec.NewLane(t.Context(), ops, nil)
				_, err = s.load(t.Context(), lane, lane.Memory, 0, d.rows, nil)
				require.NoError(t, err, "%d%% NULL, payload %v, codes by the device %t", nulls, payload, encodes)
				lane.Memory.ReleaseAll()
			}
		}
	}
}

// TestConstantKeys: keys of 0 bits, and no keys at all.
func TestConstantKeys(t *testing.T) {
	ops, err := primitive.New(discreteDevice(t), nil)
	require.NoError(t, err)
	same := table(t, []int32{7, 7, -1, 7})
	constant, err := keys.PlanJoin(t.Context(), same, same, []string{"k"}, []string{"k"})
	require.NoError(t, err)
	none, err := keys.PlanCross(same, same)
	require.NoError(t, err)
	for _, plan := range []*keys.Plan{constant, none} {
		require.True(t, plan.OnDevice(relation.Left))
		requireSameLoad(t, ops, scanOf(plan, same, 0), 0, 4, plan.String())
	}
}

// TestEncodesKeys checks where codes are made.
func TestEncodesKeys(t *testing.T) {
	devicetest.HostTest(t)
	engines := make(map[bool]*Engine) // by whether device memory is host memory
	for _, device := range []*backend.Device{discreteDevice(t), hostDevice(t, host.Options{}, 0)} {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		engines[device.Info().Unified] = NewEngine(ops, memory.DefaultAllocator, 0)
	}
	d := keyTable{Rand: rand.New(rand.NewPCG(5, 6)), rows: 10}
	millis, days := d.column(arrow.FixedWidthTypes.Date64, 9, 0), d.column(arrow.FixedWidthTypes.Date32, 9, 0)
	plan, err := keys.PlanJoin(t.Context(), tableOf(millis), tableOf(days), []string{"k0"}, []string{"k0"})
	require.NoError(t, err)
	require.False(t, plan.OnDevice(relation.Left), "milliseconds are divided to days")
	require.True(t, plan.OnDevice(relation.Right))
	key, payload := scanOf(plan, tableOf(days)), scanOf(plan, tableOf(days), 0)
	key.Side, payload.Side = relation.Right, relation.Right
	for place, want := range map[KeyPlace][3]bool{ // discrete, of a key alone and of one that is payload; unified
		KeysAuto: {false, true, false}, KeysOnHost: {}, KeysOnDevice: {true, true, true}} {
		engines[false].Keys, engines[true].Keys = place, place
		require.Equal(t, want[0], engines[false].EncodesKeys(key), "%d", place)
		require.Equal(t, want[1], engines[false].EncodesKeys(payload), "%d", place)
		require.Equal(t, want[2], engines[true].EncodesKeys(payload), "%d", place)
		require.False(t, engines[false].EncodesKeys(scanOf(plan, tableOf(millis), 0)))
	}
}
