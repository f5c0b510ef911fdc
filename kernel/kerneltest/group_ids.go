package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.GroupIDs, groupIDsCase, groupIDsBenchmark)
}

// units are m.rows units of up to most rows each: where they begin, and the end.
func (m *maker) units(most int) (units []uint32, rows int) {
	units = []uint32{0}
	for range m.rows {
		if m.IntN(4) > 0 {
			rows += m.IntN(most + 1)
		}
		units = append(units, uint32(rows))
	}
	return units, rows
}

func groupIDsCase(m *maker) *Case {
	bits, slots := m.config["key_bits"], 4<<m.IntN(5)
	units, rows := m.units(40)
	dense := uint32(m.IntN(2))
	bound := uint64(slots)
	if dense == 0 {
		bound = []uint64{0, 20, 3}[m.IntN(3)]
	}
	count := m.rows
	m.rows = rows
	keys := m.column(rows, bits, bound)
	m.rows = count
	ids, counts, flushes := make([]uint32, rows), make([]uint32, count), uint32(0)
	for unit := range counts {
		unitRows := units[unit+1] - units[unit]
		numbers, used := make(map[uint64]uint32), int(kernel.GroupSlots(unitRows, uint32(slots)))
		for i := units[unit]; i < units[unit+1]; i++ {
			id, known := numbers[keys[i]]
			if !known {
				if dense == 0 && len(numbers) == used-used/4 {
					clear(numbers)
					flushes++
				}
				id = counts[unit]
				numbers[keys[i]] = id
				counts[unit]++
			}
			ids[i] = id
		}
	}
	table := make([]uint32, int(m.groups()*m.config["workgroup"])*slots*2*int(bits)/32)
	return m.newCase(m.groups(), kernel.GroupIDsArgsOf[argument]{
		Keys: inOf(bits, keys), Units: in(units), Table: changed(table, table), IDs: out(ids), Counts: out(counts),
		Flushes: changed([]uint32{7}, []uint32{7 + flushes}), Count: uint32(count), Slots: uint32(slots), Dense: dense,
	})
}

// benchmarkUnits are units of 1,024 rows, and how many of them, over m.rows rows.
func (m *maker) benchmarkUnits() (starts []byte, units int) {
	units = (m.rows + 1023) / 1024
	return words(units+1, 32, func(i int) uint64 { return uint64(min(i*1024, m.rows)) }), units
}

func groupIDsBenchmark(m *maker) *Dispatch {
	bits, slots := m.config["key_bits"], 1024
	starts, units := m.benchmarkUnits()
	table := zeros(int(m.groupsFor(units)*m.config["workgroup"])*slots*2, bits)
	return m.dispatch(units, kernel.GroupIDsArgsOf[[]byte]{
		Keys: words(m.rows, bits, func(int) uint64 { return m.Uint64N(300) }), Units: starts, Table: table,
		IDs: zeros(m.rows, 32), Counts: zeros(units, 32), Flushes: zeros(1, 32), Count: uint32(units),
		Slots: uint32(slots),
	})
}
