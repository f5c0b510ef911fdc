package kerneltest

import (
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.TableBuild, tableBuildCase, tableBuildBenchmark)
	add(kernel.TableProbe, tableProbeCase, tableProbeBenchmark)
	add(kernel.TableCount, tableCountCase, tableCountBenchmark)
	add(kernel.TableMark, tableMarkCase, tableMarkBenchmark)
}

// tableOf puts rows into a hash table in random order, as the kernel does; lost are those that find no slot. With
// distinct a row whose key is there needs none.
func (m *maker) tableOf(keys []uint64, hashes []uint32, slots int, patience uint32, distinct bool) (table []uint32,
	lost []int) {
	table = make([]uint32, slots)
next:
	for _, row := range m.Perm(len(hashes)) {
		for tries := range patience {
			slot := &table[(hashes[row]+tries)%uint32(slots)]
			if *slot == 0 {
				*slot = hashes[row]/uint32(slots)*uint32(slots) + uint32(row) + 1
				continue next
			}
			if distinct && keys[int(*slot)%slots-1] == keys[row] {
				continue next
			}
		}
		lost = append(lost, row)
	}
	return table, lost
}

// firstMatch is 1 + the left row that a key finds first in a table; 0: none.
func firstMatch(table []uint32, left []uint64, key uint64, hash uint32) uint32 {
	for slots := uint32(len(table)); table[hash%slots] > 0; hash++ {
		if row := table[hash%slots] % slots; left[row-1] == key {
			return row
		}
	}
	return 0
}

// likeHashed turns keys into others whose hashes differ in the bits of mask alone, so that slots do not tell them
// apart. Equal keys stay equal.
func likeHashed(keys []uint64, keyBits, seed uint32, slots int) {
	for i, key := range keys {
		if hash := uint32(key) % uint32(slots); keyBits == 32 {
			keys[i] = uint64(kernel.Unmix(hash, seed))
		} else {
			keys[i] = kernel.Unmix(key>>32<<32|uint64(hash), seed)
		}
	}
}

// hashesOf are the hashes of keys in a table.
func hashesOf(keys []uint64, keyBits, seed uint32) []uint32 {
	hashes := make([]uint32, len(keys))
	for i, key := range keys {
		hashes[i] = uint32(kernel.Mix(key, seed))
		if keyBits == 32 {
			hashes[i] = kernel.Mix(uint32(key), seed)
		}
	}
	return hashes
}

func tableBuildCase(m *maker) *Case {
	// How many rows find no slot depends on their order, unless none or all but the first of a slot do, and there every
	// key is as frequent as the others if its rows share one.
	keyBits, patience, seed := m.config["key_bits"], m.draw("patience", 8192, 1), m.Uint32()
	distinct := m.draw("distinct", 0, 1) == 1
	keys, slots := m.column(m.rows, keyBits, 0), 2<<bits.Len(uint(m.rows))
	if m.IntN(2) == 0 {
		likeHashed(keys, keyBits, seed, slots)
	}
	if distinct && patience == 1 {
		slices.Sort(keys)
		keys = slices.Compact(keys)
		keys = slices.Repeat(keys[:len(keys)/2], 2)
		m.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	}
	rows, hashes, occurrences := len(keys), hashesOf(keys, keyBits, seed), make(map[uint64]uint32)
	for _, key := range keys {
		occurrences[key]++
	}
	own := make([]bool, rows) // rows that take slots of their own
	table, lost := m.tableOf(keys, hashes, slots, patience, distinct)
	for _, entry := range table {
		if entry > 0 {
			own[int(entry)%slots-1] = true
		}
	}
	before, lostRows := m.Uint32N(3), make([]uint32, (rows+31)/32)
	for _, row := range lost {
		lostRows[row/32] |= 1 << (row % 32)
	}
	args := kernel.TableBuildArgsOf[argument]{
		Keys: inOf(keyBits, keys), Slots: changed(make([]uint32, slots), table),
		Lost:     changed([]uint32{before}, []uint32{before + uint32(len(lost))}),
		LostRows: changed(make([]uint32, len(lostRows)), lostRows), Rows: uint32(rows), Mask: uint32(slots - 1),
		Seed: seed,
	}
	if distinct {
		repeats := make([]uint32, rows)
		for row := range repeats {
			if own[row] {
				repeats[row] = occurrences[keys[row]] - 1
			}
		}
		args.Repeats = changed(make([]uint32, rows), repeats)
	}
	c := m.newCase(m.groups(), args)
	// Which row is in which of the slots that it may have is open, and which row of a key: a table in order counts as
	// empty where each row is in a slot, repeated or lost, as lost count those that the case expects, and as repeated no
	// row that is in a slot.
	c.canonical = func(args [][]byte) {
		table, seen, found := backend.Words(args[1])[:slots], make([]bool, rows), uint32(0)
		for slot, entry := range table {
			if entry == 0 {
				continue
			}
			row := int(entry)%slots - 1
			if row < 0 || row >= rows || seen[row] || entry/uint32(slots) != hashes[row]/uint32(slots) {
				return
			}
			seen[row] = true
			found++
			distance := (uint32(slot) - hashes[row]) % uint32(slots)
			for d := range distance {
				if table[(hashes[row]+d)%uint32(slots)] == 0 {
					return
				}
			}
			if distance >= patience {
				return
			}
			if distinct {
				repeats := &backend.Words(args[4])[row]
				if *repeats+1 != occurrences[keys[row]] {
					return
				}
				found += *repeats
				*repeats = 0
			}
		}
		marks := backend.Words(args[3])[:len(lostRows)]
		for row := range 32 * len(marks) {
			if marks[row/32]>>(row%32)&1 == 1 {
				if row >= rows || seen[row] {
					return
				}
				found++
			}
		}
		if found == uint32(rows) {
			clear(table)
			copy(marks, lostRows)
		}
	}
	return c
}

func tableProbeCase(m *maker) *Case {
	m.drawDear("placing", kernel.AtOffsets, kernel.Reserving)
	words := m.payloadWords()
	j, slots := m.probedTable()
	j.words = words
	joined := m.join(j)
	c := m.newCase(j.groups, kernel.TableProbeArgsOf[argument]{
		Slots: in(slots), JoinColumns: joined.columns, JoinRows: joined.rows, Rows: uint32(m.rows),
		Mask: uint32(len(slots) - 1),
	})
	c.canonical = joined.canonical
	return c
}

func tableCountCase(m *maker) *Case {
	j, table := m.probedTable()
	keyBits := m.config["key_bits"]
	counts := make([]uint64, len(j.counts))
	for tile, count := range j.counts {
		counts[tile] = uint64(count)
	}
	var repeatsArg argument
	if m.config["distinct"] == 1 { // any, so that tiles reach beyond 32 bits
		repeats := narrow(m.column(len(j.left), 32, 1<<30))
		repeatsArg = in(repeats)
		clear(counts)
		for r, hash := range hashesOf(j.right, keyBits, m.config["seed"]) {
			if match := firstMatch(table, j.left, j.right[r], hash); match > 0 {
				counts[r/m.tileRows()] += 1 + uint64(repeats[match-1])
			}
		}
	}
	return m.newCase(j.groups, kernel.TableCountArgsOf[argument]{
		Slots: in(table), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), Repeats: repeatsArg,
		Counts: out(counts), Rows: uint32(m.rows), Mask: uint32(len(table) - 1),
	})
}

func tableMarkCase(m *maker) *Case {
	sides, among := m.draw("sides", 1, 3, 2), m.draw("among", 0, 1)
	j, table := m.probedTable()
	keyBits := m.config["key_bits"]
	partners, partnerWords := m.bitmap(len(j.left))
	_, leftBefore := m.bitmap(len(j.left))
	_, rightBefore := m.bitmap(len(j.right))
	left, right := slices.Clone(leftBefore), slices.Clone(rightBefore)
	for r, hash := range hashesOf(j.right, keyBits, m.config["seed"]) {
		match := firstMatch(table, j.left, j.right[r], hash)
		if match == 0 || among == 1 && !partners[match-1] {
			continue
		}
		left[(match-1)/32] |= 1 << ((match - 1) % 32)
		right[r/32] |= 1 << (r % 32)
	}
	args := kernel.TableMarkArgsOf[argument]{
		Slots: in(table), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), Rows: uint32(m.rows),
		Mask: uint32(len(table) - 1),
	}
	if among == 1 {
		args.Partners = in(partnerWords)
	}
	if sides != 2 {
		args.RightMarks = changed(rightBefore, right)
	}
	if sides != 1 {
		args.LeftMarks = changed(leftBefore, left)
	}
	return m.newCase(j.groups, args)
}

// probedTable draws a hash table and right rows.
func (m *maker) probedTable() (_ join, table []uint32) {
	keyBits, seed := m.config["key_bits"], m.byShape("seed", 0x12345678, 0xfedcba98)
	unique := m.IntN(2) == 0
	if _, may := m.config["unique"]; may {
		unique = m.byShape("unique", 0, 1) == 1
	}
	distinct := false
	if _, may := m.config["distinct"]; may && m.draw("distinct", 0, 1) == 1 {
		distinct, unique = true, false
	}
	patience := m.byShape("patience", 8192, 3000)
	size := m.IntN(m.rows + 2)
	if m.distribution == "equal" || m.distribution == "extreme" || m.distribution == "few" {
		size = min(size, 12)
	}
	bound := uint64(2*size + 1)
	if m.IntN(2) == 0 {
		bound = 0
	}
	left, right, slots := m.column(size, keyBits, bound), m.column(m.rows, keyBits, bound), 2<<bits.Len(uint(size))
	if m.IntN(2) == 0 {
		likeHashed(left, keyBits, seed, slots)
		likeHashed(right, keyBits, seed, slots)
	}
	if unique {
		slices.Sort(left)
		left = slices.Compact(left)
		m.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	}
	for i := range right {
		if len(left) > 0 && m.IntN(2) == 0 {
			right[i] = left[m.IntN(len(left))]
		}
	}
	table, _ = m.tableOf(left, hashesOf(left, keyBits, seed), slots, patience, distinct)
	numbers := make(map[uint64][]uint32)
	for l, key := range left {
		numbers[key] = append(numbers[key], uint32(l))
	}
	var rows []joined
	counts, offsets := make([]uint64, m.tiles()), make([]uint64, m.tiles())
	for tile := range counts {
		offsets[tile] = uint64(len(rows))
		for r := tile * m.tileRows(); r < min((tile+1)*m.tileRows(), m.rows); r++ {
			for _, l := range numbers[right[r]] {
				rows = append(rows, joined{right[r], l, uint32(r)})
				counts[tile]++
			}
		}
	}
	return join{
		groups: m.tileGroups(), left: left, right: right, rows: rows, counts: counts, offsets: offsets,
	}, table
}

func tableBuildBenchmark(m *maker) *Dispatch {
	build := m.tableOfEighth()
	return m.dispatch(int(build.Rows), build)
}

// tableOfEighth are the arguments that put an eighth of the rows into a table.
func (m *maker) tableOfEighth() kernel.TableBuildArgsOf[[]byte] {
	left, mask := max(1, m.rows/8), uint32(1)
	for mask < 2*uint32(left) {
		mask = 2*mask + 1
	}
	return kernel.TableBuildArgsOf[[]byte]{
		Keys: words(left, m.config["key_bits"], spread), Slots: zeros(int(mask)+1, 32), Lost: zeros(1, 32),
		LostRows: zeros((left+31)/32, 32), Rows: uint32(left), Mask: mask, Seed: 1,
	}
}

func tableProbeBenchmark(m *maker) *Dispatch { return m.dispatch(m.rows, m.probeOfEighth()) }

// probeOfEighth are the arguments that look all rows up in a table with an eighth of them.
func (m *maker) probeOfEighth() kernel.TableProbeArgsOf[[]byte] {
	build, keyBits := m.tableOfEighth(), m.config["key_bits"]
	serial := backend.Config{"key_bits": keyBits, "patience": 256, "workgroup": 1, "items": 64}
	NewDispatch(kernel.TableBuild.KernelSpec, serial, int(build.Rows), build).RunReference()
	left := int(build.Rows)
	return kernel.TableProbeArgsOf[[]byte]{
		Slots: build.Slots,
		JoinColumns: kernel.JoinColumns[[]byte]{
			LeftKeys:    build.Keys,
			RightKeys:   words(m.rows, keyBits, func(int) uint64 { return spread(m.IntN(left)) }),
			LeftPayload: m.random(left, 32), RightPayload: m.random(m.rows, 32),
			Places:  words(int(m.tiles()), 64, func(i int) uint64 { return uint64(i * m.tileRows()) }),
			KeysOut: zeros(m.rows, keyBits), LeftOut: zeros(m.rows, 32), RightOut: zeros(m.rows, 32),
		},
		JoinRows: kernel.JoinRows{OutRows: uint32(m.rows)}, Rows: uint32(m.rows), Mask: build.Mask,
	}
}

func tableCountBenchmark(m *maker) *Dispatch {
	probe := m.probeOfEighth()
	return m.dispatch(m.rows, kernel.TableCountArgsOf[[]byte]{
		Slots: probe.Slots, LeftKeys: probe.LeftKeys, RightKeys: probe.RightKeys, Counts: zeros(int(m.tiles()), 64),
		Rows: probe.Rows, Mask: probe.Mask,
	})
}

func tableMarkBenchmark(m *maker) *Dispatch {
	probe := m.probeOfEighth()
	return m.dispatch(m.rows, kernel.TableMarkArgsOf[[]byte]{
		Slots: probe.Slots, LeftKeys: probe.LeftKeys, RightKeys: probe.RightKeys,
		RightMarks: zeros((m.rows+31)/32, 32), Rows: probe.Rows, Mask: probe.Mask,
	})
}
