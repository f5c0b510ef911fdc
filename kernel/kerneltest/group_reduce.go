package kerneltest

import (
	"math"
	"math/big"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.GroupReduce, groupReduceCase, groupReduceBenchmark)
}

// groupValues are drawn values of a reduction, in a column of their own: as integers, or as floats.
type groupValues struct {
	bits, shift, kind    uint32
	value, value2, valid argument
	integers             []*big.Int
	floats               []float64
	validBit             uint32
	isValid              []bool
}

func (m *maker) groupValues(n int, float bool) *groupValues {
	v := &groupValues{bits: 8 << m.IntN(5), kind: uint32(m.IntN(2))}
	if float {
		v.bits, v.kind = 32<<m.IntN(2), kernel.GroupFloat
	}
	words := m.column(n, min(max(32, v.bits), 64), 0)
	high := m.column(n, 64, 0)
	if v.bits < 32 {
		v.shift = v.bits * m.Uint32N(32/v.bits)
	}
	scale := math.Ldexp(1, m.IntN(8)*300-1200) // subnormal and infinite sums too
	for i := range words {
		if float && m.IntN(16) > 0 { // the others are any bits, NaN among them
			number := float64(int64(words[i])%1_000_003) * scale
			if words[i] = math.Float64bits(number); v.bits == 32 {
				words[i] = uint64(math.Float32bits(float32(number)))
			}
		}
		if float {
			number := math.Float64frombits(words[i])
			if v.bits == 32 {
				number = float64(math.Float32frombits(uint32(words[i])))
			}
			v.floats = append(v.floats, number)
			continue
		}
		number := new(big.Int).SetUint64(words[i] >> v.shift)
		if v.bits == 128 {
			number.Or(number, new(big.Int).Lsh(new(big.Int).SetUint64(high[i]), 64))
		}
		number.And(number, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(v.bits)), big.NewInt(1)))
		if v.kind == kernel.GroupSigned && number.Bit(int(v.bits)-1) == 1 {
			number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(v.bits)))
		}
		v.integers = append(v.integers, number)
		rounded, _ := new(big.Float).SetPrec(200).SetInt(number).Float64()
		v.floats = append(v.floats, rounded)
	}
	if v.value = inOf(min(max(32, v.bits), 64), words); v.bits == 128 {
		v.value2 = in(high)
	}
	v.isValid = slices.Repeat([]bool{true}, n)
	if m.IntN(2) == 0 {
		bits := m.column(n, 32, 0)
		v.valid, v.validBit = inOf(32, bits), m.Uint32N(32)
		for i := range v.isValid {
			v.isValid[i] = bits[i]>>v.validBit&1 == 1
		}
	}
	return v
}

// words128 are the two words of a number modulo 2^128.
func words128(a *big.Int) (low, high uint64) {
	low = new(big.Int).And(a, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return low, new(big.Int).And(new(big.Int).Rsh(a, 64), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

func floatBits(a float64) uint64 {
	if math.IsNaN(a) {
		return 0x7ff8000000000000
	}
	return math.Float64bits(a)
}

func groupReduceCase(m *maker) *Case {
	// m.rows counts segments, of which many have one row.
	lengths, rows := m.column(m.rows, 32, 0), 0
	segments := make([]uint32, m.rows)
	for i := range segments {
		segments[i] = uint32(rows)
		rows += 1 + int(lengths[i]%40)/max(1, int(lengths[i]/64%8))
	}
	held := rows + m.IntN(3)
	order := make([]int, rows)
	idsArg := argument{}
	if m.IntN(2) == 0 {
		ids := make([]uint32, rows)
		for i := range ids {
			ids[i] = m.Uint32N(uint32(held))
			order[i] = int(ids[i])
		}
		idsArg = in(ids)
	} else {
		for i := range order {
			order[i] = i
		}
	}
	parts := make([][]int, m.rows)
	for s := range segments {
		end := rows
		if s+1 < len(segments) {
			end = int(segments[s+1])
		}
		parts[s] = order[segments[s]:end]
	}
	r := m.reduction(held, parts)
	r.IDs, r.Segments, r.Rows, r.Count = idsArg, in(segments), uint32(rows), uint32(m.rows)
	return m.newCase(m.groups(), r)
}

// reduction draws values of rows rows, and says what the states of parts of them are.
func (m *maker) reduction(rows int, parts [][]int) kernel.GroupReduceArgsOf[argument] {
	op := kernel.GroupOp(m.config["op"])
	v := m.groupValues(rows, op == kernel.GroupSumFloat || op != kernel.GroupSum && m.IntN(2) == 0)
	args := kernel.GroupReduceArgsOf[argument]{Value: v.value, Value2: v.value2, Valid: v.valid, ValidBit: v.validBit,
		Bits: v.bits, Shift: v.shift, Kind: v.kind, FirstRow: m.Uint32(), FirstRowHigh: m.Uint32N(9)}
	greatest := m.IntN(2) == 0
	if greatest && op == kernel.GroupLeast {
		args.Flip = math.MaxUint32
	}
	none := (op == kernel.GroupSum || op == kernel.GroupLeast && v.kind == kernel.GroupUnsigned) && m.IntN(4) == 0
	if none {
		args.Value, args.Value2 = argument{}, argument{}
		first := new(big.Int).SetUint64(uint64(args.FirstRow) | uint64(args.FirstRowHigh)<<32)
		for i := range v.integers {
			v.integers[i] = big.NewInt(1)
			if op == kernel.GroupLeast {
				v.integers[i] = new(big.Int).Add(first, big.NewInt(int64(i)))
			}
		}
	}
	states := [3][]uint64{make([]uint64, len(parts)), make([]uint64, len(parts)), make([]uint64, len(parts))}
	for s, part := range parts {
		part = slices.DeleteFunc(slices.Clone(part), func(row int) bool { return !v.isValid[row] })
		state := groupState(op, v, part, greatest)
		for i := range states {
			states[i][s] = state[i]
		}
	}
	args.State = out(states[0])
	if op == kernel.GroupMoments || v.bits == 128 || m.IntN(4) > 0 {
		args.State2 = out(states[1])
	}
	if op == kernel.GroupMoments {
		args.State3 = out(states[2])
	}
	return args
}

// groupState is the state of some rows.
func groupState(op kernel.GroupOp, v *groupValues, rows []int, greatest bool) (state [3]uint64) {
	switch op {
	case kernel.GroupSum:
		sum := new(big.Int)
		for _, row := range rows {
			sum.Add(sum, v.integers[row])
		}
		state[0], state[1] = words128(sum)
	case kernel.GroupSumFloat:
		sum := math.Copysign(0, -1)
		for _, row := range rows {
			sum += v.floats[row]
		}
		state[0] = floatBits(sum)
	case kernel.GroupLeast:
		best := slices.Clone(rows)
		slices.SortStableFunc(best, func(a, b int) int {
			if greatest {
				a, b = b, a
			}
			return v.compare(a, b)
		})
		switch {
		case len(rows) == 0:
			return noLeast(v, greatest)
		case v.kind == kernel.GroupFloat:
			state[0] = floatBits(v.floats[best[0]])
		default:
			if state[0], state[1] = words128(v.integers[best[0]]); v.bits < 128 {
				state[1] = 0
			}
		}
	case kernel.GroupMoments:
		mean, squares := 0.0, 0.0
		for _, row := range rows {
			mean += v.floats[row]
		}
		if len(rows) > 0 {
			mean /= float64(len(rows))
		}
		for _, row := range rows {
			away := v.floats[row] - mean
			squares += float64(away * away)
		}
		state = [3]uint64{floatBits(mean), floatBits(squares), uint64(len(rows))}
	}
	return state
}

func (v *groupValues) compare(a, b int) int {
	if v.kind != kernel.GroupFloat {
		return v.integers[a].Cmp(v.integers[b])
	}
	x, y := floatBits(v.floats[a]), floatBits(v.floats[b])
	order := func(a uint64) int64 { // as two's complement
		if a>>63 == 1 {
			return int64(^a ^ 1<<63)
		}
		return int64(a)
	}
	switch {
	case order(x) < order(y):
		return -1
	case order(x) > order(y):
		return 1
	}
	return 0
}

// noLeast is the identity of min or, if greatest, of max.
func noLeast(v *groupValues, greatest bool) (state [3]uint64) {
	code, signed := uint64(math.MaxUint64), uint64(0)
	if greatest {
		code = 0
	}
	if v.kind == kernel.GroupSigned {
		signed = 1 << 63
	}
	switch {
	case v.kind == kernel.GroupFloat && greatest:
		state[0] = math.Float64bits(math.Inf(-1))
	case v.kind == kernel.GroupFloat:
		state[0] = 0x7ff8000000000000
	case v.bits == 128:
		state[0], state[1] = code, code^signed
	default:
		state[0] = code ^ signed
	}
	return state
}

func groupReduceBenchmark(m *maker) *Dispatch {
	segments := words((m.rows+31)/32, 32, func(i int) uint64 { return uint64(i) * 32 })
	n := len(segments) / 4
	args := kernel.GroupReduceArgsOf[[]byte]{Segments: segments, State: zeros(n, 64), State2: zeros(n, 64),
		Value: words(m.rows, 64, func(i int) uint64 { return math.Float64bits(float64(m.IntN(1000))) }),
		Rows:  uint32(m.rows), Count: uint32(n), Bits: 64, Kind: kernel.GroupSigned}
	if m.config["op"] != uint32(kernel.GroupSum) {
		args.Kind = kernel.GroupFloat
	}
	if m.config["op"] == uint32(kernel.GroupMoments) {
		args.State3 = zeros(n, 64)
	}
	return m.dispatch(n, args)
}
