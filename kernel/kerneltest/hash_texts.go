package kerneltest

import (
	"math/bits"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.HashTexts, hashTextsCase, hashTextsBenchmark)
}

// drawnTexts are texts as kernels take them. Neighbours share bytes, and bytes of one text or more lie before the first.
type drawnTexts struct {
	of     [][]byte
	bytes  argument
	starts argument // absent for texts of one width
	width  uint32
}

func (m *maker) texts(n int, longest int) (t drawnTexts) {
	var bytes []byte
	starts := make([]uint32, n+1)
	fixed := m.IntN(3) == 0
	if fixed {
		t.width = m.Uint32N(uint32(longest) + 1)
	} else {
		bytes = make([]byte, m.IntN(9))
	}
	starts[0] = uint32(len(bytes))
	for i, value := range m.column(n, 32, 0) {
		size := int(value) % (longest + 1)
		if fixed {
			size = int(t.width)
		} else if m.IntN(3) > 0 {
			size = m.IntN(min(longest, 40) + 1)
		}
		text := make([]byte, size)
		for b := range text {
			if text[b] = byte(value >> (b % 4 * 8)); m.IntN(30) == 0 {
				text[b]++
			}
		}
		bytes = append(bytes, text...)
		starts[i+1] = uint32(len(bytes))
		t.of = append(t.of, text)
	}
	for range kernel.TextPadding + 3 {
		bytes = append(bytes, byte(m.Uint32()))
	}
	t.bytes = argument{before: bytes[:len(bytes)&^3]}
	if !fixed {
		t.starts = in(starts)
	}
	return t
}

// textHash is a hash, or the state of a text that goes on, block by block.
func textHash(text []byte, ends bool) uint64 {
	state := uint64(0x243f6a8885a308d3)
	for at := 0; at < len(text); at += 16 {
		var block [2]uint64
		for i, b := range text[at:min(at+16, len(text))] {
			block[i/8] |= uint64(b) << (i % 8 * 8)
		}
		state = folded(block[0]^0x13198a2e03707344, block[1]^state)
	}
	if ends {
		state = folded(state, uint64(len(text))^0xa4093822299f31d0)
	}
	return state
}

func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func hashTextsCase(m *maker) *Case {
	piece := int(m.draw("piece", kernel.TextPiece, 16, 48))
	begin := 0
	if m.IntN(2) == 0 {
		begin = piece * (1 + m.IntN(2))
	}
	longest := 4 * piece
	if piece == kernel.TextPiece {
		longest = 300
	}
	args := kernel.HashTextsArgsOf[argument]{Rows: uint32(m.rows), Begin: uint32(begin), Folded: m.Uint32N(2),
		Kept: [2]uint32{m.Uint32() | m.Uint32(), m.Uint32() | m.Uint32()}}
	texts := m.texts(m.rows, longest)
	if begin == 0 && texts.width > 8 && m.IntN(2) == 0 {
		texts, args.Coded = m.words(), 1
	}
	args.Texts, args.Starts, args.Width = texts.bytes, texts.starts, texts.width
	before, states := m.column(m.rows, 64, 0), m.column(m.rows, 64, 0)
	hashes, after := append([]uint64(nil), before...), append([]uint64(nil), states...)
	for i, text := range texts.of {
		if begin > 0 && len(text) <= begin {
			continue
		}
		if begin > 0 {
			states[i] = textHash(text[:begin], false)
			after[i] = states[i]
		}
		if len(text) > begin+piece {
			after[i] = textHash(text[:begin+piece], false)
			continue
		}
		hash := textHash(text, true)
		if args.Coded == 1 {
			hash = 0
			for b := range 8 {
				hash |= uint64(text[b]) << (8 * b)
			}
		}
		if args.Folded == 1 {
			hash = folded(before[i]^0x9e3779b97f4a7c15, hash^0xd1342543de82ef95)
		}
		hashes[i] = hash & (uint64(args.Kept[1])<<32 | uint64(args.Kept[0]))
	}
	args.States, args.Hashes = changed(states, after), changed(before, hashes)
	return m.newCase(m.groups(), args)
}

// words are texts of 8 bytes.
func (m *maker) words() (t drawnTexts) {
	column := m.column(m.rows, 64, 0)
	for _, word := range column {
		text := make([]byte, 8)
		for b := range text {
			text[b] = byte(word >> (8 * b))
		}
		t.of = append(t.of, text)
	}
	t.bytes, t.width = in(append(column, 0, 0, 0)), 8
	return t
}

// benchmarkWidth is the number of bytes of the texts of benchmarks, a common size of keys.
const benchmarkWidth = 16

func hashTextsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.HashTextsArgsOf[[]byte]{
		Texts: m.benchmarkTexts(), Starts: m.benchmarkStarts(), Hashes: zeros(m.rows, 64), Rows: uint32(m.rows),
		Kept: [2]uint32{^uint32(0), ^uint32(0)},
	})
}

func (m *maker) benchmarkTexts() []byte { return m.random(m.rows*benchmarkWidth/8+3, 64) }

func (m *maker) benchmarkStarts() []byte {
	return words(m.rows+1, 32, func(i int) uint64 { return uint64(i) * benchmarkWidth })
}
