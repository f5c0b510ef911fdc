package kerneltest

import (
	"math"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.GroupAccumulate, groupAccumulateCase, groupAccumulateBenchmark)
}

func groupAccumulateCase(m *maker) *Case {
	units, rows := m.units(40)
	ids, offsets := make([]uint32, rows), []uint32{0}
	var parts [][]int
	for unit := range m.rows {
		first, end := int(units[unit]), int(units[unit+1])
		groups := 0
		if end > first {
			groups = 1 + m.IntN(end-first)
		}
		from := len(parts)
		parts = append(parts, make([][]int, groups)...)
		for row := first; row < end; row++ {
			ids[row] = m.Uint32N(uint32(groups))
			parts[from+int(ids[row])] = append(parts[from+int(ids[row])], row)
		}
		offsets = append(offsets, uint32(len(parts)))
	}
	if kernel.GroupOp(m.config["op"]) == kernel.GroupAny {
		return m.groupAny(rows, parts, kernel.GroupAccumulateArgsOf[argument]{IDs: in(ids), Units: in(units),
			Offsets: in(offsets), Count: uint32(m.rows)})
	}
	r := m.reduction(rows, parts)
	return m.newCase(m.groups(), kernel.GroupAccumulateArgsOf[argument]{IDs: in(ids), Units: in(units),
		Offsets: in(offsets), Value: r.Value, Value2: r.Value2, Valid: r.Valid, State: r.State, State2: r.State2,
		State3: r.State3, Count: uint32(m.rows), Bits: r.Bits, Shift: r.Shift, Kind: r.Kind, ValidBit: r.ValidBit,
		FirstRow: r.FirstRow, FirstRowHigh: r.FirstRowHigh, Flip: r.Flip})
}

// groupAny draws a value for each part; those without rows keep what they had.
func (m *maker) groupAny(rows int, parts [][]int, args kernel.GroupAccumulateArgsOf[argument]) *Case {
	args.Bits = 32 << m.IntN(2)
	values, states := make([]uint64, rows), make([]uint64, len(parts))
	for s, part := range parts {
		value := m.Uint64()
		for _, row := range part {
			values[row] = value
		}
		if states[s] = value; len(part) == 0 {
			states[s] = untouched
		}
	}
	args.Value, args.State = inOf(args.Bits, values), outOf(args.Bits, states)
	return m.newCase(m.groups(), args)
}

func groupAccumulateBenchmark(m *maker) *Dispatch {
	starts, units := m.benchmarkUnits()
	const groups = 128 // of a unit
	args := kernel.GroupAccumulateArgsOf[[]byte]{IDs: words(m.rows, 32, func(int) uint64 { return m.Uint64N(groups) }),
		Units: starts, Offsets: words(units+1, 32, func(i int) uint64 { return uint64(i * groups) }),
		Value: words(m.rows, 64, func(i int) uint64 { return math.Float64bits(float64(m.IntN(1000))) }),
		State: zeros(units*groups, 64), State2: zeros(units*groups, 64), Count: uint32(units), Bits: 64,
		Kind: kernel.GroupSigned}
	if op := kernel.GroupOp(m.config["op"]); op != kernel.GroupSum && op != kernel.GroupAny {
		args.Kind = kernel.GroupFloat
	}
	if m.config["op"] == uint32(kernel.GroupMoments) {
		args.State3 = zeros(units*groups, 64)
	}
	return m.dispatch(units, args)
}
