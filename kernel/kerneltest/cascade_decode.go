package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CascadeDecode, cascadeDecodeCase, cascadeDecodeBenchmark)
}

func cascadeDecodeCase(m *maker) *Case {
	bits := m.config["value_bits"]
	values := m.shaped(m.column(m.rows, bits, 0), bits)
	parts, table, blocks := m.cascadeParts()
	payload, directory := []uint32{}, []uint32{0}
	for _, block := range blocks {
		scheme := kernel.CascadeScheme(m.IntN(kernel.CascadeSchemes))
		words := cascaded(values[block[0]:][:block[1]], int(bits), scheme)
		if m.IntN(4) == 0 {
			b := layered(values[block[0]:][:block[1]], int(bits), scheme) // larger than it must be, perhaps
			words = b.words()
		}
		payload = append(payload, words...)
		directory = append(directory, uint32(len(payload)))
	}
	if m.IntN(2) == 0 {
		m.corrupt(payload, directory)
	}
	payloadWords := len(payload) - m.IntN(2)*m.IntN(min(len(payload), 3)+1)
	first := m.IntN(len(blocks) + 1)
	decoded, before := slices.Repeat([]uint64{untouched}, m.rows), m.Uint32N(3)
	status := before
	for i, from := range blocks {
		begin, end := int(directory[i]), int(directory[i+1])
		if i < first {
			continue
		}
		var block []uint64
		if begin <= end && end <= payloadWords {
			block = uncascaded(payload[begin:end], int(bits), from[1])
		}
		if block == nil {
			status = max(status, uint32(i)+1)
		}
		copy(decoded[from[0]:], block)
	}
	return m.newCase(uint32(len(blocks)-first), kernel.CascadeDecodeArgsOf[argument]{
		Payload: in(payload), Directory: in(directory), Parts: in(table), Values: outOf(bits, decoded),
		Status: changed([]uint32{before}, []uint32{status}), PartCount: uint32(len(parts)), FirstBlock: uint32(first),
		PayloadWords: uint32(payloadWords),
	})
}

// corrupt changes a few words of a message.
func (m *maker) corrupt(payload, directory []uint32) {
	for range 1 + m.IntN(4) {
		switch {
		case len(payload) == 0:
		case m.IntN(4) == 0:
			at := m.IntN(len(directory))
			directory[at] = [...]uint32{m.Uint32(), m.Uint32N(uint32(len(payload)) + 2), directory[at] + 1}[m.IntN(3)]
		case m.IntN(2) == 0:
			payload[m.IntN(len(payload))] ^= 1 << m.IntN(32)
		default: // a header
			if at := directory[m.IntN(len(directory))]; int(at) < len(payload) {
				payload[at] ^= 1 << m.IntN(32) & m.Uint32()
			}
		}
	}
}

func cascadeDecodeBenchmark(m *maker) *Dispatch {
	bits, blocks := m.config["value_bits"], m.benchmarkBlocks()
	encode := m.cascadeEncodeArgs()
	payload, directory := []uint32{}, []uint32{0}
	for block := range blocks {
		slot := make([]uint32, kernel.CascadeSlotWords(bits/8))
		first, end := block*kernel.CascadeBlock, min((block+1)*kernel.CascadeBlock, m.rows)
		size := 0
		if bits == 64 {
			size = kernel.EncodeCascade(slot, backend.Longs(encode.Values)[first:end], 7)
		} else {
			size = kernel.EncodeCascade(slot, backend.Words(encode.Values)[first:end], 7)
		}
		payload = append(payload, slot[:size]...)
		directory = append(directory, uint32(len(payload)))
	}
	return m.cascadeDispatch(blocks, kernel.CascadeDecodeArgsOf[[]byte]{
		Payload: backend.AsBytes(append(payload, 0)), Directory: backend.AsBytes(directory), Parts: encode.Parts,
		Values: zeros(m.rows, bits), Status: zeros(2, 32), PartCount: 1, PayloadWords: uint32(len(payload)),
	})
}
