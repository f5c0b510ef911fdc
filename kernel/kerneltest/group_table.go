package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.GroupTable, groupTableCase, groupTableBenchmark)
}

func groupTableCase(m *maker) *Case {
	keyBits, slots, seed := m.config["key_bits"], m.draw("slots", 64, 16, 1), m.Uint32()
	m.set("patience", slots)
	mix := func(key uint64, mix, mix32 func() uint64) uint64 {
		if keyBits == 64 {
			return mix()
		}
		return mix32()
	}
	digit, mask := []uint32{0, 2, 5}[m.IntN(3)], ^uint64(0)>>(64-keyBits)
	bound := []uint64{0, uint64(slots), 3}[m.IntN(3)]
	if m.rows <= 100 { // tables with room for all keys
		bound = uint64(slots)
	}
	keys := m.column(m.rows, keyBits, bound)
	tile, units, groups := m.tileRows(), []uint32(nil), m.groups()
	unitOf := func(row int) int { return row / tile }
	if digit > 0 || m.IntN(2) == 0 {
		var part []int
		units, part = m.groupUnits(1+m.IntN(4), 1)
		groups = uint32(len(units) / 4)
		of := make([]int, m.rows)
		for u := 0; u < len(units); u += 4 {
			for row := units[u]; row < units[u+1]; row++ {
				of[row] = u / 4
			}
		}
		unitOf = func(row int) int { return of[row] }
		for row := range keys {
			if digit > 0 {
				keys[row] = (keys[row]<<digit | uint64(part[row])) & mask
			}
		}
	}
	failed, ids, places := uint32(0), make([]uint32, m.rows), slices.Repeat([]uint32{^uint32(0)}, int(groups*slots))
	var keysOut, originals []uint64
	known, counts := make(map[[2]uint64]uint32), make([]uint32, groups)
	for row, key := range keys {
		original, mixed := key, key
		if digit > 0 {
			original = mix(key, func() uint64 { return kernel.Unmix(key, seed) },
				func() uint64 { return uint64(kernel.Unmix(uint32(key), seed)) })
		} else {
			mixed = mix(key, func() uint64 { return kernel.Mix(key, seed) },
				func() uint64 { return uint64(kernel.Mix(uint32(key), seed)) })
		}
		originals = append(originals, original)
		unit := unitOf(row)
		slot, found := known[[2]uint64{uint64(unit), key}]
		switch {
		case digit == 0 && (uint32(mixed) == 0 || keyBits == 64 && mixed>>32 == 0), !found && counts[unit] == slots:
			failed = 1
			continue
		case !found:
			slot = counts[unit]
			counts[unit]++
			known[[2]uint64{uint64(unit), key}] = slot
			places[unit*int(slots)+int(slot)] = uint32(len(keysOut))
			keysOut = append(keysOut, original)
		}
		ids[row] = slot
	}
	count := uint32(len(keysOut))
	room := count + m.Uint32N(2)
	if m.rows > 100 && m.IntN(8) == 0 && count > 0 {
		room, failed = count-1, 1
	}
	for len(keysOut) < int(room) {
		keysOut = append(keysOut, untouched&mask)
	}
	args := kernel.GroupTableArgsOf[argument]{Keys: inOf(keyBits, keys), IDs: out(ids), Places: out(places),
		KeysOut: outOf(keyBits, keysOut[:room]), Found: changed([]uint32{0, 0}, []uint32{count, failed}),
		Rows: uint32(m.rows), Digit: digit, Room: room, Seed: seed}
	if units != nil {
		args.Units = in(units)
	}
	c := m.newCase(groups, args)
	// Slots and places may be any. In order, ids are 0 for rows that lead to their key, places count the keys of a unit,
	// and keys are sorted; after a failure nothing counts.
	c.canonical = func(args [][]byte) {
		found, ids := backend.Words(args[5]), backend.Words(args[2])[:m.rows]
		places := backend.Words(args[3])[:groups*slots]
		held := args[4][:int(room)*int(keyBits)/8]
		if found[1] > 0 {
			found[0], found[1] = 0, 1
			clear(ids)
			clear(places)
			clear(held)
			return
		}
		keyAt := func(place uint32) uint64 {
			if keyBits == 64 {
				return backend.Longs(held)[place]
			}
			return uint64(backend.Words(held)[place])
		}
		for row, id := range ids {
			ids[row] = 1
			if id < slots {
				if place := places[unitOf(row)*int(slots)+int(id)]; place < room && keyAt(place) == originals[row] {
					ids[row] = 0
				}
			}
		}
		seen := make(map[uint32]bool)
		for unit := range groups {
			n, of := uint32(0), places[unit*slots:][:slots]
			for slot, place := range of {
				switch of[slot] = 0; {
				case place < found[0] && !seen[place]:
					seen[place] = true
					n++
				case place != ^uint32(0):
					n += slots // wrong
				}
			}
			of[0] = n
		}
		if keyBits == 64 {
			slices.Sort(backend.Longs(held)[:min(found[0], room)])
		} else {
			slices.Sort(backend.Words(held)[:min(found[0], room)])
		}
	}
	return c
}

func groupTableBenchmark(m *maker) *Dispatch {
	bits := m.config["key_bits"]
	slots := m.config["slots"]
	groups := m.groups()
	return m.dispatch(m.rows, kernel.GroupTableArgsOf[[]byte]{
		Keys: words(m.rows, bits, func(int) uint64 { return spread(m.IntN(300)) }), IDs: zeros(m.rows, 32),
		Places: zeros(int(groups*slots), 32), KeysOut: zeros(int(groups*slots), bits), Found: zeros(2, 32),
		Rows: uint32(m.rows), Room: groups * slots,
	})
}
