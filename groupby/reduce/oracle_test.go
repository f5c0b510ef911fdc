package reduce

import (
	"math"
	"math/big"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// rows are rows on the host: key codes and payload columns, of 4-byte words as their low halves.
type rows struct {
	keyBytes int
	keys     []uint64
	payload  [][]uint64
}

// payloadBytes are the columns of tests: an int64, the halves of a 128-bit number, a float32, a float64, and a word
// with bits 0 to 3 for validity, bits 8 to 15 and bits 16 to 31.
var payloadBytes = []int{8, 8, 8, 4, 8, 4}

// oracle is the state of one group, as simple as can be: the values themselves.
type oracle struct {
	rows     []uint64
	integers []*big.Int
	floats   []float64
}

// oracles collects the values of a reduction by key, of the rows from number firstRow on.
func oracles(of map[uint64]*oracle, r *rows, firstRow uint64, v *Value) {
	for i, key := range r.keys {
		g := of[key]
		if g == nil {
			g = new(oracle)
			of[key] = g
		}
		if v.ValidWord >= 0 && r.payload[v.ValidWord][i]>>v.ValidBit&1 == 0 {
			continue
		}
		g.rows = append(g.rows, firstRow+uint64(i))
		word := r.payload[v.Word][i]
		if v.Kind == Float {
			number := math.Float64frombits(word)
			if v.Bits == 32 {
				number = float64(math.Float32frombits(uint32(word)))
			}
			g.floats = append(g.floats, number)
			continue
		}
		number := new(big.Int).SetUint64(word >> v.Shift)
		if v.Bits == 128 {
			number.Add(number, new(big.Int).Lsh(new(big.Int).SetUint64(r.payload[v.Word+1][i]), 64))
		}
		number.Mod(number, new(big.Int).Lsh(big.NewInt(1), uint(v.Bits)))
		if v.Kind == Signed && number.Bit(v.Bits-1) == 1 {
			number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(v.Bits)))
		}
		rounded, _ := new(big.Float).SetInt(number).Float64()
		g.integers, g.floats = append(g.integers, number), append(g.floats, rounded)
	}
}

// words are the two words of a number modulo 2^128.
func words(a *big.Int) []uint64 {
	a = new(big.Int).Mod(a, new(big.Int).Lsh(big.NewInt(1), 128))
	low := new(big.Int).Mod(a, new(big.Int).Lsh(big.NewInt(1), 64))
	return []uint64{low.Uint64(), new(big.Int).Rsh(a, 64).Uint64()}
}

// wrong returns whether a state is wrong for the group.
func (g *oracle) wrong(r *Reduction, state []uint64) bool {
	v := &r.Value
	switch {
	case r.Func == Count:
		return state[0] != uint64(len(g.rows))
	case len(g.rows) == 0:
		return r.Func == Sum && v.Kind != Float && state[0]|state[1] != 0
	case r.Func == First:
		return state[0] != g.rows[0]
	case r.Func == Moments:
		return g.wrongMoments(state)
	case r.Func == Sum && v.Kind == Float:
		sum, size := 0.0, 0.0
		for _, a := range g.floats {
			sum += a
			size += math.Abs(a)
		}
		return !near(math.Float64frombits(state[0]), sum, size*1e-13)
	case r.Func == Sum:
		sum := new(big.Int)
		for _, a := range g.integers {
			sum.Add(sum, a)
		}
		want := words(sum)
		return state[0] != want[0] || state[1] != want[1]
	case v.Kind == Float:
		best := g.floats[0]
		for _, a := range g.floats {
			if r.Func == Max && (a > best || a != a) || r.Func == Min && (a < best || best != best) {
				best = a
			}
		}
		got := math.Float64frombits(state[0])
		return got != best && (got == got || best == best)
	}
	best := g.integers[0]
	for _, a := range g.integers {
		if order := a.Cmp(best); r.Func == Max && order > 0 || r.Func == Min && order < 0 {
			best = a
		}
	}
	want := words(best)
	return state[0] != want[0] || v.Bits == 128 && state[1] != want[1]
}

func (g *oracle) wrongMoments(state []uint64) bool {
	mean, size, squares := 0.0, 0.0, 0.0
	for _, a := range g.floats {
		mean += a / float64(len(g.floats))
		size = max(size, math.Abs(a))
	}
	for _, a := range g.floats {
		squares += (a - mean) * (a - mean)
	}
	return !near(math.Float64frombits(state[0]), mean, size*1e-12) ||
		!near(math.Float64frombits(state[1]), squares, size*size*1e-10*float64(len(g.floats)))
}

// near compares numbers; those that are not finite must be the same.
func near(got, want, off float64) bool {
	if got == want || got != got && want != want {
		return true
	}
	return math.Abs(got-want) <= off && !math.IsInf(off, 0)
}

// bytes are the bytes of a column.
func bytes(column []uint64, width int) []byte {
	if width == 8 {
		return backend.AsBytes(column)
	}
	narrow := make([]uint32, len(column))
	for i, v := range column {
		narrow[i] = uint32(v)
	}
	return backend.AsBytes(narrow)
}

// numbers are the values of a downloaded column.
func numbers(from []byte, v relation.Values) []uint64 {
	if v.Bytes == 8 {
		return backend.Longs(from)
	}
	var wide []uint64
	for _, a := range backend.Words(from) {
		wide = append(wide, uint64(a))
	}
	return wide
}
