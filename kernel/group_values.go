package kernel

import (
	"math"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
)

// groupColumn are the values that a reduction reads.
type groupColumn struct {
	ids, narrow, valid    []uint32
	value, value2, value3 []uint64
	bits, shift, kind     uint32
	validBit              uint32
	firstRow, flip        uint64
}

// row returns where row i is, and whether it takes part.
func (c *groupColumn) row(i int) (row int, valid bool) {
	row = i
	if c.ids != nil {
		row = int(c.ids[i])
	}
	return row, c.valid == nil || c.valid[row]>>c.validBit&1 == 1
}

// integer returns a value as a 128-bit two's complement.
func (c *groupColumn) integer(row int) (low, high uint64) {
	switch {
	case c.narrow == nil:
		return c.firstRow + uint64(row), 0
	case c.bits == 128:
		return c.value[row], c.value2[row]
	case c.bits == 64:
		low = c.value[row]
	default:
		low = uint64(c.narrow[row]>>c.shift) << (64 - c.bits) >> (64 - c.bits)
	}
	if c.kind == GroupSigned {
		low = uint64(int64(low<<(64-c.bits)) >> (64 - c.bits))
		high = uint64(int64(low) >> 63)
	}
	return low, high
}

// float returns a value as a 64-bit float.
func (c *groupColumn) float(row int) float64 {
	if c.kind == GroupFloat {
		switch c.bits {
		case 64:
			return math.Float64frombits(c.value[row])
		case 32:
			return float64(math.Float32frombits(c.narrow[row]))
		}
		return half(uint16(c.narrow[row] >> c.shift))
	}
	low, high := c.integer(row)
	if c.kind == GroupSigned && int64(high) < 0 {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
		return -float128(low, high)
	}
	return float128(low, high)
}

// float128 rounds an unsigned 128-bit number.
func float128(low, high uint64) float64 {
	if high == 0 {
		return float64(low)
	}
	zeros := bits.LeadingZeros64(high)
	top := high<<zeros | low>>(64-zeros)
	if low<<zeros != 0 {
		top |= 1
	}
	return math.Ldexp(float64(top), 64-zeros)
}

// half returns the value of a 16-bit float.
func half(a uint16) float64 {
	field, fraction, sign := int(a>>10&31), float64(a&1023), 1-2*float64(a>>15)
	switch field {
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	case 0:
		return math.Copysign(math.Ldexp(fraction, -24), sign)
	}
	return sign * math.Ldexp(1024+fraction, field-25)
}

// canonical returns the bits of a float, with one pattern for all NaN, the one that kernels make.
func canonical(a float64) uint64 {
	if a != a {
		return 0x7ff8000000000000
	}
	return math.Float64bits(a)
}

// ordered returns an unsigned 128-bit number with the order of the values.
func (c *groupColumn) ordered(row int) (low, high uint64) {
	if c.kind == GroupFloat {
		low = canonical(c.float(row))
		return low ^ (uint64(int64(low)>>63) | 1<<63), 0
	}
	return c.signedOrder(c.integer(row))
}

// signedOrder keeps numbers of 64 bits or fewer in the low half, and the high half 0.
func (c *groupColumn) signedOrder(low, high uint64) (uint64, uint64) {
	signed := uint64(0)
	if c.kind == GroupSigned {
		signed = 1 << 63
	}
	if c.bits == 128 {
		return low, high ^ signed
	}
	return low ^ signed, 0
}

// orderedValue is the inverse of ordered.
func (c *groupColumn) orderedValue(low, high uint64) (uint64, uint64) {
	if c.kind == GroupFloat {
		return low ^ (^uint64(int64(low)>>63) | 1<<63), 0
	}
	return c.signedOrder(low, high)
}

// aboveAll is the identity of min over ordered numbers, or of max if flip inverts them; for floats NaN or, if flip is
// all ones, minus infinity.
func (c *groupColumn) aboveAll() (low, high uint64) {
	switch {
	case c.bits == 128:
		return ^uint64(0), ^uint64(0)
	case c.kind != GroupFloat:
		return ^uint64(0), c.flip
	case c.flip == 0:
		return 0xfff8 << 48, 0
	}
	return 0xfff0 << 48, c.flip
}

// groupStates are the states of some groups; columns that are not wanted are nil.
type groupStates [3][]uint64

func groupStatesOf(state, state2, state3 []byte) groupStates {
	return groupStates{backend.Longs(state), backend.Longs(state2), backend.Longs(state3)}
}

// part are the states of the groups [first, end).
func (s groupStates) part(first, end int) groupStates {
	for i := range s {
		if s[i] != nil {
			s[i] = s[i][first:end]
		}
	}
	return s
}

// groupBlockRows are the rows that are decoded at a time: their values and groups stay in the first-level cache.
const groupBlockRows = 512

// groupBlock are decoded rows that take part.
type groupBlock struct {
	at, row   [groupBlockRows]uint32 // the index of the state; where in the columns the row is
	low, high [groupBlockRows]uint64
	n         int
}

// groupRows says which state a row belongs to: by the first row of each state, or by numbers.
type groupRows struct {
	starts, ids []uint32
}

// states sets the indices of the states of the rows from row on.
func (r *groupRows) states(row uint32, at []uint32) {
	if r.starts == nil {
		copy(at, r.ids[row:])
		return
	}
	next, _ := slices.BinarySearch(r.starts, row+1) // the others as they come
	for i := range at {
		for next < len(r.starts) && r.starts[next] <= row+uint32(i) {
			next++
		}
		at[i] = uint32(next - 1)
	}
}

// reduce sets states to the reduction of the rows [first, end).
func (c *groupColumn) reduce(op GroupOp, states groupStates, b *groupBlock, first, end uint32,
	rows *groupRows) {
	c.initialize(op, states)
	c.blocks(op, states, b, first, end, rows)
	if op != GroupMoments {
		return
	}
	// The second pass: deviations from the mean. That is more exact than to update both with each row, and takes one
	// division for each group.
	for i, sum := range states[0] {
		if states[2][i] > 0 {
			states[0][i] = canonical(math.Float64frombits(sum) / float64(states[2][i]))
		}
	}
	c.blocks(groupDeviations, states, b, first, end, rows)
}

// groupDeviations is the second pass of GroupMoments.
const groupDeviations = GroupAny + 1

// initialize sets states to the identity of the reduction.
func (c *groupColumn) initialize(op GroupOp, states groupStates) {
	var low, high uint64
	switch op {
	case GroupSumFloat:
		low = 1 << 63 // -0, which changes no number
	case GroupLeast:
		low, high = c.aboveAll()
		low, high = c.orderedValue(low^c.flip, high^c.flip)
	}
	for i := range states[0] {
		states[0][i] = low
	}
	for i := range states[1] {
		states[1][i] = high
	}
	clear(states[2])
}

func (c *groupColumn) blocks(op GroupOp, states groupStates, b *groupBlock, first, end uint32,
	rows *groupRows) {
	for ; first < end; first += min(groupBlockRows, end-first) {
		b.n = int(min(groupBlockRows, end-first))
		if plain := c.ids == nil && c.valid == nil; plain && rows.ids != nil && op == GroupSum &&
			(c.narrow == nil || c.bits == 64) {
			c.addPlain(states, rows.ids[first:][:b.n], first)
			continue
		}
		rows.states(first, b.at[:b.n])
		c.take(b, first)
		switch op {
		case GroupSum:
			c.addIntegers(states, b)
		case GroupSumFloat:
			c.addFloats(states, b)
		case GroupLeast:
			c.least(states, b)
		case GroupMoments:
			c.addMoments(states, b)
		case groupDeviations:
			c.addDeviations(states, b)
		}
	}
}

// take finds where the rows of a block are, and drops those that do not take part.
func (c *groupColumn) take(b *groupBlock, first uint32) {
	if c.ids != nil {
		copy(b.row[:b.n], c.ids[first:])
	} else {
		for i := range b.row[:b.n] {
			b.row[i] = first + uint32(i)
		}
	}
	if c.valid == nil {
		return
	}
	n := 0
	for i, row := range b.row[:b.n] {
		b.row[n], b.at[n] = row, b.at[i]
		n += int(c.valid[row] >> c.validBit & 1)
	}
	b.n = n
}

// integers decodes the values of a block.
func (c *groupColumn) integers(b *groupBlock) {
	low := b.low[:b.n]
	switch rows := b.row[:b.n]; {
	case c.narrow == nil:
		for i, row := range rows {
			low[i] = c.firstRow + uint64(row)
		}
	case c.bits >= 64:
		for i, row := range rows {
			low[i] = c.value[row]
		}
	default:
		up := 64 - c.bits
		for i, row := range rows {
			low[i] = uint64(c.narrow[row]>>c.shift) << up >> up
		}
	}
	signed := c.kind == GroupSigned && c.narrow != nil
	switch {
	case c.bits == 128 && c.narrow != nil:
		for i, row := range b.row[:b.n] {
			b.high[i] = c.value2[row]
		}
	case signed:
		up := (64 - c.bits) & 63
		for i, l := range low {
			low[i] = uint64(int64(l<<up) >> up)
			b.high[i] = uint64(int64(low[i]) >> 63)
		}
	default:
		clear(b.high[:b.n])
	}
}

func (c *groupColumn) addIntegers(states groupStates, b *groupBlock) {
	state, at := states[0], b.at[:b.n]
	if c.narrow == nil {
		for _, s := range at {
			state[s]++
		}
		return
	}
	c.integers(b)
	if states[1] == nil {
		for i, s := range at {
			state[s] += b.low[i]
		}
		return
	}
	state2 := states[1][:len(state)]
	for i, s := range at {
		sum, carry := bits.Add64(state[s], b.low[i], 0)
		state[s] = sum
		state2[s] += b.high[i] + carry
	}
}

// addPlain is addIntegers for 64-bit values, or none, of rows that lie side by side and all take part.
func (c *groupColumn) addPlain(states groupStates, at []uint32, first uint32) {
	state := states[0]
	if c.narrow == nil {
		for _, s := range at {
			state[s]++
		}
		return
	}
	values := c.value[first:][:len(at)]
	if states[1] == nil {
		for i, s := range at {
			state[s] += values[i]
		}
		return
	}
	signed := uint64(0)
	if c.kind == GroupSigned {
		signed = ^uint64(0)
	}
	state2 := states[1][:len(state)]
	for i, s := range at {
		sum, carry := bits.Add64(state[s], values[i], 0)
		state[s] = sum
		state2[s] += uint64(int64(values[i])>>63)&signed + carry
	}
}

// floats decodes the values of a block as the bits of floats.
func (c *groupColumn) floats(b *groupBlock) {
	switch rows := b.row[:b.n]; {
	case c.kind == GroupFloat && c.bits == 64:
		for i, row := range rows {
			b.low[i] = c.value[row]
		}
	case c.kind == GroupFloat && c.bits == 32:
		for i, row := range rows {
			b.low[i] = math.Float64bits(float64(math.Float32frombits(c.narrow[row])))
		}
	default:
		for i, row := range rows {
			b.low[i] = math.Float64bits(c.float(int(row)))
		}
	}
}

func (c *groupColumn) addFloats(states groupStates, b *groupBlock) {
	c.floats(b)
	for i, s := range b.at[:b.n] {
		states[0][s] = canonical(math.Float64frombits(states[0][s]) + math.Float64frombits(b.low[i]))
	}
}

func (c *groupColumn) least(states groupStates, b *groupBlock) {
	for i, s := range b.at[:b.n] {
		low, high := c.ordered(int(b.row[i]))
		before, beforeHigh := states[0][s], uint64(0)
		if c.kind == GroupFloat {
			before ^= uint64(int64(before)>>63) | 1<<63
		} else {
			if c.bits == 128 && states[1] != nil {
				beforeHigh = states[1][s]
			}
			before, beforeHigh = c.signedOrder(before, beforeHigh)
		}
		l, h := low^c.flip, high^c.flip
		if m, n := before^c.flip, beforeHigh^c.flip; h < n || h == n && l < m {
			low, high = c.orderedValue(low, high)
			states[0][s] = low
			if states[1] != nil {
				states[1][s] = high
			}
		}
	}
}

func (c *groupColumn) addMoments(states groupStates, b *groupBlock) {
	c.floats(b)
	for i, s := range b.at[:b.n] {
		term, weight := math.Float64frombits(b.low[i]), uint64(1)
		if c.value3 != nil {
			weight = c.value3[b.row[i]]
			term = float64(term * float64(weight))
		}
		if weight > 0 {
			states[0][s] = math.Float64bits(math.Float64frombits(states[0][s]) + term)
		}
		states[2][s] += weight
	}
}

func (c *groupColumn) addDeviations(states groupStates, b *groupBlock) {
	c.floats(b)
	for i, s := range b.at[:b.n] {
		away, weight := math.Float64frombits(b.low[i])-math.Float64frombits(states[0][s]), uint64(1)
		square := float64(away * away)
		if c.value3 != nil {
			weight = c.value3[b.row[i]]
			square = math.Float64frombits(c.value2[b.row[i]]) + float64(float64(weight)*square)
		}
		if weight > 0 {
			states[1][s] = canonical(math.Float64frombits(states[1][s]) + square)
		}
	}
}
