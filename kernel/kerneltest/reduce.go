package kerneltest

import (
	"math"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.Reduce, reduceCase, reduceBenchmark)
	add(kernel.VaryingBits, varyingBitsCase, varyingBitsBenchmark)
}

func reduceCase(m *maker) *Case {
	op := kernel.ReduceOp(m.draw("op", 0, 1, 2, 3, 4))
	values := m.column(m.rows, m.config["in_bits"], 0)
	results := make([]uint64, m.tiles())
	if op == kernel.ReduceMin || op == kernel.ReduceAnd {
		results = slices.Repeat([]uint64{math.MaxUint64}, len(results))
	}
	for i, v := range values {
		result := &results[i/m.tileRows()]
		*result = [...]uint64{*result + v, min(*result, v), max(*result, v), *result & v, *result | v}[op]
	}
	return m.newCase(m.tileGroups(), kernel.ReduceArgsOf[argument]{
		Values: inOf(m.config["in_bits"], values), TileResults: outOf(m.config["sum_bits"], results),
		Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}

func varyingBitsCase(m *maker) *Case {
	bits := m.config["key_bits"]
	keys := m.column(m.rows, bits, 0)
	fixed := m.Uint64() // bits that are the same in all keys
	if m.distribution == "sorted" {
		fixed = math.MaxUint64
	}
	before := []uint64{m.Uint64() | m.Uint64(), m.Uint64() & m.Uint64(), uint64(m.Uint32N(5))}
	after := slices.Clone(before)
	for i := range keys {
		keys[i] = (keys[i]&fixed | ^fixed&0x123456789abcdef0) & (math.MaxUint64 >> (64 - bits))
		after[0], after[1] = after[0]&keys[i], after[1]|keys[i]
		if i > 0 && keys[i] < keys[i-1] {
			after[2]++
		}
	}
	return m.newCase(m.tileGroups(), kernel.VaryingBitsArgsOf[argument]{
		Keys: inOf(bits, keys), Bits: argument{outOf(bits, before).after, outOf(bits, after).after},
		Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}

func reduceBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.ReduceArgsOf[[]byte]{
		Values: m.random(m.rows, m.config["in_bits"]), TileResults: zeros(int(m.tiles()), m.config["sum_bits"]),
		Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}

func varyingBitsBenchmark(m *maker) *Dispatch {
	keyBits := m.config["key_bits"]
	return m.dispatch(m.rows, kernel.VaryingBitsArgsOf[[]byte]{
		Keys: m.random(m.rows, keyBits), Bits: zeros(3, keyBits), Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}
