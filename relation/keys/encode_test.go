package keys

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// TestEncodeAcrossBlocks encodes numbers of rows around the sizes of strips and blocks, with other chunks in each
// column, and compares with a plain packing.
func TestEncodeAcrossBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 63, 64, 65, StripRows - 1, StripRows, StripRows + 1, relation.BlockRows - 1,
		relation.BlockRows,
		relation.BlockRows + 1, 3*relation.BlockRows + 77} {
		for _, nullEvery := range []int{0, 1, 2, 97, 3 * relation.BlockRows} {
			types := []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint64,
				arrow.PrimitiveTypes.Int32}
			cells := make([][]cell, len(types))
			columns, cuts := make([]arrow.Array, len(types)), make([][]int, len(types))
			for k, dt := range types {
				cells[k] = make([]cell, rows)
				for i := range cells[k] {
					cells[k][i] = cell{raw: uint64(random.IntN(1000)), null: k > 0 && nullEvery > 0 &&
						(i+k)%nullEvery == 0}
				}
				columns[k] = columnOf(dt, cells[k], k*37)
				cuts[k] = [][]int{{1, rows / 2}, {rows / 3, rows/3 + 1, rows - 1}, {relation.BlockRows, relation.BlockRows + 1}}[k]
			}
			table := tableOf(columns, cuts)
			edges := tableOf([]arrow.Array{columnOf(types[0], []cell{{raw: 0}, {raw: 1023}}, 0),
				columnOf(types[1], []cell{{raw: 0}, {raw: 1023}}, 0),
				columnOf(types[2], []cell{{raw: 0}, {raw: 1023}}, 0)}, make([][]int, 3))
			plan, err := PlanJoin(context.Background(), table, edges, keyNames(3), keyNames(3))
			require.NoError(t, err)
			require.Equal(t, 30, plan.KeyBits())

			var wantKeys, wantIDs []uint32
			for i := range rows {
				if !cells[1][i].null && !cells[2][i].null {
					wantKeys = append(wantKeys, uint32(cells[0][i].raw<<20|cells[1][i].raw<<10|cells[2][i].raw))
					wantIDs = append(wantIDs, uint32(i))
				}
			}
			require.EqualValues(t, len(wantKeys), plan.Rows(relation.Left))
			assert.Equal(t, len(wantKeys) < rows, plan.LeavesOut(relation.Left))
			const marker = 0xa5
			keys, ids := bytes.Repeat([]byte{marker}, 4*rows+64), relation.View[uint32](bytes.Repeat([]byte{marker}, 4*rows+64))
			require.NoError(t, plan.Encode(context.Background(), relation.Left, keys, ids))
			require.True(t, slices.Equal(wantKeys, relation.View[uint32](keys)[:len(wantKeys)]), "rows=%d nullEvery=%d", rows,
				nullEvery)
			behind := keys[4*len(wantKeys):]
			require.Equal(t, len(behind), bytes.Count(behind, []byte{marker}), "written behind the last code")
			written := 0
			if plan.LeavesOut(relation.Left) {
				written = len(wantIDs)
				require.True(t, slices.Equal(wantIDs, ids[:written]), "rows=%d nullEvery=%d", rows, nullEvery)
			}
			behind = backend.AsBytes(ids[written:])
			require.Equal(t, len(behind), bytes.Count(behind, []byte{marker}), "written behind the last row number")
		}
	}
}

// TestEncode64 packs three columns into 64 bits exactly.
func TestEncode64(t *testing.T) {
	edge := func(dt arrow.DataType, lo, hi uint64) arrow.Array {
		return columnOf(dt, []cell{{raw: lo}, {raw: hi}, {raw: lo}}, 5)
	}
	table := tableOf([]arrow.Array{
		edge(arrow.PrimitiveTypes.Int32, 1<<31, 1<<31-1), edge(arrow.PrimitiveTypes.Int64, 7, 7),
		edge(arrow.PrimitiveTypes.Uint16, 0, 1<<16-1), edge(arrow.PrimitiveTypes.Int16, 1<<15, 1<<15-1),
	}, [][]int{{1}, {2}, nil, {0, 1}})
	require.NoError(t, checkPlan(table, table, keyNames(4)))
	plan, err := PlanJoin(context.Background(), table, table, keyNames(4), keyNames(4))
	require.NoError(t, err)
	require.Equal(t, 64, plan.KeyBits())
	keys := make([]byte, 24)
	require.NoError(t, plan.Encode(context.Background(), relation.Right, keys, nil))
	assert.Equal(t, []uint64{0, ^uint64(0), 0}, relation.View[uint64](keys))
}

// TestConstantKeysClearTheOutput: codes of 0 bits must still be written.
func TestConstantKeysClearTheOutput(t *testing.T) {
	table := single(arrow.PrimitiveTypes.Int64, cell{raw: 7}, cell{null: true}, cell{raw: 7})
	plan, err := PlanJoin(context.Background(), table,
		tableOf([]arrow.Array{array.NewInt64Data(columnOf(arrow.PrimitiveTypes.Int64, nil, 0).Data())}, [][]int{nil}),
		keyNames(1), keyNames(1))
	require.NoError(t, err)
	keys, ids := bytes.Repeat([]byte{0xff}, 8), make([]uint32, 2)
	require.NoError(t, plan.Encode(context.Background(), relation.Left, keys, ids))
	assert.Equal(t, make([]byte, 8), keys)
	assert.Equal(t, []uint32{0, 2}, ids)
}
