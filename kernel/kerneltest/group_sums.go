package kerneltest

import (
	"math/big"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.GroupSums, groupSumsCase, groupSumsBenchmark)
}

// groupUnits draws units over m.rows rows. The codes of a unit belong to one of parts parts, each of size codes. A unit
// is whole if it is the only one of its part. part is the part of each row.
func (m *maker) groupUnits(parts, size int) (units []uint32, part []int) {
	part = make([]int, m.rows)
	for p, first := 0, 0; p < parts; p++ {
		end := m.rows
		if p+1 < parts {
			end = first + m.IntN(m.rows-first+1)
		}
		cuts := []int{first, end}
		if m.IntN(2) == 0 && end > first {
			cuts = []int{first, first + m.IntN(end-first), end}
		}
		whole := uint32(0)
		if len(cuts) == 2 {
			whole = 1
		}
		for i, at := range cuts[1:] {
			units = append(units, uint32(cuts[i]), uint32(at), uint32(p*size), whole)
		}
		for row := first; row < end; row++ {
			part[row] = p
		}
		first = end
	}
	return units, part
}

// groupPlacesCase draws tiles whose codes are slots, with places of their own.
func groupPlacesCase(m *maker) *Case {
	slots, tile, groups := 1<<m.IntN(8), m.tileRows(), int(m.groups())
	codes, v := narrow(m.column(m.rows, 32, uint64(slots))), m.groupSumsValues()
	places, counts := make([]uint32, groups*slots), make([]uint64, groups*slots)
	for i, place := range m.Perm(len(places)) {
		places[i] = uint32(place)
	}
	sums := make([]*big.Int, len(places))
	for i := range sums {
		sums[i] = new(big.Int)
	}
	for row, code := range codes {
		if at := row/tile*slots + int(code); v.isValid[row] {
			counts[places[at]]++
			sums[places[at]].Add(sums[places[at]], v.integers[row])
		}
	}
	low, high := make([]uint64, len(places)), make([]uint64, len(places))
	for i, sum := range sums {
		low[i], high[i] = words128(sum)
	}
	for i, place := range places { // some slots are not taken
		if counts[place] == 0 && m.IntN(2) == 0 {
			places[i] = ^uint32(0)
			counts[place], low[place], high[place] = untouched, untouched, untouched
		}
	}
	m.set("counted", 1)
	m.set("carried", 1)
	args := kernel.GroupSumsArgsOf[argument]{Codes: in(codes), Places: in(places), Valid: v.valid, Counts: out(counts),
		Rows: uint32(m.rows), Slots: uint32(slots), Ranges: 1, Bits: v.bits, Shift: v.shift, Kind: v.kind,
		ValidBit: v.validBit}
	if m.config["value_bits"] > 0 {
		args.Value, args.Value2, args.State, args.State2 = v.value, v.value2, out(low), out(high)
	}
	return m.newCase(uint32(groups), args)
}

// groupSumsValues draws values of the width that the configuration has.
func (m *maker) groupSumsValues() *groupValues {
	v := m.groupValues(m.rows, false)
	for valueBits := m.config["value_bits"]; valueBits > 0 && max(32, v.bits) != valueBits; {
		v = m.groupValues(m.rows, false)
	}
	return v
}

func groupSumsCase(m *maker) *Case {
	if m.IntN(3) == 0 {
		return groupPlacesCase(m)
	}
	slots, ranges, parts := 1<<m.IntN(10), 1<<m.IntN(3), 1
	var units []uint32
	size, part := slots*ranges, make([]int, m.rows)
	if m.IntN(2) == 0 {
		parts = 1 + m.IntN(4)
		units, part = m.groupUnits(parts, size)
	}
	codes := narrow(m.column(m.rows, 32, uint64(size)))
	rows := make([][]int, parts*size)
	v := m.groupSumsValues()
	for row := range codes {
		codes[row] += uint32(part[row] * size)
		if v.isValid[row] {
			rows[codes[row]] = append(rows[codes[row]], row)
		}
	}
	args := kernel.GroupSumsArgsOf[argument]{Codes: in(codes), Valid: v.valid, Rows: uint32(m.rows),
		Slots: uint32(slots), Ranges: uint32(ranges), Bits: v.bits, Shift: v.shift, Kind: v.kind, ValidBit: v.validBit}
	groups := m.groups() * uint32(ranges)
	whole := make([]bool, parts)
	if units != nil {
		args.Units, groups = in(units), uint32(len(units)/4*ranges)
		for u := 0; u < len(units); u += 4 {
			whole[units[u+2]/uint32(size)] = units[u+3] == 1
		}
	}
	before, n := m.Uint64(), len(rows)
	start := slices.Repeat([]uint64{before}, n)
	counts, low, high, marks := slices.Clone(start), slices.Clone(start), slices.Clone(start), make([]uint32, (n+31)/32)
	for code, rows := range rows {
		sum, of := new(big.Int), before
		for _, row := range rows {
			sum.Add(sum, v.integers[row])
		}
		if whole[code/size] {
			of = 0
		}
		added, addedHigh := words128(sum)
		var carry uint64
		counts[code] = of + uint64(len(rows))
		low[code], carry = bits.Add64(of, added, 0)
		high[code] = of + addedHigh + carry
		if len(rows) > 0 {
			marks[code/32] |= 1 << (code % 32)
		}
	}
	counted, valued, carried := m.draw("counted", 1, 0) == 1, m.config["value_bits"] > 0, true
	if m.config["value_bits"] == 64 {
		carried = m.draw("carried", 1, 0) == 1
	}
	if valued {
		args.Value, args.Value2, args.State = v.value, v.value2, changed(start, low)
		if carried {
			args.State2 = changed(start, high)
		}
	}
	if counted {
		args.Counts = changed(start, counts)
		if m.IntN(2) == 0 {
			args.Marks = changed(make([]uint32, len(marks)), marks)
		}
	}
	return m.newCase(groups, args)
}

func groupSumsBenchmark(m *maker) *Dispatch {
	const slots = 64
	args := kernel.GroupSumsArgsOf[[]byte]{Codes: words(m.rows, 32, func(int) uint64 { return m.Uint64N(slots) }),
		Counts: zeros(slots, 64), Rows: uint32(m.rows), Slots: slots, Ranges: 1, Bits: m.config["value_bits"],
		Kind: kernel.GroupSigned}
	if args.Bits > 0 {
		args.Value, args.State = m.random(m.rows, min(64, args.Bits)), zeros(slots, 64)
		args.State2 = zeros(slots, 64)
	}
	if args.Bits == 128 {
		args.Value2 = m.random(m.rows, 64)
	}
	return m.dispatch(m.rows, args)
}
