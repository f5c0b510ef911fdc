package kerneltest

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.PackWords, packWordsCase, packWordsBenchmark)
}

// fields draws the fields of a word: a few, or as many as fit.
func (m *maker) fields() (f kernel.Fields) {
	f.Shorts = m.Uint32N(3)
	f.Bytes = m.Uint32N((32-f.Width())/8 + 1)
	f.Bits = m.Uint32N(min(32-f.Width(), 4) + 1)
	if m.IntN(4) == 0 {
		f.Bits = 32 - f.Width()
	}
	if f.Count() == 0 {
		f.Bits = 1
	}
	return f
}

func packWordsCase(m *maker) *Case {
	fields := m.fields()
	var sources, origins []uint32
	packed := make([]uint32, m.rows)
	for _, field := range fields.Of() {
		for range m.IntN(3) {
			sources = append(sources, m.Uint32())
		}
		first := int(m.Uint32N(32/field.Bits) * field.Bits)
		origins = append(origins, uint32(len(sources)), uint32(first))
		column := narrow(m.column((first+m.rows*int(field.Bits)+31)/32, 32, 0))
		for i := range packed {
			at := first + i*int(field.Bits)
			packed[i] |= column[at/32] >> (at % 32) & (1<<field.Bits - 1) << field.Place
		}
		sources = append(sources, column...)
	}
	return m.newCase(m.groups(), kernel.PackWordsArgsOf[argument]{
		Sources: in(sources), Origins: in(origins), Words: out(packed), Rows: uint32(m.rows), Fields: fields,
	})
}

// benchmarkFields are the fields of a boolean and a one-byte column, both with NULLs.
var benchmarkFields = kernel.Fields{Bytes: 1, Bits: 3}

func packWordsBenchmark(m *maker) *Dispatch {
	words := uint64(0)
	var origins []uint32
	for _, field := range benchmarkFields.Of() {
		origins = append(origins, uint32(words), 0)
		words += field.ColumnWords(uint32(m.rows))
	}
	return m.dispatch(m.rows, kernel.PackWordsArgsOf[[]byte]{
		Sources: m.random(int(words), 32), Origins: backend.AsBytes(origins), Words: zeros(m.rows, 32),
		Rows: uint32(m.rows), Fields: benchmarkFields,
	})
}
