package keys

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/relation"
)

const benchRows = 50_000_000

// benchColumn returns a column of scattered values below rows, in chunks of a million rows; nullEvery 0 means no nulls.
func benchColumn(b *testing.B, dt arrow.DataType, rows, nullEvery int) *arrow.Chunked {
	b.Helper()
	var chunks []arrow.Array
	for start := 0; start < rows; start += 1 << 20 {
		n := min(rows-start, 1<<20)
		rowBytes := dt.(arrow.FixedWidthDataType).Bytes()
		data := make([]byte, n*rowBytes)
		for i := range n {
			v := uint64(start+i) * 0x9e3779b97f4a7c15 % uint64(rows)
			for j := range rowBytes {
				data[i*rowBytes+j] = byte(v >> (8 * j))
			}
		}
		var validity *memory.Buffer
		nulls := 0
		if nullEvery > 0 {
			words := fullBits(n)
			for i := 0; i < n; i += nullEvery {
				clearBit(words, i)
			}
			nulls = array.UnknownNullCount
			validity = memory.NewBufferBytes(bitBytes(words))
		}
		chunks = append(chunks, array.MakeFromData(array.NewData(dt, n,
			[]*memory.Buffer{validity, memory.NewBufferBytes(data)}, nil, nulls, 0)))
	}
	return arrow.NewChunked(dt, chunks)
}

func benchTable(b *testing.B, columns ...*arrow.Chunked) arrow.Table {
	b.Helper()
	var fields []arrow.Field
	var cols []arrow.Column
	for i, c := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("k", i), Type: c.DataType(), Nullable: true})
		cols = append(cols, *arrow.NewColumn(fields[i], c))
	}
	return array.NewTable(arrow.NewSchema(fields, nil), cols, int64(columns[0].Len()))
}

func BenchmarkKeys(b *testing.B) {
	for _, c := range []struct {
		name      string
		types     []arrow.DataType
		nullEvery int
	}{
		{"keys=int64", []arrow.DataType{arrow.PrimitiveTypes.Int64}, 0},
		{"keys=int32", []arrow.DataType{arrow.PrimitiveTypes.Int32}, 0},
		{"keys=uint64", []arrow.DataType{arrow.PrimitiveTypes.Uint64}, 0},
		{"keys=float64", []arrow.DataType{arrow.PrimitiveTypes.Float64}, 0},
		{"keys=float32", []arrow.DataType{arrow.PrimitiveTypes.Float32}, 0},
		{"keys=decimal128", []arrow.DataType{&arrow.Decimal128Type{Precision: 15, Scale: 2}}, 0},
		{"keys=int64,int32", []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32}, 0},
		{"keys=int64/nulls=1%", []arrow.DataType{arrow.PrimitiveTypes.Int64}, 100},
		{"keys=int64/nulls=33%", []arrow.DataType{arrow.PrimitiveTypes.Int64}, 3},
	} {
		rows := benchRows / len(c.types)
		if c.name == "keys=decimal128" {
			rows /= 2
		}
		var columns []*arrow.Chunked
		var on []string
		for i, dt := range c.types {
			columns = append(columns, benchColumn(b, dt, rows, c.nullEvery))
			on = append(on, fmt.Sprint("k", i))
		}
		table := benchTable(b, columns...)
		empty := array.NewTableFromRecords(table.Schema(), nil)
		ctx := context.Background()
		b.Run(fmt.Sprintf("%s/rows=%d/stage=plan", c.name, rows), func(b *testing.B) {
			for b.Loop() {
				_, err := PlanJoin(ctx, table, empty, on, on)
				require.NoError(b, err)
			}
		})
		plan, err := PlanJoin(ctx, table, empty, on, on)
		require.NoError(b, err)
		open, err := PlanOpen(ctx, table, table, on, on, relation.Left, false)
		require.NoError(b, err)
		for stage, plan := range map[string]*Plan{"encode": plan, "encode open": open} {
			keys := make([]byte, int(plan.Rows(relation.Left))*plan.KeyBytes())
			ids := make([]uint32, plan.Rows(relation.Left))
			b.Run(fmt.Sprintf("%s/rows=%d/bits=%d/stage=%s", c.name, rows, plan.KeyBits(), stage), func(b *testing.B) {
				for b.Loop() {
					require.NoError(b, plan.Encode(ctx, relation.Left, keys, ids))
				}
			})
		}
	}
}

// BenchmarkTexts hashes strings of 16 bytes, and compares scattered pairs of equal ones.
func BenchmarkTexts(b *testing.B) {
	const left, right = 1 << 20, 1 << 22
	texts := func(rows int, key func(i int) uint64) arrow.Table {
		var chunks []arrow.Array
		for from := 0; from < rows; from += 1 << 18 {
			builder := array.NewStringBuilder(memory.DefaultAllocator)
			for i := from; i < from+1<<18; i++ {
				builder.Append(fmt.Sprintf("%016x", key(i)*0x9e3779b97f4a7c15))
			}
			chunks = append(chunks, builder.NewArray())
			builder.Release()
		}
		return benchTable(b, arrow.NewChunked(arrow.BinaryTypes.String, chunks))
	}
	random := rand.New(rand.NewPCG(1, 2))
	order, pairs := random.Perm(right), [2][]uint32{}
	for _, i := range order {
		pairs[relation.Left] = append(pairs[relation.Left], uint32(i*7%left))
		pairs[relation.Right] = append(pairs[relation.Right], uint32(i))
	}
	l := texts(left, func(i int) uint64 { return uint64(i) })
	r := texts(right, func(i int) uint64 { return uint64(i * 7 % left) })
	plan, err := PlanJoin(context.Background(), l, r, keyNames(1), keyNames(1))
	require.NoError(b, err)
	keys, keep := make([]byte, 8*right), fullBits(right)
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, plan.Encode(context.Background(), relation.Right, keys, nil))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/right, "ns/row")
	})
	b.Run("equal", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, plan.Equal(context.Background(), pairs, keep))
		}
		require.Equal(b, right, countBits(keep))
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/right, "ns/row")
	})
}
