package groupby_test

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
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// TestTexts: least and greatest texts of every type are compared byte by byte, whatever chunk, part or dictionary they
// are in, by keys that are packed, hashed, hashed alike, and by none.
func TestTexts(t *testing.T) {
	fixed := &arrow.FixedSizeBinaryType{ByteWidth: 2}
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	types := []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView, fixed, dictionary}
	keys := []string{"a", "b", "a", "a", "b", "c", "b", "", "", "a"} // "" is NULL
	texts := []string{"xy", "\xff\x00", "\xc3\xa9", "xx", "", "", "\x7f~", "zz", "", ""}
	const null, wide = 4, "a key of many bytes "
	want := map[string][2]string{"a": {"xx", "\xc3\xa9"}, "b": {"\x7f~", "\xff\x00"}, "c": {}, "": {"zz", "zz"}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, dtype := range types {
			schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String, Nullable: true},
				{Name: "w", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "x", Type: dtype, Nullable: true}}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			for i, text := range texts {
				for field, prefix := range []string{"", wide} {
					if keys[i] == "" {
						b.Field(field).AppendNull()
					} else {
						b.Field(field).(*array.StringBuilder).Append(prefix + keys[i])
					}
				}
				appendText(t, b.Field(2), text)
			}
			batch := b.NewRecordBatch()
			b.Release()
			table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch.NewSlice(0, null), batch.NewSlice(null, 10)})
			for _, c := range []struct {
				by   []string
				bits int
			}{{[]string{"k"}, 64}, {[]string{"w"}, 64}, {[]string{"w"}, 0}, {nil, 64}} {
				e := engine(t, device)
				e.HashBits = new(c.bits)
				spec := groupby.Spec{By: c.by, Aggregates: []groupby.Aggregate{{Func: groupby.Min, Column: "x"},
					{Func: groupby.Count}, {Func: groupby.Max, Column: "x"}, {Func: groupby.Min, Column: "x", Name: "again"}}}
				layout, err := groupby.NewLayout(schema, spec)
				require.NoError(t, err)
				t.Run(fmt.Sprint(dtype, c), func(t *testing.T) {
					whole, err := e.Group(context.Background(), table, spec)
					requireTexts(t, whole, err, want)
					for _, rows := range []int64{1, 3} {
						parts, err := inParts(e, rows).Stream(context.Background(), layout, batchesOf(table))
						requireTexts(t, parts, err, want)
					}
				})
			}
		}
	})
}

// appendText appends a text; NULL for "".
func appendText(t testing.TB, to array.Builder, text string) {
	switch b := to.(type) {
	case interface{ Append(string) }:
		if text != "" {
			b.Append(text)
			return
		}
	case interface{ Append([]byte) }:
		if text != "" {
			b.Append([]byte(text))
			return
		}
	case *array.BinaryDictionaryBuilder:
		if text != "" {
			require.NoError(t, b.AppendString(text))
			return
		}
	}
	to.AppendNull()
}

// requireTexts compares the least and greatest text of each group, by the last byte of its key; "" is NULL. Without
// keys all rows are one group.
func requireTexts(t *testing.T, r *groupby.Result, err error, want map[string][2]string) {
	t.Helper()
	require.NoError(t, err)
	defer r.Close()
	got, all := make(map[string][2]string), len(r.Layout.Spec.By) == 0
	for batch, err := range r.Batches(context.Background()) {
		require.NoError(t, err)
		columns := batch.Columns()
		for i := range int(batch.NumRows()) {
			key, at := "", len(columns)-4
			if !all {
				if k := columns[0].(*array.String); k.IsValid(i) {
					key = k.Value(i)[len(k.Value(i))-1:]
				}
			}
			least, greatest := groupby.TextOf(columns[at], i), groupby.TextOf(columns[at+2], i)
			require.Equal(t, least, groupby.TextOf(columns[at+3], i))
			got[key] = [2]string{least, greatest}
		}
		batch.Release()
	}
	if all {
		want = map[string][2]string{"": {"xx", "\xff\x00"}}
	}
	require.Equal(t, want, got)
}

// TestGatherAtMost: groups whose texts are too long for the offsets of one batch wait for a merge in several.
func TestGatherAtMost(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		const rows = 300
		tab := table(t, rows,
			column{"k", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 3) }, nil},
			column{"s", arrow.BinaryTypes.String, func(row int) uint64 { return uint64(row * 7 % 90) },
				func(row int) bool { return row%11 == 0 }})
		e := engine(t, device)
		groupby.GatherAtMost(e, 7)
		check(t, e, tab, groupby.Spec{By: []string{"s"}, Aggregates: []groupby.Aggregate{{Func: groupby.Max, Column: "s"},
			{Func: groupby.CountDistinct, Column: "k"}}})
		check(t, e, tab, groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{
			{Func: groupby.CountDistinct, Column: "s"}, {Func: groupby.CountDistinct, Column: "k"}}})
		groupby.GatherAtMost(e, 0)
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"s"}})
		require.NoError(t, err)
		_, err = inParts(e, rows/3).Stream(t.Context(), layout, batchesOf(tab))
		require.ErrorIs(t, err, relation.ErrBatchTooLarge)
	})
}

// TestDistinctBeyond2GiB counts different texts of 2.1 GiB, which share 3 MiB of memory.
func TestDistinctBeyond2GiB(t *testing.T) {
	devicetest.SkipShort(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		const texts, bytes = 2200, 1 << 20
		all := make([]byte, bytes+texts)
		random := rand.NewChaCha8([32]byte{1})
		_, _ = random.Read(all)
		var chunks []arrow.Array
		for i := range int32(2 * texts) {
			offsets := []int32{i % texts, i%texts + bytes}
			data := array.NewData(arrow.BinaryTypes.Binary, 1, []*memory.Buffer{nil,
				memory.NewBufferBytes(backend.AsBytes(offsets)), memory.NewBufferBytes(all)}, nil, 0, 0)
			chunks = append(chunks, array.MakeFromData(data))
			data.Release()
		}
		field := arrow.Field{Name: "s", Type: arrow.BinaryTypes.Binary}
		tab := array.NewTable(arrow.NewSchema([]arrow.Field{field}, nil),
			[]arrow.Column{*arrow.NewColumn(field, arrow.NewChunked(field.Type, chunks))}, 2*texts)
		spec := groupby.Spec{Aggregates: []groupby.Aggregate{{Func: groupby.CountDistinct, Column: "s"}}}
		layout, err := groupby.NewLayout(tab.Schema(), spec)
		require.NoError(t, err)
		requireCount := func(r *groupby.Result, err error) {
			t.Helper()
			require.NoError(t, err)
			defer r.Close()
			for batch, err := range r.Batches(t.Context()) {
				require.NoError(t, err)
				require.EqualValues(t, texts, batch.Column(0).(*array.Int64).Value(0))
				batch.Release()
			}
		}
		e := engine(t, device)
		requireCount(e.GroupLayout(t.Context(), layout, tab))
		requireCount(e.Stream(t.Context(), layout, batchesOf(tab)))
	})
}
