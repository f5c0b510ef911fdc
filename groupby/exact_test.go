package groupby_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// exactTypes are types whose means, variances and deviations are correctly rounded.
var exactTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32,
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
	&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: -3},
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 37},
	&arrow.Decimal256Type{Precision: 76, Scale: 10},
}

// exactColumn has integers as the unscaled values of a type. Values of NULL have all bits set.
func exactColumn(dtype arrow.DataType, values []*big.Int) arrow.Array {
	width := dtype.(arrow.FixedWidthDataType).BitWidth() / 8
	bytes, valid, nulls := make([]byte, 0, width*len(values)), make([]byte, (len(values)+7)/8), 0
	for i, v := range values {
		if v == nil {
			v = big.NewInt(-1)
			nulls++
		} else {
			valid[i/8] |= 1 << (i % 8)
		}
		whole := new(big.Int).And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
		words := whole.FillBytes(make([]byte, 32))
		for b := range width {
			bytes = append(bytes, words[31-b])
		}
	}
	data := array.NewData(dtype, len(values),
		[]*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(bytes)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// exactTable has groups k of values x.
func exactTable(dtype arrow.DataType, groups [][]*big.Int) arrow.Table {
	var keys []uint32
	var values []*big.Int
	for k, of := range groups {
		for _, v := range of {
			keys, values = append(keys, uint32(k)), append(values, v)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(keys), func(i, j int) {
		keys[i], keys[j] = keys[j], keys[i]
		values[i], values[j] = values[j], values[i]
	})
	data := array.NewData(arrow.PrimitiveTypes.Uint32, len(keys),
		[]*memory.Buffer{nil, memory.NewBufferBytes(backend.AsBytes(keys))}, nil, 0, 0)
	defer data.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "x", Type: dtype, Nullable: true}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{array.NewUint32Data(data), exactColumn(dtype, values)},
		int64(len(keys)))
	defer batch.Release()
	at := batch.NumRows() / 3 // the second chunk begins within a byte of the validity
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch.NewSlice(0, at), batch.NewSlice(at, batch.NumRows())})
}

// rounded are the mean, variance and deviation of values; NaN stands for NULL.
func rounded(dtype arrow.DataType, values []*big.Int) (of [3]float64) {
	unit := big.NewRat(1, 1)
	if d, ok := dtype.(arrow.DecimalType); ok {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.GetScale(), -d.GetScale()))), nil)
		if unit.SetFrac(big.NewInt(1), power); d.GetScale() < 0 {
			unit.Inv(unit)
		}
	}
	var numbers []*big.Rat
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range values {
		if v != nil {
			x := new(big.Rat).SetInt(v)
			numbers = append(numbers, x.Mul(x, unit))
			sum.Add(sum, x)
		}
	}
	of = [3]float64{math.NaN(), math.NaN(), math.NaN()}
	if len(numbers) == 0 {
		return of
	}
	sum.Quo(sum, big.NewRat(int64(len(numbers)), 1))
	if of[0], _ = sum.Float64(); len(numbers) == 1 {
		return of
	}
	for _, x := range numbers {
		x.Sub(x, sum)
		squares.Add(squares, x.Mul(x, x))
	}
	squares.Quo(squares, big.NewRat(int64(len(numbers)-1), 1))
	of[1], _ = squares.Float64()
	wide := new(big.Float).SetPrec(1000).SetRat(squares)
	of[2], _ = wide.Sqrt(wide).Float64()
	return of
}

// requireRounded groups x by k, as a table and as a stream of parts, and compares all bits of the results.
func requireRounded(t *testing.T, e *groupby.Engine, dtype arrow.DataType, groups [][]*big.Int) {
	t.Helper()
	table := exactTable(dtype, groups)
	defer table.Release()
	layout, err := groupby.NewLayout(table.Schema(), groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{
		{Func: groupby.Avg, Column: "x"}, {Func: groupby.Var, Column: "x"}, {Func: groupby.Stddev, Column: "x"}}})
	require.NoError(t, err)
	compare := func(r *groupby.Result, err error) {
		t.Helper()
		require.NoError(t, err)
		defer r.Close()
		require.EqualValues(t, len(groups), r.Rows())
		for batch, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			for row, k := range batch.Column(0).(*array.Uint32).Values() {
				want := rounded(dtype, groups[k])
				for i, name := range []string{"avg", "var", "stddev"} {
					got := math.NaN()
					if column := batch.Column(1 + i).(*array.Float64); !column.IsNull(row) {
						got = column.Value(row)
					}
					require.True(t, got == want[i] || got != got && want[i] != want[i], "%s of %v is %v, not %v", name,
						groups[k], got, want[i])
				}
			}
			batch.Release()
		}
	}
	compare(e.GroupLayout(t.Context(), layout, table))
	parts := *e
	inParts(&parts, table.NumRows()/3+1)
	compare(parts.Stream(t.Context(), layout, batchesOf(table)))
	compare(parts.GroupLayout(t.Context(), layout, table)) // in parts, so that squares take less memory
}

// TestRounded: means, variances and deviations of integers and decimals have only one rounding error, whatever their
// sizes, on all devices.
func TestRounded(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for n, dtype := range exactTypes {
			t.Run(dtype.String(), func(t *testing.T) {
				random := rand.New(rand.NewPCG(7, uint64(n)))
				width := dtype.(arrow.FixedWidthDataType).BitWidth()
				isSigned := dtype.ID() != arrow.UINT16 && dtype.ID() != arrow.UINT32 && dtype.ID() != arrow.UINT64
				most := new(big.Int).Lsh(big.NewInt(1), uint(width))
				if isSigned {
					most.Rsh(most, 1)
				}
				greatest, least := new(big.Int).Sub(most, big.NewInt(1)), new(big.Int)
				if isSigned {
					least.Neg(most)
				}
				groups := [][]*big.Int{{nil, nil}, {greatest}, {nil, least}, {least, least, nil, least},
					{greatest, greatest, least}, {greatest, least, least, greatest, greatest}}
				for range devicetest.Short(6, 30) {
					var of []*big.Int
					bits := random.IntN(width) // of all values, so that some groups are of small numbers
					for range random.IntN(20) + 2 {
						var bytes [32]byte
						for w := range 4 {
							binary.LittleEndian.PutUint64(bytes[8*w:], random.Uint64())
						}
						v := new(big.Int).SetBytes(bytes[:])
						if v.Rsh(v, uint(256-bits)); isSigned && random.IntN(3) == 0 {
							v.Neg(v)
						}
						if random.IntN(5) == 0 {
							v = nil
						}
						of = append(of, v)
					}
					groups = append(groups, of)
				}
				requireRounded(t, engine(t, device), dtype, groups)
			})
		}
	})
}

// TestRoundedCases are results that two roundings make wrong, and what is lost where values become floats.
func TestRoundedCases(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		e, digits := engine(t, device), func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
		tenth := []*big.Int{digits(36)}
		wide := &arrow.Decimal128Type{Precision: 38, Scale: 37}
		require.Equal(t, 0.1, rounded(wide, tenth)[0])
		requireRounded(t, e, wide, [][]*big.Int{tenth})
		var far []*big.Int
		for i := range int64(7) { // 10^12 + i
			v := new(big.Int).Add(digits(12), big.NewInt(i))
			far = append(far, v.Mul(v, digits(6)))
		}
		six := &arrow.Decimal128Type{Precision: 30, Scale: 6}
		require.Equal(t, 4.666666666666667, rounded(six, far)[1])
		requireRounded(t, e, six, [][]*big.Int{far})
	})
}

// TestRoundedSquares: values of 64 bits are squared to 64 bits as long as all squares have room.
func TestRoundedSquares(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		e := engine(t, device)
		for _, greatest := range []int64{1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 33, 1<<63 - 1} {
			v := big.NewInt(greatest)
			group := []*big.Int{v, big.NewInt(1), v, nil, v, big.NewInt(greatest / 2)}
			for _, dtype := range []arrow.DataType{arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64} {
				requireRounded(t, e, dtype, [][]*big.Int{group, {v, v}, {big.NewInt(0), v}})
			}
			least := new(big.Int).Not(v) // -greatest - 1
			requireRounded(t, e, arrow.PrimitiveTypes.Int64, [][]*big.Int{{least, least, big.NewInt(2)}, {least, v}, {least}})
		}
	})
}

// TestNearestRoot: the root is right for all numbers that round down to the quotient, and big numbers are rarely
// needed.
func TestNearestRoot(t *testing.T) {
	random, left := rand.New(rand.NewPCG(1, 2)), 0
	const draws = 3000
	for range draws {
		q := random.Uint64() | 1<<61
		if root := random.Uint64()>>32 | 1<<31; random.IntN(4) == 0 {
			q = root*root + uint64(random.IntN(3)) - 1
		}
		got, ok := groupby.NearestRoot(q)
		if !ok {
			left++
			continue
		}
		for _, more := range []float64{0, 0.5, 0.999} {
			x := new(big.Float).SetPrec(300).SetUint64(q)
			x.Add(x, big.NewFloat(more))
			want, _ := x.Sqrt(x).Float64()
			require.Equal(t, want, got, "root of %d + %v", q, more)
		}
	}
	require.Less(t, left, draws/100)
}

// Sums that are narrowed have at most 38 digits, whatever their number of bits.
func TestNarrowed(t *testing.T) {
	digits, _ := new(big.Int).SetString("1"+strings.Repeat("0", 38), 10)
	of := &arrow.Decimal128Type{Precision: 38}
	for _, c := range []struct {
		sum   *big.Int
		holds bool
	}{
		{big.NewInt(-1), true},
		{new(big.Int).Sub(digits, big.NewInt(1)), true},
		{new(big.Int).Sub(big.NewInt(1), digits), true},
		{digits, false},
		{new(big.Int).Neg(digits), false},
		{new(big.Int).Lsh(big.NewInt(-1), 127), false},
		{new(big.Int).Lsh(big.NewInt(1), 200), false},
	} {
		b := array.NewDecimal256Builder(memory.DefaultAllocator, &arrow.Decimal256Type{Precision: 76})
		b.AppendNull()
		b.Append(decimal256.FromBigInt(c.sum))
		sums := b.NewDecimal256Array()
		b.Release()
		narrow, err := groupby.Narrow(sums, "x", of)
		if sums.Release(); !c.holds {
			require.ErrorIs(t, err, backend.ErrLimit, "%s", c.sum)
			continue
		}
		require.NoError(t, err, "%s", c.sum)
		require.Equal(t, 1, narrow.NullN())
		require.Equal(t, c.sum.String(), narrow.ValueStr(1))
		narrow.Release()
	}
}
