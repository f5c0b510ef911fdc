package files

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
	"github.com/stretchr/testify/require"
)

// Row groups stay unread wherever no row of theirs can be in the output or break a promise of unique keys, and nowhere
// else: the join of what is read is the join of the files, for every kind.
func TestRowGroupsThatEachKindSkips(t *testing.T) {
	dir := t.TempDir()
	groups := func(name string, keys ...int64) string { // of two rows each
		path := filepath.Join(dir, name)
		batch := recordOf(ints("k", keys...), ints("row", slices.Repeat([]int64{1, 2, 3}, len(keys)/3)...))
		defer batch.Release()
		w, err := tableio.Create(path, batch.Schema(), tableio.WriteOptions{RowGroupRows: 2})
		require.NoError(t, err)
		defer w.Abort()
		require.NoError(t, w.Write(t.Context(), batch))
		require.NoError(t, w.Commit(t.Context()))
		return path
	}
	left := groups("l.parquet", 1, 1, 5, 6, 6, 9) // 1 is outside of the right keys, and twice
	right := groups("r.parquet", 6, 5, 4, 9, 30, 30, 40, 41, 42)
	read := func(spec *spirjoin.JoinSpec) (tables [2]arrow.Table) {
		var readers [2]*tableio.Reader
		for side, path := range []string{left, right} {
			var err error
			readers[side], err = tableio.Open(t.Context(), path, tableio.ReadOptions{})
			require.NoError(t, err)
			defer readers[side].Close()
		}
		if spec != nil {
			skipIn(readers, spec)
		}
		for side, r := range readers {
			var err error
			tables[side], err = r.Read(t.Context(), nil)
			require.NoError(t, err)
			t.Cleanup(tables[side].Release)
		}
		return tables
	}
	whole := read(nil)
	for how, want := range map[join.How][2]int64{ // rows that are read of either side, of 6 and 9
		join.Inner: {4, 4}, join.Semi: {4, 4}, join.RightSemi: {4, 4}, join.Left: {6, 4}, join.Anti: {6, 4},
		join.Mark: {6, 4}, join.NotIn: {6, 9}, join.Right: {4, 9}, join.RightAnti: {4, 9}, join.Full: {6, 9},
		join.Cross: {6, 9},
	} {
		for _, validate := range []join.Validate{join.Any, join.OneToMany, join.ManyToOne, join.OneToOne} {
			spec := spirjoin.JoinSpec{How: how, LeftOn: []string{"k"}, RightOn: []string{"k"}, Validate: validate}
			want := want
			if how == join.Cross {
				if validate != join.Any {
					continue // refused
				}
				spec.LeftOn, spec.RightOn = nil, nil
			}
			for side, all := range [2]int64{6, 9} {
				if validate.Unique(relation.Side(side)) {
					want[side] = all
				}
			}
			layout, err := spirjoin.NewJoinLayout(whole[0].Schema(), whole[1].Schema(), spec)
			require.NoError(t, err)
			tables := read(&layout.Spec)
			require.Equal(t, want, [2]int64{tables[0].NumRows(), tables[1].NumRows()}, "%s, %s", how, validate)
			require.Equal(t, oracle.Texts(whole[0], whole[1], layout), oracle.Texts(tables[0], tables[1], layout), how)
			require.Equal(t, oracle.Valid(whole[0], whole[1], spec), oracle.Valid(tables[0], tables[1], spec), how)
		}
	}
}

// Row groups with a NULL key are read where NULL may find a partner, or decides.
func TestRowGroupsWithNullsThatEachKindSkips(t *testing.T) {
	dir := t.TempDir()
	groups := func(name string, keys ...int64) string { // of two rows each; 0 is NULL
		builder := array.NewInt64Builder(memory.DefaultAllocator)
		for _, key := range keys {
			if key == 0 {
				builder.AppendNull()
			} else {
				builder.Append(key)
			}
		}
		path := filepath.Join(dir, name)
		batch := recordOf(column{"k", builder.NewArray()})
		defer batch.Release()
		w, err := tableio.Create(path, batch.Schema(), tableio.WriteOptions{RowGroupRows: 2})
		require.NoError(t, err)
		defer w.Abort()
		require.NoError(t, w.Write(t.Context(), batch))
		require.NoError(t, w.Commit(t.Context()))
		return path
	}
	full, few := groups("full.parquet", 1, 2, 5, 6, 8, 9), groups("few.parquet", 5, 0)
	nulls := groups("nulls.parquet", 0, 0, 6, 5, 30, 0, 41, 42)
	for _, c := range []struct {
		left, right string
		how         join.How
		want        [2][2]int64 // rows that are read of either side; where NULL equals NULL
	}{
		{full, nulls, join.Inner, [2][2]int64{{4, 2}, {4, 2}}},
		{nulls, few, join.Inner, [2][2]int64{{2, 2}, {6, 2}}},
		{few, nulls, join.Left, [2][2]int64{{2, 2}, {2, 6}}},
		{few, nulls, join.Semi, [2][2]int64{{2, 2}, {2, 6}}},
		{nulls, few, join.RightAnti, [2][2]int64{{2, 2}, {6, 2}}},
		{few, nulls, join.Anti, [2][2]int64{{2, 2}, {2, 6}}},
		{nulls, few, join.Full, [2][2]int64{{8, 2}, {8, 2}}},
		{few, nulls, join.NotIn, [2][2]int64{{2, 8}, {}}},
		{full, nulls, join.NotIn, [2][2]int64{{6, 8}, {}}},
	} {
		for i, equal := range [][]string{nil, {"k"}} {
			spec := spirjoin.JoinSpec{How: c.how, LeftOn: []string{"k"}, RightOn: []string{"k"}, NullsEqual: equal}
			if spec.Check() != nil {
				continue // NOT IN asks what a NULL may be
			}
			read := func(skip bool) (tables [2]arrow.Table) {
				var readers [2]*tableio.Reader
				for side, path := range []string{c.left, c.right} {
					var err error
					readers[side], err = tableio.Open(t.Context(), path, tableio.ReadOptions{})
					require.NoError(t, err)
					defer readers[side].Close()
				}
				if skip {
					skipIn(readers, &spec)
				}
				for side, r := range readers {
					var err error
					tables[side], err = r.Read(t.Context(), nil)
					require.NoError(t, err)
					t.Cleanup(tables[side].Release)
				}
				return tables
			}
			whole, some := read(false), read(true)
			layout, err := spirjoin.NewJoinLayout(whole[0].Schema(), whole[1].Schema(), spec)
			require.NoError(t, err)
			require.Equal(t, c.want[i], [2]int64{some[0].NumRows(), some[1].NumRows()}, "%s, %v", c.how, equal)
			require.Equal(t, oracle.Texts(whole[0], whole[1], layout), oracle.Texts(some[0], some[1], layout), c.how)
		}
	}
}

func skipIn(readers [2]*tableio.Reader, spec *spirjoin.JoinSpec) {
	p := &Pair{tables: [2]*Table{{Reader: readers[0]}, {Reader: readers[1]}}}
	p.skipRowGroups(spec)
}
