package recorded_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// mostRows is the size of the benchmarks. It costs nothing, because nothing runs.
const mostRows = 1 << 27

// primitiveCase records primitives on a device that executes nothing: they do not read anything back.
type primitiveCase struct {
	name   string // folder of the device, and file
	record func(b *bench)
}

var primitiveCases = []primitiveCase{
	{"h200/scan", recordScans},
	{"h200/reduce", recordReductions},
	{"h200/compact", recordCompactions},
	{"h200/sort_32", func(b *bench) { b.sort(mostRows, 4, primitive.NoPayload, 0, 0) }},
	{"h200/sort_32_32", func(b *bench) { b.sort(mostRows, 4, primitive.Given, 4, 1) }},
	{"h200/sort_32_64", func(b *bench) { b.sort(mostRows, 4, primitive.Given, 8, 1) }},
	{"h200/sort_64", func(b *bench) { b.sort(mostRows, 8, primitive.NoPayload, 0, 0) }},
	{"h200/sort_64_32", func(b *bench) { b.sort(mostRows, 8, primitive.Given, 4, 1) }},
	{"h200/sort_64_64", func(b *bench) { b.sort(mostRows, 8, primitive.Given, 8, 1) }},
	{"h200/sort_row_numbers", func(b *bench) { b.sort(mostRows, 4, primitive.RowNumbers, 4, 1) }},
	{"h200/sort_columns", func(b *bench) {
		b.sort(mostRows, 4, primitive.Given, 4, 2)
		b.sort(mostRows, 4, primitive.Given, 8, 3)
	}},
	{"h200/sort_few_rows", func(b *bench) {
		for _, rows := range []uint64{1 << 10, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24} {
			b.sort(rows, 4, primitive.Given, 4, 1)
		}
	}},
	{"h200/sort_portions", func(b *bench) { b.sort(1<<30+12345, 4, primitive.Given, 8, 1) }},
	{"h200/sort_varying_bits", recordSortsOfVaryingBits},
	{"h200/partition_one_pass", recordOnePass},
	{"h200/partition_two_passes", recordTwoPasses},
	{"h200/partition_columns", recordPartitionsOfColumns},
	{"h200/merge", recordMerges},
	{"h200/merge_sort", recordMergeSorts},
	{"h200/range_search", recordSearches},
	{"h200/expand", recordExpansions},
	{"h200/gather", recordGathers},
	{"h200/copy", recordCopies},
	{"h200/words", recordWords},
	{"plain/scans", func(b *bench) { recordScans(b); recordReductions(b) }},
	{"plain/compact", recordCompactions},
	{"plain/sort_32_32", func(b *bench) { b.sort(mostRows, 4, primitive.Given, 4, 1) }},
	{"plain/sort_64_64", func(b *bench) { b.sort(mostRows, 8, primitive.Given, 8, 1) }},
	{"plain/partition", func(b *bench) { recordOnePass(b); recordTwoPasses(b) }},
	{"plain/merge", func(b *bench) { recordMerges(b); recordMergeSorts(b) }},
	{"plain/search", func(b *bench) { recordSearches(b); recordExpansions(b) }},
	{"plain/moves", func(b *bench) { recordGathers(b); recordCopies(b); recordWords(b) }},
}

func TestPrimitives(t *testing.T) {
	for _, c := range primitiveCases {
		t.Run(c.name, func(t *testing.T) {
			text := recordPrimitive(t, c)
			require.Equal(t, text, recordPrimitive(t, c), "a second time")
			requireGolden(t, c.name, text)
		})
	}
}

func recordPrimitive(t *testing.T, c primitiveCase) string {
	return recordPrimitiveOn(t, infoOf(c.name), c)
}

func recordPrimitiveOn(t *testing.T, info backend.DeviceInfo, c primitiveCase) string {
	device := recorded.OpenIdle(t, info)
	b := &bench{t: t, Ops: opsOf(t, device, nil)}
	var stop func()
	b.recorder, stop = recorded.Record(device)
	defer stop()
	c.record(b)
	return b.recorder.String()
}

// bench records primitives, each in its own list.
type bench struct {
	*primitive.Ops
	t        *testing.T
	recorder *recorded.Recorder
	buffers  []*backend.Buffer // buffers of the current list
}

// new allocates a buffer; absent for 0 bytes.
func (b *bench) new(label string, sizeBytes uint64) backend.Range {
	if sizeBytes == 0 {
		return backend.Range{}
	}
	buffer, err := b.Device().Allocate(background, backend.DeviceLocal, sizeBytes, label)
	require.NoError(b.t, err)
	b.buffers = append(b.buffers, buffer)
	return buffer.All()
}

// columns allocates keys and payload columns.
func (b *bench) columns(label string, l primitive.Layout) (c primitive.Columns) {
	c.Keys = b.new(label+" keys", l.Rows*uint64(l.KeyBytes))
	for range l.Columns {
		c.Payload = append(c.Payload, b.new(label+" payload", l.Rows*uint64(l.PayloadBytes)))
	}
	return c
}

// submit submits the commands of record, after a line that describes them.
func (b *bench) submit(record func(list *backend.List) error, format string, a ...any) {
	b.recorder.Notef("# "+format, a...)
	var list backend.List
	require.NoError(b.t, record(&list))
	_, err := b.Device().Submit(background, backend.Compute, &list)
	require.NoError(b.t, err)
	for _, buffer := range b.buffers {
		buffer.Release()
	}
	b.buffers = nil
}

// must returns a plan and fails the test on an error.
func must[P any](b *bench) func(P, error) P {
	return func(p P, err error) P {
		require.NoError(b.t, err)
		return p
	}
}

func recordScans(b *bench) {
	for _, bits := range [][2]int{{32, 32}, {32, 64}, {64, 64}} {
		p := must[primitive.ScanPlan](b)(primitive.PlanScan(b.Tuning(), mostRows, bits[0], bits[1], true))
		values, sums := b.new("values", mostRows*uint64(bits[0]/8)), b.new("sums", (mostRows+1)*uint64(bits[1]/8))
		scratch := b.new("scratch", p.ScratchBytes)
		b.submit(func(list *backend.List) error { return b.Scan(list, p, values, sums, scratch) },
			"scan %d values of %d bits to sums of %d bits and their total", mostRows, bits[0], bits[1])
	}
	p := must[primitive.ScanPlan](b)(primitive.PlanScan(b.Tuning(), mostRows, 32, 32, false))
	values, scratch := b.new("values", mostRows*4), b.new("scratch", p.ScratchBytes)
	b.submit(func(list *backend.List) error { return b.Scan(list, p, values, values, scratch) },
		"scan %d values of 32 bits in place", mostRows)
}

func recordReductions(b *bench) {
	for _, bits := range [][2]int{{32, 64}, {64, 64}} {
		p := must[primitive.ReducePlan](b)(
			primitive.PlanReduce(b.Tuning(), kernel.ReduceSum, mostRows, bits[0], bits[1]))
		values, scratch := b.new("values", mostRows*uint64(bits[0]/8)), b.new("scratch", p.ScratchBytes)
		b.submit(func(list *backend.List) error { return b.Reduce(list, p, values, scratch) },
			"reduce %d values of %d bits to a sum of %d bits", mostRows, bits[0], bits[1])
	}
}

func recordCompactions(b *bench) {
	p := must[primitive.CompactPlan](b)(primitive.PlanCompact(b.Tuning(), mostRows))
	bits, scratch := b.new("bits", mostRows/8), b.new("scratch", p.ScratchBytes)
	narrow, wide := b.new("values", mostRows*4), b.new("values", mostRows*8)
	narrowKept, wideKept, numbers := b.new("kept", mostRows*4), b.new("kept", mostRows*8), b.new("kept", mostRows*4)
	b.submit(func(list *backend.List) error {
		require.NoError(b.t, b.CompactOffsets(list, p, bits, scratch))
		require.NoError(b.t, b.Compact(list, p, 4, bits, narrow, narrowKept, scratch))
		require.NoError(b.t, b.Compact(list, p, 4, bits, backend.Range{}, numbers, scratch))
		return b.Compact(list, p, 8, bits, wide, wideKept, scratch)
	}, "compact %d rows of 4 bytes, of row numbers, and of 8 bytes", mostRows)
}

// sort sorts by whole keys, from a source that is one of the buffers.
func (b *bench) sort(rows uint64, keyBytes int, payload primitive.Payload, payloadBytes, columns int) {
	b.sortBits(primitive.Sort{EndBit: keyBytes * 8, Layout: primitive.Layout{
		Rows: rows, KeyBytes: keyBytes, Payload: payload, PayloadBytes: payloadBytes, Columns: columns}})
}

func (b *bench) sortBits(s primitive.Sort) {
	p := must[primitive.SortPlan](b)(primitive.PlanSort(b.Tuning(), s))
	buffers := [2]primitive.Columns{b.columns("first", s.Layout), b.columns("second", s.Layout)}
	scratch := b.new("scratch", p.ScratchBytes)
	b.submit(func(list *backend.List) error { return b.Sort(list, p, scratch, buffers[0], buffers) },
		"sort %d rows by bits %d to %d of keys of %d bytes, varying %#x, %d payload columns of %d bytes",
		s.Rows, s.FirstBit, s.EndBit, s.KeyBytes, s.Varying, s.Columns, s.PayloadBytes)
}

func recordSortsOfVaryingBits(b *bench) {
	for _, keyBytes := range []int{4, 8} {
		p := must[primitive.VaryingBitsPlan](b)(primitive.PlanVaryingBits(b.Tuning(), mostRows, keyBytes))
		keys, scratch := b.new("keys", mostRows*uint64(keyBytes)), b.new("scratch", p.ScratchBytes)
		b.submit(func(list *backend.List) error { return b.VaryingBits(list, p, keys, scratch) },
			"varying bits of %d keys of %d bytes", mostRows, keyBytes)
	}
	layout := primitive.Layout{Rows: mostRows, KeyBytes: 8, Payload: primitive.Given, PayloadBytes: 4, Columns: 1}
	b.sortBits(primitive.Sort{Layout: layout, EndBit: 64, Varying: 0xff00_0000_07ff_ffff})
	b.sortBits(primitive.Sort{Layout: layout, EndBit: 20, Varying: 0xf00ff})
	b.sortBits(primitive.Sort{Layout: layout, EndBit: 8})
}

// partition partitions rows, from a source that is not overwritten.
func (b *bench) partition(s primitive.Partition) {
	p := must[primitive.PartitionPlan](b)(primitive.PlanPartition(b.Tuning(), s))
	source := b.columns("source", s.Layout)
	if s.Narrow {
		source.Keys, source.High = b.new("wide keys", s.Rows*8), b.new("high words", 8)
	}
	buffers := [2]primitive.Columns{b.columns("first", s.Layout), b.columns("second", s.Layout)}
	starts, scratch := b.new("starts", 4<<s.Bits+4), b.new("scratch", p.ScratchBytes)
	b.submit(func(list *backend.List) error { return b.Partition(list, p, starts, scratch, source, buffers) },
		"partition %d rows by %d bits of keys of %d bytes, mixed %t, narrow %t, %d payload columns of %d bytes",
		s.Rows, s.Bits, s.KeyBytes, s.Mixed, s.Narrow, s.Columns, s.PayloadBytes)
}

func layout(keyBytes, columns, payloadBytes int) primitive.Layout {
	l := primitive.Layout{Rows: mostRows, KeyBytes: keyBytes}
	if columns > 0 {
		l.Payload, l.Columns, l.PayloadBytes = primitive.Given, columns, payloadBytes
	}
	return l
}

func recordOnePass(b *bench) {
	b.partition(primitive.Partition{Layout: layout(4, 1, 4), Bits: 8})
	b.partition(primitive.Partition{Layout: layout(4, 0, 0), Bits: 5, Mixed: true, Seed: 7})
	b.partition(primitive.Partition{Layout: layout(8, 1, 8), Shift: 32, Bits: 8})
}

func recordTwoPasses(b *bench) {
	b.partition(primitive.Partition{Layout: layout(4, 1, 4), Bits: 15, Mixed: true, Seed: 7})
	b.partition(primitive.Partition{Layout: layout(8, 1, 8), Bits: 16, Mixed: true, Seed: 7})
	narrow := layout(4, 1, 8)
	narrow.Narrow = true
	b.partition(primitive.Partition{Layout: narrow, Bits: 14, Mixed: true, Seed: 7})
	b.partition(primitive.Partition{Layout: narrow, Bits: 6, Mixed: true, Seed: 7})
	numbered := layout(4, 1, 4)
	numbered.Payload = primitive.RowNumbers
	b.partition(primitive.Partition{Layout: numbered, Bits: 15, Mixed: true, Seed: 7})
}

func recordPartitionsOfColumns(b *bench) {
	for _, columns := range []int{2, 3} {
		for _, keyBytes := range []int{4, 8} {
			moved := layout(keyBytes, columns, keyBytes)
			b.partition(primitive.Partition{Layout: moved, Bits: 15, Mixed: true, Seed: 7})
		}
	}
}

// widths are bytes of keys and payload.
var widths = [][2]int{{4, 0}, {4, 4}, {8, 4}, {8, 8}}

func recordMerges(b *bench) {
	for _, w := range widths {
		left, right := uint64(mostRows/4), uint64(mostRows/4*3)
		p := must[primitive.MergePlan](b)(primitive.PlanMerge(b.Tuning(), left, right, w[0], w[1]*8))
		columns := func(label string, rows uint64) primitive.KeyedColumns {
			keys, payload := b.new(label+" keys", rows*uint64(w[0])), b.new(label+" payload", rows*uint64(w[1]))
			return primitive.KeyedColumns{Keys: keys, Payload: payload}
		}
		from, with, out := columns("left", left), columns("right", right), columns("merged", left+right)
		scratch := b.new("scratch", p.ScratchBytes)
		b.submit(func(list *backend.List) error { return b.Merge(list, p, from, with, out, scratch) },
			"merge %d and %d rows, keys of %d bytes, payload of %d bytes", left, right, w[0], w[1])
	}
}

func recordMergeSorts(b *bench) {
	for _, w := range [][2]int{{4, 4}, {8, 8}} {
		l := layout(w[0], 1, w[1])
		p := must[primitive.MergeSortPlan](b)(primitive.PlanMergeSort(b.Tuning(), l))
		buffers := [2]primitive.Columns{b.columns("first", l), b.columns("second", l)}
		scratch := b.new("scratch", p.ScratchBytes)
		b.submit(func(list *backend.List) error { return b.MergeSort(list, p, scratch, buffers[0], buffers) },
			"merge sort of %d rows, keys of %d bytes, payload of %d bytes", l.Rows, w[0], w[1])
	}
}

func recordSearches(b *bench) {
	for _, keyBytes := range []int{4, 8} {
		for _, ranges := range []bool{true, false} {
			p := must[primitive.RangeSearchPlan](b)(
				primitive.PlanRangeSearch(b.Tuning(), mostRows, 2*mostRows, keyBytes))
			left := b.new("left keys", p.LeftRows*uint64(keyBytes))
			right := b.new("right keys", p.RightRows*uint64(keyBytes))
			var begins, counts backend.Range
			if ranges {
				begins, counts = b.new("begins", p.LeftRows*4), b.new("counts", p.LeftRows*4)
			}
			scratch := b.new("scratch", p.ScratchBytes)
			b.submit(func(list *backend.List) error {
				return b.RangeSearch(list, p, left, right, begins, counts, scratch)
			}, "search %d keys of %d bytes in %d, ranges %t", p.LeftRows, keyBytes, p.RightRows, ranges)
		}
	}
}

func recordExpansions(b *bench) {
	offsets, begins := b.new("offsets", 8*mostRows+8), b.new("begins", 4*mostRows)
	r := primitive.Ranges{LeftRows: mostRows, Offsets: offsets, Begins: begins,
		LeftIDs: b.new("left row numbers", 4*mostRows), RightIDs: b.new("right row numbers", 4*mostRows)}
	left, right := b.new("left pairs", 4*mostRows), b.new("right pairs", 4*mostRows)
	b.submit(func(list *backend.List) error { return b.Expand(list, r, 5<<32+6, mostRows, left, right) },
		"expand %d pairs, the first of which is number 5<<32 + 6", mostRows)
	offsets, begins = b.new("offsets", 8*mostRows+8), b.new("begins", 4*mostRows)
	r = primitive.Ranges{LeftRows: mostRows, Offsets: offsets, Begins: begins}
	left, right = b.new("left pairs", 4*mostRows), b.new("right pairs", 4*mostRows)
	b.submit(func(list *backend.List) error { return b.Expand(list, r, 0, mostRows, left, right) },
		"expand %d pairs of sides that were not moved", mostRows)
}

func recordGathers(b *bench) {
	for _, valueBytes := range []uint64{4, 8} {
		ids := b.new("ids", 4*mostRows)
		values, gathered := b.new("values", valueBytes*mostRows), b.new("gathered", valueBytes*mostRows)
		b.submit(func(list *backend.List) error {
			return b.Gather(list, int(valueBytes), values, ids, gathered, mostRows)
		}, "gather %d values of %d bytes", mostRows, valueBytes)
	}
	ids := b.new("ids", 4*mostRows)
	b.submit(func(list *backend.List) error { return b.Iota(list, ids, mostRows, 7) }, "number %d rows", mostRows)
}

func recordWords(b *bench) {
	fields, columns := kernel.Fields{Shorts: 1, Bytes: 1, Bits: 8}, mostRows*uint64(4)
	words, unpacked, counts := b.new("words", 4*mostRows), b.new("columns", columns), b.new("counts", 32)
	origins := b.new("origins", 80)
	b.submit(func(list *backend.List) error {
		require.NoError(b.t, b.PackWords(list, fields, unpacked, origins, words, mostRows))
		return b.UnpackWords(list, fields, words.Buffer.Range(4*77, 4*(mostRows-77)), unpacked, counts)
	}, "pack %d words, and unpack those from number 77 on", mostRows)
	wide, half := b.new("values", 16*mostRows), b.new("low words", 8*mostRows)
	b.submit(func(list *backend.List) error {
		return b.CopyStrided(list, primitive.Strided{Words: half, Stride: 1}, primitive.Strided{Words: wide, Stride: 2},
			mostRows)
	}, "take %d values of two words apart", mostRows)
	values, bytes := b.new("values", 8*mostRows), b.new("bytes", mostRows+80)
	bits, codes := b.new("validity", mostRows/8+4), b.new("codes", 4*mostRows)
	b.submit(func(list *backend.List) error {
		rows := primitive.KeyRows{Values: values, Validity: bits, FirstValid: 5, Codes: codes, KeyBytes: 4}
		coding := primitive.KeyCoding{KeyValues: kernel.KeyValues{ValueBits: 64, Meaning: kernel.RankDouble},
			Least: 1 << 40, Null: 1<<40 + 99, Shift: 9}
		if err := b.EncodeKeys(list, coding, rows); err != nil {
			return err
		}
		rows.Values, rows.Validity, rows.FirstValue, rows.Merge =
			bytes.Buffer.Range(76, mostRows+4), backend.Range{}, 3, true
		coding = primitive.KeyCoding{KeyValues: kernel.KeyValues{ValueBits: 8, Meaning: kernel.Signed}}
		return b.EncodeKeys(list, coding, rows)
	}, "encode %d keys of two columns", mostRows)
}

func recordCopies(b *bench) {
	from, to := b.new("source", 3<<30), b.new("destination", 3<<30)
	b.submit(func(list *backend.List) error { return b.Copy(list, to, from) }, "copy 3 GiB")
	from, to = b.new("source", 1<<20), b.new("destination", 1<<20)
	b.submit(func(list *backend.List) error {
		return b.Copy(list, to.Buffer.Range(260, 1<<16), from.Buffer.Range(1024+12, 1<<16))
	}, "copy 64 KiB that are not aligned")
}
