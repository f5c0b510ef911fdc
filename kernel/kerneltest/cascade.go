package kerneltest

import (
	"cmp"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

// bitString is what a block of the cascaded codec is made of, bit by bit.
type bitString struct{ bits []bool }

func (b *bitString) add(value uint64, width int) {
	for i := range width {
		b.bits = append(b.bits, value>>i&1 == 1)
	}
}

// fill adds zeros up to the next word.
func (b *bitString) fill() {
	for len(b.bits)%32 != 0 {
		b.bits = append(b.bits, false)
	}
}

func (b *bitString) words() []uint32 {
	words := make([]uint32, len(b.bits)/32)
	for i, set := range b.bits {
		if set {
			words[i/32] |= 1 << (i % 32)
		}
	}
	return words
}

// widthOf is the number of bits of the greatest code.
func widthOf(codes []uint64) (width int) {
	for _, code := range codes {
		for code>>width > 0 && width < 64 {
			width++
		}
	}
	return width
}

// cascaded encodes a block of values of a width.
func cascaded(values []uint64, bits int, scheme kernel.CascadeScheme) []uint32 {
	raw := bitString{}
	raw.add(0, 3)
	raw.add(uint64(bits), 29)
	for _, v := range values {
		raw.add(v, bits)
	}
	if block := layered(values, bits, scheme); scheme != 0 && len(block.bits) < len(raw.bits) {
		return block.words()
	}
	return raw.words()
}

// layered encodes a block, whatever its size.
func layered(values []uint64, bits int, scheme kernel.CascadeScheme) (b bitString) {
	mask := ^uint64(0) >> (64 - bits)
	lengths, leastRun, lengthWidth := []uint64{1}, uint64(1), 0
	entries := slices.Clone(values)
	if scheme&kernel.CascadeRLE != 0 {
		entries, lengths = nil, nil
		for i, v := range values {
			if i == 0 || v != values[i-1] {
				entries, lengths = append(entries, v), append(lengths, 0)
			}
			lengths[len(lengths)-1]++
		}
		leastRun = min(slices.Min(lengths), 256)
		for i := range lengths {
			lengths[i] -= leastRun
		}
		lengthWidth = widthOf(lengths)
	}
	first := entries[0]
	if scheme&kernel.CascadeDelta != 0 {
		for i := len(entries) - 1; i > 0; i-- {
			entries[i] = (entries[i] - entries[i-1]) & mask
		}
		entries = entries[1:]
	}
	reference, width := uint64(0), bits
	if scheme&kernel.CascadePack != 0 {
		signed := func(v uint64) int64 { return int64(v<<(64-bits)) >> (64 - bits) }
		if len(entries) > 0 {
			reference = slices.MinFunc(entries, func(a, b uint64) int { return cmp.Compare(signed(a), signed(b)) })
		}
		for i := range entries {
			entries[i] = (entries[i] - reference) & mask
		}
		width = widthOf(entries)
	}
	b.add(uint64(scheme), 3)
	b.add(uint64(width), 7)
	b.add(uint64(lengthWidth), 4)
	b.add(uint64(len(lengths)-1), 10)
	b.add(leastRun-1, 8)
	if scheme&kernel.CascadeDelta != 0 {
		b.add(first, bits)
	}
	if scheme&kernel.CascadePack != 0 {
		b.add(reference, bits)
	}
	for _, code := range entries {
		b.add(code, width)
	}
	b.fill()
	for _, length := range lengths {
		b.add(length, lengthWidth)
	}
	b.fill()
	return b
}

// read takes width bits from the begin of words, at a bit; ok is false where there are no more.
func read(words []uint32, at *int, width int) (value uint64, ok bool) {
	if *at+width > 32*len(words) {
		return 0, false
	}
	for i := range width {
		value |= uint64(words[(*at+i)/32]>>((*at+i)%32)&1) << i
	}
	*at += width
	return value, true
}

// uncascaded decodes a block of count values; nil where it is none.
func uncascaded(words []uint32, bits, count int) (values []uint64) {
	at, good := 0, true
	next := func(width int) uint64 {
		value, ok := read(words, &at, width)
		good = good && ok
		return value
	}
	scheme := kernel.CascadeScheme(next(3))
	width, lengthWidth, runs, leastRun := int(next(7)), int(next(4)), int(next(10))+1, next(8)+1
	if !good || width > bits || lengthWidth > 10 || scheme&kernel.CascadePack == 0 && width != bits {
		return nil
	}
	n := count
	if scheme&kernel.CascadeRLE != 0 {
		n = runs
	}
	var entries []uint64
	if scheme&kernel.CascadeDelta != 0 {
		entries = append(entries, next(bits))
	}
	reference := uint64(0)
	if scheme&kernel.CascadePack != 0 {
		reference = next(bits)
	}
	for good && len(entries) < n {
		entries = append(entries, next(width)+reference)
		if at := len(entries) - 1; scheme&kernel.CascadeDelta != 0 {
			entries[at] += entries[at-1]
		}
	}
	for i := range entries {
		entries[i] &= ^uint64(0) >> (64 - bits)
	}
	at = (at + 31) &^ 31
	if scheme&kernel.CascadeRLE == 0 {
		values = entries
	} else {
		for i := 0; good && i < n; i++ {
			values = append(values, slices.Repeat(entries[i:i+1], int(next(lengthWidth)+leastRun))...)
		}
		at = (at + 31) &^ 31
	}
	if !good || len(values) != count || at != 32*len(words) {
		return nil
	}
	return values
}

// shaped turns a column into one that some layers suit, or nearly suit.
func (m *maker) shaped(column []uint64, bits uint32) []uint64 {
	first, step := m.Uint64(), m.Uint64N(1<<20)
	way, longest := m.IntN(8), 1+m.IntN(40)
	if m.IntN(4) == 0 {
		longest = 2000
	}
	left, sum := 0, first
	for i, v := range column {
		switch way {
		case 0: // runs
			if left--; left >= 0 {
				column[i] = column[i-1]
				continue
			}
			left = m.IntN(longest)
		case 1: // ascending runs
			if left--; left < 0 {
				sum, left = sum+m.Uint64N(step+1), m.IntN(longest)
			}
			column[i] = sum
		case 2: // differences that wrap around
			sum -= v >> (i % 64)
			column[i] = sum
		case 3:
			column[i] = first - uint64(i)*step
		case 4: // both sides of the sign
			column[i] = uint64(1)<<(bits-1) - step/2 + m.Uint64N(step+1)
		case 5:
			column[i] = v & (1<<(step%uint64(bits)) - 1)
		}
		column[i] &= ^uint64(0) >> (64 - bits)
	}
	return column
}

// cascadePart is a part, and cascadeParts draws some: none, one or several of them have rows.
type cascadePart struct{ first, rows int }

func (m *maker) cascadeParts() (parts []cascadePart, table []uint32, blocks [][2]int) {
	cuts := []int{0, m.rows}
	for range m.IntN(5) {
		cuts = append(cuts, m.IntN(m.rows+1))
	}
	slices.Sort(cuts)
	table = []uint32{}
	for i, cut := range cuts {
		table = append(table, uint32(cut), uint32(len(blocks)))
		if i+1 == len(cuts) {
			break
		}
		parts = append(parts, cascadePart{cut, cuts[i+1] - cut})
		for row := cut; row < cuts[i+1]; row += kernel.CascadeBlock {
			blocks = append(blocks, [2]int{row, min(kernel.CascadeBlock, cuts[i+1]-row)})
		}
	}
	return parts, table, blocks
}
