package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.UnpackWords, unpackWordsCase, unpackWordsBenchmark)
}

func unpackWordsCase(m *maker) *Case {
	fields, first := m.fields(), m.IntN(64)
	packed := narrow(m.column(first+m.rows, 32, 0))
	before := narrow(m.column(int(fields.Bits), 32, 0))
	counts := slices.Clone(before)
	var unpacked []uint32
	for n, field := range fields.Of() {
		column := slices.Repeat([]uint32{untouched32}, int(field.ColumnWords(uint32(m.rows))))
		clear(column[:(m.rows*int(field.Bits)+31)/32])
		for i, word := range packed[first:] {
			value, at := word>>field.Place&(1<<field.Bits-1), i*int(field.Bits)
			column[at/32] |= value << (at % 32)
			if field.Bits == 1 {
				counts[n-int(fields.Shorts+fields.Bytes)] += value
			}
		}
		unpacked = append(unpacked, column...)
	}
	return m.newCase(m.groups(), kernel.UnpackWordsArgsOf[argument]{
		Words: in(packed), Unpacked: out(unpacked), Counts: changed(before, counts), Rows: uint32(m.rows),
		First: uint32(first), Fields: fields,
	})
}

func unpackWordsBenchmark(m *maker) *Dispatch {
	words := uint64(0)
	for _, field := range benchmarkFields.Of() {
		words += field.ColumnWords(uint32(m.rows))
	}
	return m.dispatch(m.rows, kernel.UnpackWordsArgsOf[[]byte]{
		Words: m.random(m.rows, 32), Unpacked: zeros(int(words), 32), Counts: zeros(kernel.MaxFields, 32),
		Rows: uint32(m.rows), Fields: benchmarkFields,
	})
}
