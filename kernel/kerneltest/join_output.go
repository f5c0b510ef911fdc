package kerneltest

import (
	"bytes"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// joined is an output row of a join.
type joined struct {
	key         uint64
	left, right uint32
}

func (r joined) leftRow() uint32  { return r.left }
func (r joined) rightRow() uint32 { return r.right }

// payloadWords sets how wide payload columns are: left, right, and the second ones.
func (m *maker) payloadWords() [4]uint32 {
	return [4]uint32{
		m.byShape("left_words", 1, 2), m.byShape("right_words", 2, 1),
		m.byShape("left_words_2", 2, 0), m.byShape("right_words_2", 0, 1),
	}
}

const joinHigh = 0xfeedbeef // of widened keys

// join is the common part of the cases of all kernels that join, count or mark.
type join struct {
	units       []uint32 // of kernels that have units
	groups      uint32
	left, right []uint64 // keys as the columns hold them
	rows        []joined // the output, unit by unit; in the order that the kernel must keep if ordered
	ordered     bool
	counts      []uint64 // by unit
	offsets     []uint64 // by unit
	words       [4]uint32
}

// joinArguments are the arguments that all kernels that join have.
type joinArguments struct {
	columns   kernel.JoinColumns[argument]
	rows      kernel.JoinRows
	canonical func(args [][]byte)
}

// Where arguments of kernels that join stand.
const (
	placesArgument = 7
	firstOutput    = 8
)

// join draws payload, places and room for the output.
func (m *maker) join(j join) (a joinArguments) {
	keyBits, reserving, paged := m.config["key_bits"], m.config["placing"] == kernel.Reserving, m.config["paged"] == 1
	keysBits, high := keyBits, uint64(0)
	if _, may := m.config["widened"]; may && keyBits == 32 && m.byShape("widened", 0, 1) == 1 {
		keysBits, high = 64, joinHigh
	}
	total, first := len(j.rows), m.IntN(3)
	room := total + m.IntN(3)
	if paged {
		room += int(j.groups * m.config["workgroup"] * (m.byShape("page_rows", 3, 1) - 1))
	}
	short := (paged || reserving) && m.distribution == "extreme" && total > 1
	if short {
		room = m.IntN(total)
	}
	outs := [5][]uint64{} // keys, and payload: left, right, left, right
	for i := range outs {
		outs[i] = slices.Repeat([]uint64{untouched}, first+room)
	}
	var payload [4][]uint64
	var columns [4]argument
	for i := range payload {
		size := [2]int{len(j.left), len(j.right)}[i%2]
		payload[i] = m.column(size, 64, 0)
		columns[i] = inOf(32*max(1, j.words[i]), payload[i])
		if m.IntN(3) == 0 {
			columns[i] = argument{}
			for row := range payload[i] {
				payload[i][row] = uint64(row)
			}
		}
	}
	for i, r := range j.rows {
		if !short {
			outs[0][first+i] = r.key | high<<32
			for p, number := range [4]uint32{r.left, r.right, r.left, r.right} {
				if j.words[p] > 0 {
					outs[1+p][first+i] = payload[p][number]
				}
			}
		}
	}
	var places argument
	switch {
	case m.config["marked"] == 1:
		places = m.markedPlaces(j, uint32(total))
	case reserving && !paged:
		places = changed(make([]uint32, 3), []uint32{uint32(total), uint32(total), 0})
	case !paged:
		places = changed(j.offsets, j.offsets)
	default:
		all := append(make([]uint32, kernel.BitmapWord), slices.Repeat([]uint32{^uint32(0)}, (first+room+31)/32)...)
		after := slices.Clone(all)
		after[0], after[1] = uint32(total), uint32(total)
		places = changed(all, after)
	}
	var outputs [5]argument
	widths := [5]int{int(keysBits / 8)}
	for i := range outs {
		if i > 0 {
			widths[i] = int(4 * max(1, j.words[i-1]))
		}
		if m.IntN(5) > 0 {
			outputs[i] = outOf(uint32(8*widths[i]), outs[i])
		}
	}
	a.columns = kernel.JoinColumns[argument]{
		LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), LeftPayload: columns[0],
		RightPayload: columns[1], LeftPayload2: columns[2], RightPayload2: columns[3], Places: places,
		KeysOut: outputs[0], LeftOut: outputs[1], RightOut: outputs[2], LeftOut2: outputs[3],
		RightOut2: outputs[4],
	}
	a.rows = kernel.JoinRows{FirstRow: uint32(first), OutRows: uint32(room)}
	if !j.ordered || reserving {
		a.canonical = func(args [][]byte) { sortRows(args[firstOutput:], widths[:], first+room) }
	}
	if paged { // rows are packed, as if no page had stayed empty in part
		a.canonical = func(args [][]byte) {
			places := backend.Words(args[placesArgument])
			taken, bitmap, rows := int(places[0]), places[kernel.BitmapWord:], 0
			if taken%int(m.config["page_rows"]) > 0 && taken != total || taken > room {
				return
			}
			for row := range taken {
				if at := first + row; bitmap[at/32]>>(at%32)&1 == 0 {
					bitmap[at/32] |= 1 << (at % 32)
					continue
				}
				for i, width := range widths {
					if column := args[firstOutput+i]; column != nil && rows < row {
						copy(column[(first+rows)*width:][:width], column[(first+row)*width:][:width])
						copy(column[(first+row)*width:][:width], slices.Repeat([]byte{marker}, width))
					}
				}
				rows++
			}
			places[0] = uint32(rows)
			sortRows(args[firstOutput:], widths[:], first+room)
		}
	}
	if short { // which rows find room is open
		a.canonical = func(args [][]byte) {
			clear(args[placesArgument][:4])
			if paged {
				clear(backend.Words(args[placesArgument])[kernel.BitmapWord:])
			}
			for i, width := range widths {
				if args[firstOutput+i] != nil {
					clear(args[firstOutput+i][first*width:][:room*width])
				}
			}
		}
	}
	return a
}

// sortRows sorts rows, whose columns have values of widths bytes; some columns may be absent.
func sortRows(columns [][]byte, widths []int, rows int) {
	joined := make([][]byte, rows)
	for i, column := range columns {
		for r := range joined {
			if column != nil {
				joined[r] = append(joined[r], column[r*widths[i]:(r+1)*widths[i]]...)
			}
		}
	}
	slices.SortFunc(joined, bytes.Compare)
	for r, row := range joined {
		for i, column := range columns {
			if column != nil {
				copy(column[r*widths[i]:], row[:widths[i]])
				row = row[widths[i]:]
			}
		}
	}
}

// joinOfPairs are the arguments of a benchmark: units of left rows with two matches each, and room for all of them.
func (m *maker) joinOfPairs(left int, key func(i int) uint64) (
	units int, unitRows []byte, c kernel.JoinColumns[[]byte], rows kernel.JoinRows,
) {
	keyBits := m.config["key_bits"]
	units = max(1, m.rows/(2*left))
	unitRows = words(4*units, 32, func(i int) uint64 {
		begin := i / 4 * left
		return uint64([4]int{begin, begin + left, 2 * begin, 2 * (begin + left)}[i%4])
	})
	c = kernel.JoinColumns[[]byte]{
		LeftKeys:    words(units*left, keyBits, key),
		RightKeys:   words(2*units*left, keyBits, func(i int) uint64 { return key(i / 2) }),
		LeftPayload: m.random(units*left, 32), RightPayload: m.random(2*units*left, 32),
		Places:  words(units, 64, func(i int) uint64 { return uint64(i * 2 * left) }),
		KeysOut: zeros(2*units*left, keyBits), LeftOut: zeros(2*units*left, 32),
		RightOut: zeros(2*units*left, 32),
	}
	return units, unitRows, c, kernel.JoinRows{OutRows: uint32(2 * units * left)}
}
