package kerneltest

import (
	"cmp"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.BlockSort, blockSortCase, blockSortBenchmark)
}

func blockSortCase(m *maker) *Case {
	keyBits, payloadBits, tile := m.config["key_bits"], m.config["payload_bits"], m.tileRows()
	keys, payload := m.column(m.rows, keyBits, m.someBound(m.rows)), m.serials(m.rows)
	numbered := m.IntN(3) == 0
	order := make([]int, m.rows)
	for i := range order {
		order[i] = i
		if numbered {
			payload[i] = uint64(i)
		}
	}
	for first := 0; first < m.rows; first += tile {
		byKey := func(a, b int) int { return cmp.Compare(keys[a], keys[b]) }
		slices.SortStableFunc(order[first:min(first+tile, m.rows)], byKey)
	}
	sortedKeys, sortedPayload := make([]uint64, m.rows), make([]uint64, m.rows)
	for i, from := range order {
		sortedKeys[i], sortedPayload[i] = keys[from], payload[from]
	}
	payloadIn, payloadOut := payloadOf(payloadBits, payload, sortedPayload)
	if numbered {
		payloadIn = argument{}
	}
	return m.newCase(m.tileGroups(), kernel.BlockSortArgsOf[argument]{
		KeysIn: inOf(keyBits, keys), PayloadIn: payloadIn, KeysOut: outOf(keyBits, sortedKeys),
		PayloadOut: payloadOut, Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}

func blockSortBenchmark(m *maker) *Dispatch {
	keyBits := m.config["key_bits"]
	payload, payloadOut := m.payload(m.config["payload_bits"])
	return m.dispatch(m.rows, kernel.BlockSortArgsOf[[]byte]{
		KeysIn: m.random(m.rows, keyBits), PayloadIn: payload, KeysOut: zeros(m.rows, keyBits),
		PayloadOut: payloadOut, Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}
