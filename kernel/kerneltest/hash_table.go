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
}

// tableOf puts rows into a hash table in random order, as the kernel does; lost are those that find no slot.
func (m *maker) tableOf(hashes []uint32, slots int, patience uint32) (table []uint32, lost uint32) {
	table = make([]uint32, slots)
next:
	for _, row := range m.Perm(len(hashes)) {
		for tries := range patience {
			if slot := &table[(hashes[row]+tries)%uint32(slots)]; *slot == 0 {
				*slot = hashes[row]/uint32(slots)*uint32(slots) + uint32(row) + 1
				continue next
			}
		}
		lost++
	}
	return table, lost
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
	// How many rows find no slot depends on their order, unless none or all but the first of a slot do.
	keyBits, patience, seed := m.config["key_bits"], m.draw("patience", 8192, 1), m.Uint32()
	keys, slots := m.column(m.rows, keyBits, 0), 2<<bits.Len(uint(m.rows))
	hashes := hashesOf(keys, keyBits, seed)
	table, lost := m.tableOf(hashes, slots, patience)
	before := m.Uint32N(3)
	c := m.newCase(m.groups(), kernel.TableBuildArgsOf[argument]{
		Keys: inOf(keyBits, keys), Slots: changed(make([]uint32, slots), table),
		Lost: changed([]uint32{before}, []uint32{before + lost}), Rows: uint32(m.rows), Mask: uint32(slots - 1),
		Seed: seed,
	})
	// Which row is in which of the slots that it may have is open: a table in order counts as empty.
	c.canonical = func(args [][]byte) {
		table, seen := backend.Words(args[1])[:slots], make([]bool, m.rows)
		for slot, entry := range table {
			if entry == 0 {
				continue
			}
			row := int(entry)%slots - 1
			if row < 0 || row >= m.rows || seen[row] || entry/uint32(slots) != hashes[row]/uint32(slots) {
				return
			}
			seen[row] = true
			distance := (uint32(slot) - hashes[row]) % uint32(slots)
			for d := range distance {
				if table[(hashes[row]+d)%uint32(slots)] == 0 {
					return
				}
			}
			if distance >= patience {
				return
			}
		}
		clear(table)
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

// probedTable draws a hash table and right rows.
func (m *maker) probedTable() (_ join, table []uint32) {
	keyBits, seed := m.config["key_bits"], m.byShape("seed", 0x12345678, 0xfedcba98)
	unique := m.IntN(2) == 0
	if _, may := m.config["unique"]; may {
		unique = m.byShape("unique", 0, 1) == 1
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
	left, right := m.column(size, keyBits, bound), m.column(m.rows, keyBits, bound)
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
	slots := 2 << bits.Len(uint(len(left)))
	table, _ = m.tableOf(hashesOf(left, keyBits, seed), slots, patience)
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
		Rows: uint32(left), Mask: mask, Seed: 1,
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
