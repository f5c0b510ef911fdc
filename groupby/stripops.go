package groupby

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// stripOp is what is done with the values of a strip.
type stripOp uint8

const (
	stripCount    stripOp = iota
	stripAdd              // integers of up to 32 bits, whose sum has 64
	stripAddLong          // integers of 64, 128 or 256 bits, whose sum has 64 more
	stripPart             // a further word of the sum of an earlier request
	stripAddFloat         // as float64
	stripLeast            // ordered numbers of 64 bits
	stripGreatest
)

// wordOp says how values are folded into states of one word.
type wordOp struct {
	initial uint64 // of no values
	ordered bool   // of unsigned numbers with the order of the values
	fold    func(words []uint64, at []uint32, values []uint64)
}

// wordOps are the operations with such states. Others have no fold here.
var wordOps = [...]wordOp{
	stripAddFloat: {initial: 1 << 63, fold: addFloats}, // -0, which changes no number
	stripLeast:    {initial: ^uint64(0), ordered: true, fold: least},
	stripGreatest: {ordered: true, fold: greatest},
}

// stripStateOf returns the state of a request of a column, or of none, without its place. ok is false for those that
// need another way.
func stripStateOf(r request, column *arrow.Chunked) (s stripState, ok bool) {
	if column != nil {
		t := column.DataType()
		s.bits, s.kind = relation.WordBits(t), wordKind(t)
	}
	switch r.fn {
	case reduce.Count:
		s.op = stripCount
	case reduce.First:
		s.op, s.kind = stripLeast, reduce.Unsigned
	case reduce.Min, reduce.Max:
		if s.op = stripLeast; r.fn == reduce.Max {
			s.op = stripGreatest
		}
		return s, s.bits <= 64
	case reduce.Sum:
		switch {
		case r.part > 0:
			s.op, s.part = stripPart, r.part
		case s.kind == reduce.Float:
			s.op = stripAddFloat
		case s.bits >= 64:
			s.op, s.part = stripAddLong, r.part
		default:
			s.op = stripAdd
		}
	default:
		return s, false
	}
	return s, true
}

// words is the number of words of the state.
func (s *stripState) words() int {
	switch s.op {
	case stripPart:
		return 0
	case stripAddLong:
		return s.bits/64 + 2
	}
	return 1
}

// stripCore is the memory of a core.
type stripCore struct {
	words     []uint64 // of all slots
	rows      int      // since the first words of sums had room for that many short ones
	counts    []uint64 // words from the one that counts rows on
	uncounted int      // rows of the strip, until they are counted
	picked    [keys.StripRows]uint32
	values    [keys.StripRows]uint64
}

// add adds the rows of a strip, whose slots begin at slots.
func (s *stripState) add(c *stripCore, row int, slots []uint32) {
	if s.op == stripPart {
		return // the first part of the sum adds all
	}
	words := c.words[s.word:]
	if s.values == nil {
		if s.op == stripCount {
			count(words, slots)
			return
		}
		for i := range slots {
			c.values[i] = uint64(row + i)
		}
		least(words, slots, c.values[:len(slots)])
		return
	}
	for part := range s.values.Parts(row, len(slots)) {
		at := slots[part.Row:][:part.Rows]
		if part.Validity != nil {
			at = pickValid(c.picked[:], at, part.Validity, part.First)
		}
		switch all := part.Validity == nil; {
		case s.op == stripCount:
			count(words, at)
		case s.op == stripAddLong:
			s.addLong(c, words, at, &part)
		default:
			values := s.decode(c.values[:part.Rows], part.Values)
			if !all {
				values = pickValid(c.values[:], values, part.Validity, part.First)
			}
			if s.op == stripAdd {
				c.add(words, at, values, 1)
			} else {
				wordOps[s.op].fold(words, at, values)
			}
		}
	}
}

// pickValid copies the elements of values that are not NULL to the start of to, and returns them. first is the bit of
// the first one.
func pickValid[T any](to, values []T, validity []byte, first int) []T {
	n := 0
	for i, v := range values {
		to[n] = v
		n += int(validity[(first+i)>>3] >> ((first + i) & 7) & 1)
		if n == len(to) {
			break
		}
	}
	return to[:n]
}

// decode returns values as integers of 64 bits, as float64, or as ordered numbers, in out or where they are.
func (s *stripState) decode(out []uint64, values []byte) []uint64 {
	signed := s.kind == reduce.Signed
	switch {
	case s.bits == 64:
		if !wordOps[s.op].ordered {
			return backend.Longs(values)
		}
		copy(out, backend.Longs(values))
	case s.kind == reduce.Float && s.bits == 32:
		for i, v := range backend.Words(values)[:len(out)] {
			out[i] = math.Float64bits(float64(math.Float32frombits(v)))
		}
	case s.kind == reduce.Float:
		for i := range out {
			out[i] = math.Float64bits(float64(float16.FromBits(binary.LittleEndian.Uint16(values[2*i:])).Float32()))
		}
	case s.bits == 32 && signed:
		for i, v := range backend.Words(values)[:len(out)] {
			out[i] = uint64(int32(v))
		}
	case s.bits == 32:
		for i, v := range backend.Words(values)[:len(out)] {
			out[i] = uint64(v)
		}
	case s.bits == 16 && signed:
		widen(out, arrow.Int16Traits.CastFromBytes(values))
	case s.bits == 16:
		widen(out, arrow.Uint16Traits.CastFromBytes(values))
	case signed:
		widen(out, arrow.Int8Traits.CastFromBytes(values))
	default:
		widen(out, values)
	}
	if wordOps[s.op].ordered {
		s.order(out)
	}
	return out
}

func widen[T int8 | int16 | uint8 | uint16](out []uint64, values []T) {
	for i, v := range values[:len(out)] {
		out[i] = uint64(v)
	}
}

// order makes unsigned numbers with the order of the values of them. NaN is above all numbers.
func (s *stripState) order(values []uint64) {
	switch s.kind {
	case reduce.Signed:
		for i := range values {
			values[i] ^= 1 << 63
		}
	case reduce.Float:
		for i, v := range values {
			if f := math.Float64frombits(v); f != f {
				v = quietNaN
			}
			values[i] = v ^ (uint64(int64(v)>>63) | 1<<63)
		}
	}
}

const quietNaN = 0x7ff8 << 48

// unordered is the inverse of order.
func (s *stripState) unordered(v uint64) uint64 {
	switch s.kind {
	case reduce.Signed:
		return v ^ 1<<63
	case reduce.Float:
		return v ^ (^uint64(int64(v)>>63) | 1<<63)
	}
	return v
}

// add adds every step-th value to the words of the slots, and counts the rows of a strip that are not counted yet if
// they are all there: both at a time take little longer than one.
func (c *stripCore) add(words []uint64, at []uint32, values []uint64, step int) {
	from := 0
	if len(at) < c.uncounted || c.uncounted == 0 {
		for _, a := range at {
			words[a] += values[from]
			from += step
		}
		return
	}
	counts := c.counts
	for _, a := range at {
		words[a] += values[from]
		from += step
		counts[a]++
	}
	c.uncounted = 0
}

func count(words []uint64, at []uint32) {
	for _, a := range at {
		words[a]++
	}
}

func addFloats(words []uint64, at []uint32, values []uint64) {
	values = values[:len(at)]
	for i, a := range at {
		words[a] = math.Float64bits(math.Float64frombits(words[a]) + math.Float64frombits(values[i]))
	}
}

func least(words []uint64, at []uint32, values []uint64) {
	values = values[:len(at)]
	for i, a := range at {
		words[a] = min(words[a], values[i])
	}
}

func greatest(words []uint64, at []uint32, values []uint64) {
	values = values[:len(at)]
	for i, a := range at {
		words[a] = max(words[a], values[i])
	}
}

// A sum of long integers is in two places of its slot. The first word is the sum of integers with few bits, as a signed
// 64-bit number; the words after it are the sum of the others. Before the first word can overflow, after shortRows rows
// of a core, it is added to the words after it.
var shortBits = 40 // at most 52, so that a strip has room. A variable for tests

func shortRows() int { return 1 << (62 - shortBits) }

// addLong adds integers of 64, 128 or 256 bits. Values of NULL may be anything.
func (s *stripState) addLong(c *stripCore, words []uint64, at []uint32, part *relation.ColumnPart) {
	values, width := backend.Longs(part.Values), s.bits/64
	signed := ^uint64(0)
	if s.kind == reduce.Unsigned {
		signed = 0
	}
	if fewBits(values, width, signed) {
		if part.Validity == nil {
			c.add(words, at, values, width)
			return
		}
		for i := range part.Rows {
			c.values[i] = values[i*width]
		}
		c.add(words, at, pickValid(c.values[:], c.values[:part.Rows], part.Validity, part.First), 1)
		return
	}
	words = words[1:]
	if part.Validity == nil && width <= 2 {
		addPairs(words, at, values, width, signed)
		return
	}
	next := 0
	for row := range part.Rows {
		if part.Validity != nil && part.Validity[(part.First+row)>>3]>>((part.First+row)&7)&1 == 0 {
			continue
		}
		addTo(words[at[next]:][:width+1], values[row*width:][:width], signed)
		next++
	}
}

// addPairs adds numbers of one or two words to those with one more.
func addPairs(words []uint64, at []uint32, values []uint64, width int, signed uint64) {
	if width == 1 {
		for i, a := range at {
			state, v := (*[2]uint64)(words[a:]), values[i]
			var carry uint64
			state[0], carry = bits.Add64(state[0], v, 0)
			state[1] += uint64(int64(v)>>63)&signed + carry
		}
		return
	}
	for i, a := range at {
		state, low, high := (*[3]uint64)(words[a:]), values[2*i], values[2*i+1]
		var carry uint64
		state[0], carry = bits.Add64(state[0], low, 0)
		state[1], carry = bits.Add64(state[1], high, carry)
		state[2] += uint64(int64(high)>>63)&signed + carry
	}
}

// fewBits reports whether all values, of width words each, have few bits. signed is a mask.
func fewBits(values []uint64, width int, signed uint64) bool {
	half := uint64(1) << (shortBits - 1)
	var size, beyond uint64 // of few bits, and 0, if all are short
	if width == 1 {
		for _, v := range values {
			size, beyond = size|(v+half), beyond|v&^signed>>63
		}
		return size>>shortBits|beyond == 0
	}
	for ; width == 2 && len(values) >= 8; values = values[8:] {
		a, b, c, d := values[0], values[2], values[4], values[6]
		size |= (a + half) | (b + half) | (c + half) | (d + half)
		beyond |= (values[1] ^ uint64(int64(a)>>63)) | (values[3] ^ uint64(int64(b)>>63)) |
			(values[5] ^ uint64(int64(c)>>63)) | (values[7] ^ uint64(int64(d)>>63))
	}
	for ; len(values) >= width; values = values[width:] {
		size |= values[0] + half
		for _, high := range values[1:width] {
			beyond |= high ^ uint64(int64(values[0])>>63)
		}
	}
	return size>>shortBits|beyond == 0
}

// spill adds the first word of a sum of long integers to those after it.
func (s *stripState) spill(slot []uint64) {
	if s.op == stripAddLong {
		sum := slot[s.word:][:s.words()]
		addTo(sum[1:], sum[:1], ^uint64(0))
		sum[0] = 0
	}
}

// addTo adds a number to one with more words. signed is a mask.
func addTo(state, value []uint64, signed uint64) {
	carry, sign := uint64(0), uint64(int64(value[len(value)-1])>>63)&signed
	for i, v := range value {
		state[i], carry = bits.Add64(state[i], v, carry)
	}
	for i := len(value); i < len(state); i++ {
		state[i], carry = bits.Add64(state[i], sign, carry)
	}
}

var firstSlot = []uint32{0}

// merge adds the state of a slot of another core.
func (s *stripState) merge(slot, other []uint64) {
	slot, other = slot[s.word:][:s.words()], other[s.word:]
	if fold := wordOps[s.op].fold; fold != nil {
		fold(slot, firstSlot, other[:1])
		return
	}
	carry := uint64(0) // sums modulo 2^64 for each word
	for i := range slot {
		slot[i], carry = bits.Add64(slot[i], other[i], carry)
	}
}

// columns is the state as columns of the result of package reduce: one word or two.
func (s *stripState) columns(slot []uint64, out [][]uint64, group int) {
	v := slot[s.word]
	switch s.op {
	case stripAdd:
		if s.kind == reduce.Signed {
			out[1][group] = uint64(int64(v) >> 63)
		}
	case stripAddFloat:
		if f := math.Float64frombits(v); f != f {
			v = quietNaN
		}
	case stripAddLong, stripPart: // the last word also has what exceeds it
		sum := slot[s.word+1:][:s.bits/64+1]
		if v = sum[max(s.part, 0)]; s.part < 0 || s.part == s.bits/64-1 {
			out[1][group] = sum[max(s.part, 0)+1]
		}
	case stripLeast, stripGreatest:
		v = s.unordered(v)
	}
	out[0][group] = v
}

// resultWords is the number of columns.
func (s *stripState) resultWords() int {
	switch s.op {
	case stripAdd, stripAddLong, stripPart:
		return 2
	}
	return 1
}
