package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.MergeUnits, mergeUnitsCase, mergeUnitsBenchmark)
	add(kernel.MergeJoin, mergeJoinCase, mergeJoinBenchmark)
	add(kernel.MergeWalk, mergeJoinCase, mergeJoinBenchmark)
}

// sortedSides are sorted keys of both sides, of which many are equal.
func (m *maker) sortedSides(leftRows, rightRows int) (left, right []uint64) {
	keyBits := m.config["key_bits"]
	bound := uint64(leftRows + 1)
	if m.IntN(3) == 0 {
		bound = 0
	}
	left, right = m.column(leftRows, keyBits, bound), m.column(rightRows, keyBits, bound)
	for i := range right {
		if leftRows > 0 && m.IntN(2) == 0 {
			right[i] = left[m.IntN(leftRows)]
		}
	}
	slices.Sort(left)
	slices.Sort(right)
	return left, right
}

// tilesOf cuts the right side into tiles and finds for each the left rows that are not less than its first key and not
// greater than its last.
func tilesOf(left, right []uint64, tileRows int) (leftBounds, rightBounds []uint32) {
	low, high := 0, 0
	for first := 0; first < len(right); first += tileRows {
		end := min(first+tileRows, len(right))
		for low < len(left) && left[low] < right[first] {
			low++
		}
		for high < len(left) && left[high] <= right[end-1] {
			high++
		}
		leftBounds = append(leftBounds, uint32(low), uint32(high))
		rightBounds = append(rightBounds, uint32(first), uint32(end))
	}
	return leftBounds, rightBounds
}

func mergeUnitsCase(m *maker) *Case {
	tileRows, pieceRows := 1+m.IntN(6), 1+m.Uint32N(4)
	left, right := m.sortedSides(m.IntN(3*m.rows+3), max(0, m.rows*tileRows-m.IntN(tileRows)))
	leftBounds, rightBounds := tilesOf(left, right, tileRows)
	counts := make([]uint32, m.rows)
	for tile := range counts {
		for row := leftBounds[2*tile]; row < leftBounds[2*tile+1]; row += pieceRows {
			counts[tile]++
		}
	}
	keyBits := m.config["key_bits"]
	return m.newCase(m.groups(), kernel.MergeUnitsArgsOf[argument]{
		LeftKeys: inOf(keyBits, left), RightKeys: inOf(keyBits, right), LeftBounds: out(leftBounds),
		RightBounds: out(rightBounds), Counts: out(counts), LeftRows: uint32(len(left)),
		RightRows: uint32(len(right)), Tiles: uint32(m.rows), TileRows: uint32(tileRows), PieceRows: pieceRows,
	})
}

func mergeJoinCase(m *maker) *Case {
	m.drawDear("placing", kernel.AtOffsets, kernel.Reserving)
	words := m.payloadWords()
	j := m.sortedUnits()
	j.words = words
	joined := m.join(j)
	c := m.newCase(j.groups, kernel.MergeJoinArgsOf[argument]{
		Units: in(j.units), JoinColumns: joined.columns, JoinRows: joined.rows,
	})
	c.canonical = joined.canonical
	return c
}

// sortedUnits draws the units of sorted sides with m.rows right rows, and one without rows.
func (m *maker) sortedUnits() join {
	table := m.byShape("table", 700, 9)
	left, right := m.sortedSides(min(m.IntN(3*int(table)+2), 1+200_000/(m.rows+1)), m.rows)
	leftBounds, rightBounds := tilesOf(left, right, m.tileRows())
	units := []uint32{0, 0, 0, 0}
	for tile := range len(leftBounds) / 2 {
		for first, end := leftBounds[2*tile], leftBounds[2*tile+1]; first < end; first += table {
			units = append(units, first, min(first+table, end), rightBounds[2*tile], rightBounds[2*tile+1])
		}
	}
	var counts []uint64
	var offsets []uint64
	var rows []joined
	for unit := range slices.Chunk(units, 4) {
		before := len(rows)
		numbers := make(map[uint64][]uint32)
		for l := unit[0]; l < unit[1]; l++ {
			numbers[left[l]] = append(numbers[left[l]], l)
		}
		for r := unit[2]; r < unit[3]; r++ {
			for _, l := range numbers[right[r]] {
				rows = append(rows, joined{right[r], l, r})
			}
		}
		counts, offsets = append(counts, uint64(len(rows)-before)), append(offsets, uint64(before))
	}
	return join{
		units: units, groups: uint32(len(counts)), left: left, right: right, rows: rows, counts: counts,
		offsets: offsets,
	}
}

func mergeUnitsBenchmark(m *maker) *Dispatch {
	keyBits := m.config["key_bits"]
	return m.dispatch(m.rows, kernel.MergeUnitsArgsOf[[]byte]{
		LeftKeys: m.ascending(m.rows, 4*m.rows, keyBits), RightKeys: m.ascending(4*m.rows, 4*m.rows, keyBits),
		LeftBounds: zeros(2*m.rows, 32), RightBounds: zeros(2*m.rows, 32), Counts: zeros(m.rows, 32),
		LeftRows: uint32(m.rows), RightRows: uint32(4 * m.rows), Tiles: uint32(m.rows), TileRows: 4,
		PieceRows: 1280,
	})
}

func mergeJoinBenchmark(m *maker) *Dispatch {
	left := min(m.tileRows()/2, int(m.config["table"]))
	units, unitRows, columns, rows := m.joinOfPairs(left, number)
	return m.dispatch(units*m.tileRows(), kernel.MergeJoinArgsOf[[]byte]{
		Units: unitRows, JoinColumns: columns, JoinRows: rows,
	})
}
