package keys

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// Texts with few different values are numbered: all cores look the texts up in one table, and add those that it does
// not have. The code of a text is its number, so that codes are exact and have as few bits as a dictionary needs, and
// the table has a row with each text, which gives the text of a code back.
//
//	rows  aa b aa c      numbers  0 1 0 2      rows with the texts 0, 1 and 2:  0 1 3
//
// Texts of up to 15 bytes are compared as two words, the last byte of which is their length.

// leastNumbered is the number of rows from which on texts are numbered. A variable for tests.
var leastNumbered = 1 << 12

const (
	numberSample = 1 << 13 // rows from which the number of texts is estimated
	rowsOfText   = 16      // at least, of a numbered column, on average
	mostTexts    = 1 << 20
	spelledBytes = 15 // of a text that is compared as two words
	longText     = uint64(0xff) << 56
	spellMixLow  = 0x9e3779b97f4a7c15
	spellMixHigh = 0xbf58476d1ce4e5b9
	slotsOfText  = 2           // at least
	textBytes    = 16 + 16 + 4 // of textTable.texts, long and rows
)

// spelled is a text as two words: its bytes and, in the highest byte, its length; or if it has more bytes, its hash and
// longText.
type spelled struct{ low, high uint64 }

// hash mixes all bits. Its high bits choose a slot.
func (s spelled) hash() uint64 {
	high, low := bits.Mul64(s.low^spellMixHigh, s.high^spellMixLow)
	return (high ^ low ^ s.low) * spellMixLow
}

// textTable numbers texts. find and number may be called from several goroutines.
type textTable struct {
	shift uint
	slots []uint32 // 1 + a number; 0 if free. They are written under the lock
	texts []spelled
	long  []string // those that are longer
	rows  []uint32 // a row with each text

	lock  sync.Mutex
	count int
	full  atomic.Bool // there were more texts than room
}

func newTextTable(texts int) *textTable {
	slots := textSlotBits(texts)
	return &textTable{shift: uint(64 - slots), slots: make([]uint32, 1<<slots), texts: make([]spelled, texts),
		long: make([]string, texts), rows: make([]uint32, texts)}
}

func textSlotBits(texts int) int { return bits.Len(uint(texts*slotsOfText - 1)) }

// textTableBytes is the memory of a table with room for a number of texts.
func textTableBytes(texts int) uint64 { return 4<<textSlotBits(texts) + uint64(texts)*textBytes }

// is reports whether text n is the given one. long is its text if it is a long one.
func (t *textTable) is(n uint32, s spelled, long string) bool {
	return t.texts[n] == s && (s.high != longText || t.long[n] == long)
}

// number returns the number of a text, which it adds if it is new.
func (t *textTable) number(s spelled, hash uint64, long string, row int) uint32 {
	mask := len(t.slots) - 1
	at := int(hash >> t.shift)
	look := func() (number uint32, found bool) {
		for ; ; at = (at + 1) & mask {
			slot := atomic.LoadUint32(&t.slots[at])
			if slot == 0 || t.is(slot-1, s, long) {
				return slot - 1, slot > 0
			}
		}
	}
	if n, found := look(); found {
		return n
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	n, found := look() // others may have added it, or others before it
	if found {
		return n
	}
	if t.count == len(t.texts) {
		t.full.Store(true)
		return 0
	}
	n = uint32(t.count)
	t.texts[n], t.long[n], t.rows[n] = s, long, uint32(row)
	t.count++
	atomic.StoreUint32(&t.slots[at], n+1)
	return n
}

// textStrip is the working memory of [textTable.strip].
type textStrip struct {
	texts  [relation.FetchRows]spelled
	hashes [relation.FetchRows]uint64
}

// strip numbers the texts of rows of a chunk, at most FetchRows, from row from of the chunk on. NULL gets any number.
func (t *textTable) strip(b *textStrip, chunk *keyChunk, from int, numbers []uint32) {
	all, source := b.texts[:len(numbers)], chunk.reader.(texts)
	spell(source, all, from)
	for i, s := range all {
		b.hashes[i] = s.hash()
	}
	// No step depends on the one before, so that cache misses overlap.
	slots, known := t.slots, t.texts
	for i, hash := range b.hashes[:len(all)] {
		slot := atomic.LoadUint32(&slots[hash>>(t.shift&63)])
		if slot > 0 && known[slot-1] == all[i] && all[i].high != longText {
			numbers[i] = slot - 1
			continue
		}
		if bit := chunk.offset + from + i; chunk.validity != nil && chunk.validity[bit>>3]>>(bit&7)&1 == 0 {
			numbers[i] = 0 // its text may be anything, and its row is not one with that text
			continue
		}
		long := ""
		if all[i].high == longText {
			long = source.text(from + i)
		}
		numbers[i] = t.number(all[i], hash, long, chunk.start+from+i)
	}
}

// spell reads the texts from row from on.
func spell(source texts, out []spelled, from int) {
	switch r := source.(type) {
	case *short:
		spell(r.texts, out, from)
	case *spanned[int32]:
		r.spell(out, from)
	case *spanned[int64]:
		r.spell(out, from)
	default:
		for i := range out {
			out[i] = spellText(source.text(from + i))
		}
	}
}

func (r *spanned[O]) spell(out []spelled, from int) {
	start := int(r.offsets[from])
	for i, offset := range r.offsets[from+1:][:len(out)] {
		end := int(offset)
		if n := end - start; n <= spelledBytes && start+16 <= len(r.data) {
			out[i] = spellWords((*[2]uint64)(relation.View[uint64](r.data[start:][:16])), n)
		} else {
			out[i] = spellText(textOf(r.data, start, n))
		}
		start = end
	}
}

// spellWords cuts two words to n bytes, at most spelledBytes.
func spellWords(words *[2]uint64, n int) spelled {
	if n < 8 {
		return spelled{words[0] & (1<<(8*n&63) - 1), uint64(n) << 56}
	}
	return spelled{words[0], words[1]&(1<<(8*(n-8)&63)-1) | uint64(n)<<56}
}

func spellText(text string) spelled {
	if len(text) > spelledBytes {
		return spelled{kernel.HashText(text), longText}
	}
	var bytes [2]uint64
	copy(backend.AsBytes(bytes[:]), text)
	return spellWords(&bytes, len(text))
}

// numberTexts numbers the texts of the keys of a side, of which each column has few different ones, unless there are
// few rows, or room, if it is not nil, refuses the memory. Nothing else has made codes of them before.
func (p *Plan) numberTexts(ctx context.Context, side relation.Side, room func(byBytes int64) bool) error {
	s := &p.sides[side]
	if s.rows < leastNumbered {
		return nil
	}
	for k := range p.keys {
		key, column := &p.keys[k], s.columns[k]
		if !key.sides[side].coding.isText() {
			continue
		}
		table, numbers, err := column.number(ctx, s.rows, room)
		if err != nil {
			return err
		}
		if table == nil {
			continue
		}
		for i := range column.chunks {
			c := &column.chunks[i]
			c.reader = newScaled(numbers[c.start:][:c.rows], coding{domain: domainUnsigned})
		}
		column.numbered, column.texts, column.numbers = table, nil, gatherScaled[uint32](column)
		key.domain = domainUnsigned
		for side := range key.sides {
			key.sides[side].coding = coding{domain: domainUnsigned, method: methodNumber}
		}
	}
	return nil
}

// number numbers the texts of a column. The table is nil if there are too many or no room, or the chunks have
// dictionaries.
func (c *keyColumn) number(ctx context.Context, rows int, room func(byBytes int64) bool) (*textTable, []uint32,
	error) {
	for i := range c.chunks {
		switch c.chunks[i].reader.(type) {
		case *indexed, never, *wide:
			return nil, nil, nil
		}
	}
	most := min(rows/rowsOfText, mostTexts)
	different := c.estimateTexts(rows)
	var numbers []uint32
	var taken int64
	for different <= most {
		texts := different + different/2 + 1<<8
		more := int64(textTableBytes(texts)) + 4*int64(rows) - taken
		if room != nil && !room(more) {
			break
		}
		taken += more
		t := newTextTable(texts)
		if numbers == nil {
			numbers = make([]uint32, rows)
		}
		err := relation.ForBlocks(ctx, rows, func(from, to int) error {
			b := new(textStrip)
			for part := range c.segments(from, to) {
				for first := 0; first < part.n && !t.full.Load(); first += relation.FetchRows {
					row := part.from + first
					t.strip(b, part.keyChunk, row, numbers[part.start+row:][:min(relation.FetchRows, part.n-first)])
				}
			}
			return nil
		})
		if err != nil || !t.full.Load() {
			return t, numbers, err
		}
		if different == most {
			break
		}
		different = min(8*max(different, 1<<8), most)
	}
	if taken > 0 && room != nil {
		room(-taken)
	}
	return nil, nil, nil
}

// estimateTexts estimates the number of different texts from a sample, as if they were drawn alike.
func (c *keyColumn) estimateTexts(rows int) int {
	t, drawn := newTextTable(2*numberSample), 0
	b, number := new(textStrip), make([]uint32, 1)
	for from := range relation.Blocks(uint64(rows), numberSample, 1) {
		for part := range c.segments(int(from), int(from)+1) {
			t.strip(b, part.keyChunk, part.from, number)
			drawn++
		}
		if drawn == len(t.texts) {
			break
		}
	}
	return int(min(uint64(rows), relation.DrawnFrom(float64(drawn), float64(t.count))))
}

// extent is the range of the numbers.
func (t *textTable) extent(null bool) extent {
	return extent{max: uint64(max(t.count, 1) - 1), some: t.count > 0, null: null}
}

// HasRows reports whether [Plan.RowsOf] knows the rows of key k: its texts are numbered.
func (p *Plan) HasRows(k int) bool {
	return !p.hashed && p.sides[relation.Left].columns[k].numbered != nil
}

// RowsOf returns a row with the value of key k, of which [Plan.HasRows] is true, of each of the packed codes, of
// KeyBytes each.
func (p *Plan) RowsOf(k int, codes []byte) []uint32 {
	key, column, shift := &p.keys[k], p.sides[relation.Left].columns[k], 0
	for _, next := range p.keys[k+1:] {
		shift += next.bits
	}
	known := column.numbered.rows[:key.extent.max+1]
	if key.extent.null {
		known = append(slices.Clip(known), column.firstNull())
	}
	if p.KeyBytes() == 4 {
		return rowsOfCodes(known, relation.View[uint32](codes), shift, key.bits)
	}
	return rowsOfCodes(known, relation.View[uint64](codes), shift, key.bits)
}

func rowsOfCodes[K uint32 | uint64](known []uint32, codes []K, shift, bits int) []uint32 {
	rows, mask := make([]uint32, len(codes)), uint64(1)<<bits-1
	for i, code := range codes {
		rows[i] = known[uint64(code)>>(shift&63)&mask]
	}
	return rows
}

// firstNull returns the first row that is NULL, of which there is one.
func (c *keyColumn) firstNull() uint32 {
	row := uint32(0)
	for !c.isNull(row) {
		row++
	}
	return row
}
