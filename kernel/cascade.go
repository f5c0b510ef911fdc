package kernel

import (
	bitops "math/bits"
	"unsafe"
)

// CascadeBlock is the number of values of a block of the cascaded codec (docs/codec.md). The last block of a part may
// have fewer, but at least one.
const CascadeBlock = 1024

// CascadeScheme is a set of layers. Frame of reference belongs to packing. 0 stores values as they are.
type CascadeScheme uint32

const (
	CascadeRLE   CascadeScheme = 1 << iota // runs of equal values become values and lengths
	CascadeDelta                           // differences of consecutive values
	CascadePack                            // differences to the least value, of as many bits as the greatest takes

	CascadeSchemes = 8 // all combinations
)

// String names the layers, for example "rle+delta+pack".
func (s CascadeScheme) String() string {
	text := ""
	for i, layer := range [3]string{"+rle", "+delta", "+pack"} {
		if s>>i&1 == 1 {
			text += layer
		}
	}
	if text == "" {
		return "raw"
	}
	return text[1:]
}

// cascadeHeader is the first word of a block, from its lowest bit on: scheme (3 bits), width of values or differences
// (7), width of run lengths (4), runs - 1 (10), reference of run lengths (8). A length is 1 + its reference + its
// packed bits.
type cascadeHeader struct {
	scheme                             CascadeScheme
	width, lengthWidth, runs, leastRun uint32
}

// maxLeastRun is the greatest reference of run lengths.
const maxLeastRun = 255

func (h *cascadeHeader) word() uint32 {
	return uint32(h.scheme) | h.width<<3 | h.lengthWidth<<10 | (h.runs-1)<<14 | h.leastRun<<24
}

func cascadeHeaderOf(word uint32) cascadeHeader {
	return cascadeHeader{scheme: CascadeScheme(word & 7), width: word >> 3 & 127, lengthWidth: word >> 10 & 15,
		runs: word>>14&1023 + 1, leastRun: word >> 24}
}

// entries is the number of values or runs of a block of count values.
func (h *cascadeHeader) entries(count uint32) uint32 {
	if h.scheme&CascadeRLE == 0 {
		return count
	}
	return h.runs
}

// cascadeLayout says where the parts of a block begin, in words, and where it ends.
type cascadeLayout struct{ reference, values, lengths, end uint32 }

// layout lays out a block of count values of valueWords.
func (h *cascadeHeader) layout(count, valueWords uint32) (l cascadeLayout) {
	packed := h.entries(count)
	l.reference = 1
	if h.scheme&CascadeDelta != 0 {
		l.reference += valueWords
		packed--
	}
	l.values = l.reference
	if h.scheme&CascadePack != 0 {
		l.values += valueWords
	}
	l.lengths = l.values + (packed*h.width+31)/32
	l.end = l.lengths
	if h.scheme&CascadeRLE != 0 {
		l.end += (h.runs*h.lengthWidth + 31) / 32
	}
	return l
}

// valid reports whether a block of words words may begin with the header: what it says about sizes agrees.
func (h *cascadeHeader) valid(count, valueWords, words uint32) bool {
	if h.width > 32*valueWords || h.lengthWidth > 10 || h.entries(count) > count ||
		h.scheme&CascadePack == 0 && h.width != 32*valueWords {
		return false
	}
	return h.layout(count, valueWords).end == words
}

// CascadeBlockWords is the size of a block of count values that is stored as it is, the upper bound of all schemes.
func CascadeBlockWords(count, valueBytes uint32) uint32 { return 1 + count*(valueBytes/4) }

// CascadeSlotWords is the size of the slots that [CascadeEncode] writes blocks to, a multiple of 16 bytes.
func CascadeSlotWords(valueBytes uint32) uint32 {
	return CascadeBlockWords(CascadeBlock, valueBytes) + 3
}

// cascadeRange is a range of values or differences, least first in signed order. The range of none is least 0 and width
// 0.
type cascadeRange[V word] struct {
	least V
	width uint32 // bits of greatest - least
}

func rangeOf[V word](values []V) (r cascadeRange[V]) {
	if len(values) == 0 {
		return r
	}
	flip := ^V(0)>>1 + 1 // orders signed values as unsigned ones
	least, greatest := values[0]^flip, values[0]^flip
	for _, v := range values[1:] {
		least, greatest = min(least, v^flip), max(greatest, v^flip)
	}
	return cascadeRange[V]{least ^ flip, uint32(bitops.Len64(uint64(greatest - least)))}
}

// cascadeStage holds a block between its layers.
type cascadeStage[V word] struct {
	entry  [CascadeBlock]V      // values of runs, then their differences
	length [CascadeBlock]uint32 // of runs
}

// runsOf writes value and length of each run to the stage, and returns the number of runs and the range of lengths.
func (s *cascadeStage[V]) runsOf(values []V) (runs int, least, greatest uint32) {
	runs, last := 1, values[0]
	s.entry[0], s.length[0] = last, 0
	for i := 1; i < len(values); i++ { // each value is written as a run, until one begins behind it
		v := values[i]
		s.entry[runs&(CascadeBlock-1)], s.length[runs&(CascadeBlock-1)] = v, uint32(i)
		differs := v ^ last
		runs += int((uint64(differs) | -uint64(differs)) >> 63)
		last = v
	}
	least = ^uint32(0)
	for i := range runs - 1 {
		s.length[i] = s.length[i+1] - s.length[i]
		least, greatest = min(least, s.length[i]), max(greatest, s.length[i])
	}
	s.length[runs-1] = uint32(len(values)) - s.length[runs-1]
	return runs, min(least, s.length[runs-1]), max(greatest, s.length[runs-1])
}

// runHeader is the header of a block with runs of these lengths.
func runHeader(scheme CascadeScheme, runs int, least, greatest uint32) cascadeHeader {
	h := cascadeHeader{scheme: scheme, runs: 1}
	if scheme&CascadeRLE != 0 {
		h.runs, h.leastRun = uint32(runs), min(least-1, maxLeastRun)
		h.lengthWidth = uint32(bitops.Len32(greatest - 1 - h.leastRun))
	}
	return h
}

// differences replaces the entries behind the first one by their differences to the one before.
func differences[V word](entries []V) {
	last := entries[0]
	for i := 1; i < len(entries); i++ {
		v := entries[i]
		entries[i], last = v-last, v
	}
}

// packBits writes the low width bits of each value less reference, one after the other. Each value is stored, whether
// it fills a word or not, because a branch on that would be mispredicted.
func packBits[V word](to []uint32, values []V, reference V, width uint32) {
	held, bits, n := uint64(0), uint32(0), 0 // fewer than 32 bits are held
	switch {
	case width == 0:
		return
	case width <= 32:
		for _, v := range values {
			held |= uint64(v-reference) << (bits & 31)
			to[n] = uint32(held)
			bits += width
			full := bits >> 5
			held, bits, n = held>>(32*full&63), bits&31, n+int(full)
		}
	default:
		for _, v := range values {
			code := uint64(v - reference)
			held |= code & (1<<32 - 1) << (bits & 31)
			to[n] = uint32(held)
			held = held>>32 | code>>32<<(bits&31)
			to[n+1] = uint32(held)
			bits += width - 32
			full := bits >> 5
			held, bits, n = held>>(32*full&63), bits&31, n+1+int(full)
		}
	}
	if bits > 0 {
		to[n] = uint32(held)
	}
}

// unpackBits reads len(values) codes of width bits and adds reference.
func unpackBits[V word](values []V, from []uint32, reference V, width uint32) {
	if width == 0 {
		for i := range values {
			values[i] = reference
		}
		return
	}
	fast := 0 // values whose 8 bytes lie in from
	if width <= 57 && len(from) >= 2 {
		fast = min(len(values), (32*len(from)-64)/int(width)+1)
	}
	base, mask, bit := unsafe.Pointer(unsafe.SliceData(from)), uint64(1)<<width-1, uint(0)
	for i := range values[:fast] {
		values[i] = V(*(*uint64)(unsafe.Add(base, bit>>3))>>(bit&7)&mask) + reference
		bit += uint(width)
	}
	for i := fast; i < len(values); i++ {
		values[i] = V(bitsAt(from, uint32(i)*width, width)) + reference
	}
}

// bitsAt returns width bits, 1 to 64, that begin at a bit.
func bitsAt(from []uint32, bit, width uint32) (code uint64) {
	for shift := uint32(0); shift < width; {
		code |= uint64(from[bit/32]>>(bit%32)) << shift
		taken := 32 - bit%32
		bit, shift = bit+taken, shift+taken
	}
	return code & (^uint64(0) >> (64 - width))
}

// A part is the rows of one destination or of one source: words 2*i and 2*i+1 of parts are its first row and its first
// block, and those behind the last part are the numbers of all rows and blocks.

// CascadeRows returns the first row and the number of rows of a block of some parts ([CascadeParts]).
func CascadeRows(parts []uint32, block uint32) (first, rows uint32) {
	low, high := 0, len(parts)/2-1
	for low+1 < high {
		if middle := (low + high) / 2; parts[2*middle+1] <= block {
			low = middle
		} else {
			high = middle
		}
	}
	first = parts[2*low] + (block-parts[2*low+1])*CascadeBlock
	return first, min(CascadeBlock, parts[2*low+2]-first)
}

// CascadeParts makes the argument parts of [CascadeEncode] and [CascadeDecode]: starts are the first rows of parts and,
// behind the last one, the number of rows; ascending, at least one.
func CascadeParts(starts []uint32) (parts []uint32) {
	parts = make([]uint32, 2*len(starts))
	blocks := uint32(0)
	for i, start := range starts {
		parts[2*i], parts[2*i+1] = start, blocks
		if i+1 < len(starts) {
			blocks += (starts[i+1]-start)/CascadeBlock + min(1, (starts[i+1]-start)%CascadeBlock)
		}
	}
	return parts
}

// CascadeBlocks is the number of blocks of all parts.
func CascadeBlocks(parts []uint32) uint32 { return parts[len(parts)-1] }

// valueWords is the size of V in words.
func valueWords[V word]() uint32 { return uint32(unsafe.Sizeof(V(0)) / 4) }
