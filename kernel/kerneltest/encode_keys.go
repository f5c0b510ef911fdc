package kerneltest

import (
	"math"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.EncodeKeys, encodeKeysCase, encodeKeysBenchmark)
}

// keyWidths are those that values of a meaning have.
var keyWidths = [][]uint32{
	kernel.Unsigned: {64, 1, 8, 16, 32}, kernel.Signed: {64, 8, 16, 32, 128, 256}, kernel.RankSingle: {32, 16},
	kernel.RankDouble: {64, 16, 32},
}

func encodeKeysCase(m *maker) *Case {
	of := kernel.KeyValues{Meaning: uint32(m.IntN(len(keyWidths)))}
	of.ValueBits = keyWidths[of.Meaning][m.IntN(len(keyWidths[of.Meaning]))]
	keyBits, width := m.config["key_bits"], int(of.ValueBits)
	first, firstValid, firstCode := m.IntN(70), m.IntN(70), m.IntN(70)
	values := m.column(((first+m.rows)*width+63)/64, 64, 0)
	if m.IntN(2) == 0 { // floats near zero and near infinity
		for i := range values {
			values[i] &= []uint64{0x8000_ffff_8000_83ff, 0xffff_ffff_ffff_ffff, 0x7ff0_0000_7f80_7c01}[m.IntN(3)]
		}
	}
	least, null, shift, mark := m.Uint64(), m.Uint64(), m.Uint32N(keyBits), m.Uint32N(keyBits)
	if m.IntN(3) == 0 {
		mark = keyBits
	}
	span := m.Uint64() >> m.IntN(65)
	if m.IntN(2) == 0 && len(values) > 0 {
		least, span = values[m.IntN(len(values))], math.MaxUint64>>m.IntN(3)
	}
	bits, validity := m.bitmap(firstValid + m.rows)
	given := argument{}
	if m.IntN(2) == 0 {
		given = in(validity)
	} else {
		bits = nil
	}
	before := m.column(firstCode+m.rows, keyBits, 0)
	after, merge := slices.Clone(before), m.Uint32N(2)
	for i := range m.rows {
		code := null
		if bits == nil || bits[firstValid+i] {
			code = keyCode(values, (first+i)*width, of)
		}
		if merge == 0 {
			after[firstCode+i] = 0
		}
		after[firstCode+i] |= (code - least) << shift & (1<<mark - 1)
		if code-least > span && mark < keyBits {
			after[firstCode+i] |= 1 << mark
		}
	}
	codes := changed(before, after)
	if keyBits == 32 {
		codes = changed(narrow(before), narrow(after))
	}
	return m.newCase(m.groups(), kernel.EncodeKeysArgsOf[argument]{
		Values: in(values), Validity: given, Codes: codes, Rows: uint32(m.rows), FirstValue: uint32(first),
		FirstValid: uint32(firstValid), FirstCode: uint32(firstCode), Least: [2]uint32{uint32(least), uint32(least >> 32)},
		Null: [2]uint32{uint32(null), uint32(null >> 32)}, Span: [2]uint32{uint32(span), uint32(span >> 32)}, Shift: shift,
		Mark: mark, Merge: merge, KeyValues: of,
	})
}

// keyCode is the code of the value that begins at a bit of a column.
func keyCode(column []uint64, bit int, of kernel.KeyValues) uint64 {
	value := column[bit/64] >> (bit % 64)
	if of.ValueBits < 64 {
		value &= 1<<of.ValueBits - 1
	}
	sign := value>>(min(of.ValueBits, 64)-1)&1 == 1
	switch of.Meaning {
	case kernel.Signed:
		if of.ValueBits < 64 && sign {
			value -= 1 << of.ValueBits
		}
		return value
	case kernel.RankSingle, kernel.RankDouble:
		number := math.Abs(floatOf(value, of.ValueBits))
		rank, nan := uint64(math.Float32bits(float32(number))), uint64(0x7f80_0001)
		if of.Meaning == kernel.RankDouble {
			rank, nan = math.Float64bits(number), 0x7ff0_0000_0000_0001
		}
		switch {
		case math.IsNaN(number):
			return nan
		case sign:
			return -rank
		}
		return rank
	}
	return value
}

// floatOf is the float with these bits of a width; a 16-bit float is computed by its definition.
func floatOf(bits uint64, width uint32) float64 {
	switch width {
	case 64:
		return math.Float64frombits(bits)
	case 32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction > 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(1)
	case exponent == 0:
		return math.Ldexp(fraction, -24)
	}
	return math.Ldexp(1024+fraction, exponent-25)
}

// encodeKeysBenchmark encodes a column of 8 bytes.
func encodeKeysBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.EncodeKeysArgsOf[[]byte]{
		Values: m.random(m.rows, 64), Codes: zeros(m.rows, m.config["key_bits"]), Rows: uint32(m.rows),
		Mark: m.config["key_bits"], KeyValues: kernel.KeyValues{ValueBits: 64, Meaning: kernel.Signed},
	})
}
