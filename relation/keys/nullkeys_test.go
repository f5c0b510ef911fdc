package keys

import (
	"context"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// TestNullsAcrossBlocks has three keys: a, for which NULL is a value, b, for which it is not, and c, of whose values
// the other side has only some. There are more rows than in a block and a strip, in chunks of arbitrary length.
func TestNullsAcrossBlocks(t *testing.T) {
	ctx, i16 := context.Background(), arrow.PrimitiveTypes.Int16
	const rows = 2*relation.BlockRows + StripRows + 77
	var a, b, c []cell
	var codes, keyless, keylessValues []uint32
	for i := range rows {
		a = append(a, cell{raw: uint64(i % 1000), null: i%7 == 3})
		b = append(b, cell{raw: 5, null: i%11 == 0})
		c = append(c, cell{raw: math.Float64bits(float64(i%13) / 2)})
		code := uint32(i % 1000)
		if i%7 == 3 {
			code = 1000
		}
		switch {
		case i%11 == 0:
			keyless = append(keyless, uint32(i))
		case i%13%2 == 1:
			keyless, keylessValues = append(keyless, uint32(i)), append(keylessValues, uint32(i))
		default:
			codes = append(codes, code<<3|uint32(i%13/2))
		}
	}
	left := tableOf([]arrow.Array{columnOf(i16, a, 3), columnOf(i16, b, 9),
		columnOf(arrow.PrimitiveTypes.Float64, c, 0)},
		[][]int{{1, 5000, relation.BlockRows + 1}, {2 * relation.BlockRows}, {777}})
	right := tableOf([]arrow.Array{columnOf(i16, a[:14], 0), columnOf(i16, b[:14], 0),
		columnOf(i16, ints(0, 1, 2, 3, 4, 5,
			6, 0, 0, 0, 0, 0, 0, 0), 0)}, [][]int{nil, nil, nil})
	plan, err := PlanJoin(ctx, left, right, keyNames(3), keyNames(3), true)
	require.NoError(t, err)
	require.Equal(t, "k0 int16 = k0 int16: 0..999 and NULL, 10 bits\nk1 int16 = k1 int16: 5..5, 0 bits\n"+
		"k2 float64 = k2 int16: 0..6, 3 bits", plan.String())
	n := int(plan.Rows(relation.Left))
	require.Equal(t, len(codes), n)
	got, ids := make([]byte, 4*n), make([]uint32, n)
	require.NoError(t, plan.Encode(ctx, relation.Left, got, ids))
	require.True(t, string(backend.AsBytes(codes)) == string(got))
	require.EqualValues(t, (rows+10)/11, plan.Nulls(relation.Left))
	for which, want := range map[Keyless][]uint32{KeylessAll: keyless, KeylessValues: keylessValues, KeylessNone: nil} {
		require.EqualValues(t, len(want), plan.KeylessRows(relation.Left, which))
		rows, err := plan.Keyless(ctx, relation.Left, which, 0, rows)
		require.NoError(t, err)
		require.Equal(t, want, rows)
	}
	part, err := plan.Keyless(ctx, relation.Left, KeylessValues, 100, 122)
	require.NoError(t, err)
	require.Equal(t, []uint32{100, 102, 105, 107, 109, 111, 113, 115, 118, 120}, part)
}

// TestNullsEqualAtTheEdges: NULL follows the greatest value, is the only value, or needs a bit more than there is.
func TestNullsEqualAtTheEdges(t *testing.T) {
	ctx, i64 := context.Background(), arrow.PrimitiveTypes.Int64
	null := cell{null: true}
	text := func(left, right arrow.Table) string {
		plan, err := PlanJoin(ctx, left, right, keyNames(1), keyNames(1), true)
		require.NoError(t, err)
		require.NoError(t, checkPlan(left, right, keyNames(1), true))
		return plan.String()
	}
	for want, c := range map[string][2]arrow.Table{
		"k0 int64 = k0 int64: no values and NULL, 1 bits": {single(i64, null), single(i64, null, null)},
		"k0 int64 = k0 int64: 7..7 and NULL, 1 bits":      {single(i64, cell{raw: 7}), single(i64, null)},
		"k0 int64 = k0 int64: 7..8, 1 bits":               {single(i64, cell{raw: 7}), single(i64, cell{raw: 8})},
		"k0 null = k0 int64: 7..7 and NULL, 1 bits":       {nullTable(3), single(i64, null, cell{raw: 7})},
		"k0 null = k0 null: no values and NULL, 1 bits":   {nullTable(3), nullTable(2)},
		"k0 int64 = k0 int64: -9223372036854775808..9223372036854775806 and NULL, 64 bits": {
			single(i64, cell{raw: 1 << 63}, null), single(i64, cell{raw: 1<<63 - 2})},
		// All 64-bit values leave no code for NULL; the intersection of the ranges does.
		"k0 int64 = k0 int64: 9223372036854775807..9223372036854775807 and NULL, 1 bits": {
			single(i64, cell{raw: 1 << 63}, null, cell{raw: math.MaxInt64}),
			single(i64, cell{raw: math.MaxInt64}, null)},
	} {
		require.Equal(t, want, text(c[0], c[1]))
	}
	all := single(i64, cell{raw: 1 << 63}, null, cell{raw: math.MaxInt64})
	require.Equal(t, "k0 int64 = k0 int64\nhash of k0 (64 bits), verified", text(all, all))

	// A build side without NULL leaves out the NULLs of probe sides; with NULL it does not.
	for build, want := range map[arrow.Table][]uint32{single(i64, cell{raw: 7}): {1, 2},
		single(i64, null, cell{raw: 7}): {2}} {
		keys, err := PlanBuild(ctx, build, all.Schema(), keyNames(1), keyNames(1), relation.Right, false, true)
		require.NoError(t, err)
		plan, err := keys.Bind(ctx, single(i64, cell{raw: 7}, null, cell{raw: 8}))
		require.NoError(t, err)
		missing, err := plan.Keyless(ctx, relation.Left, KeylessAll, 0, 3)
		require.NoError(t, err)
		require.Equal(t, want, missing)
		require.Zero(t, plan.Nulls(relation.Left))
	}
}

func nullTable(rows int) arrow.Table {
	return tableOf([]arrow.Array{array.NewNull(rows)}, [][]int{{1}})
}
