package keys

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// Values of more than 64 bits are read as texts: the bytes of a string or byte string, or the 32 bytes of a number.
// Texts are equal if and only if the values are, whatever the layouts of the two columns. Their codes are hashes of
// these bytes ([kernel.HashText]), so the keys of candidate pairs have to be compared ([Plan.Equal]). If all texts
// of one side are short, the texts themselves are packed as codes.

// texts is a reader of values that have texts.
type texts interface {
	reader
	// text returns the text of a row, in the column's memory. It is arbitrary for a null row.
	text(row int) string
	// longest returns an upper bound on the bytes of a text.
	longest() int
}

// isText reports whether values are read as texts.
func (c coding) isText() bool { return c.method == methodText || c.method == methodShort }

// shortBytes is the maximum length of a text that is packed as a code: its bytes, and in the lowest 3 bits its length.
const shortBytes = 7

// short reads texts of up to width bytes as codes: the bytes as a number, the first one highest, padded with zeros to
// the width, and then the length, so that codes order as the texts do.
type short struct {
	texts
	width int
}

func (r *short) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	for i := range scratch {
		text := r.text(from + i)
		code := uint64(0)
		for at := range min(len(text), r.width) {
			code = code<<8 | uint64(text[at])
		}
		scratch[i] = code<<(8*max(0, r.width-len(text)))<<3 | uint64(len(text)&7)
	}
	return scratch
}

func (r *short) filters() bool { return r.longest() > r.width }

func (r *short) admit(mask, _ []uint64, at, from, n int) int {
	for i := range n {
		if len(r.text(from+i)) > r.width {
			clearBit(mask, at+i)
		}
	}
	return 0
}

// shortText returns the text of a code, for messages.
func shortText(code uint64, width int) string {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], code>>3<<(8*(8-width)))
	return strconv.Quote(string(bytes[:code&7]))
}

// newTexts returns the reader of a chunk that is not a dictionary. It checks that all texts lie within the buffers.
func newTexts(chunk arrow.Array, c coding) (texts, error) {
	data := chunk.Data()
	if err := relation.CheckValidity(data); err != nil {
		return nil, err
	}
	switch t := relation.TraitOf(chunk.DataType()); t.Layout {
	case relation.LayoutOffsets32:
		return newSpanned[int32](data)
	case relation.LayoutOffsets64:
		return newSpanned[int64](data)
	case relation.LayoutViews:
		return newViewed(chunk)
	case relation.LayoutBytes:
		return newFixed(data, t.Storage.(arrow.FixedWidthDataType).Bytes())
	}
	return newWide(chunk, c)
}

// textOf returns n bytes of data, from start on, as a string without a copy.
func textOf(data []byte, start, n int) string {
	if n == 0 {
		return ""
	}
	return unsafe.String(&data[start:][:n][0], n)
}

// touchRows is the number of texts that are brought into the cache at a time.
const touchRows = 1 << 8

// spanned reads contiguous texts with offsets.
type spanned[O int32 | int64] struct {
	offsets relation.Spans[O]
	data    []byte
	most    atomic.Int64
}

func newSpanned[O int32 | int64](data arrow.ArrayData) (texts, error) {
	r := &spanned[O]{data: relation.BufferBytes(data, 2)}
	rows, err := data.Len(), error(nil)
	if rows == 0 {
		return r, nil
	}
	if r.offsets, err = relation.SpansOf[O](data); err != nil {
		return nil, err
	}
	first, last := int64(r.offsets[0]), int64(r.offsets[rows])
	if first < 0 || last > int64(len(r.data)) {
		return nil, fmt.Errorf("its texts span [%d, %d) of %d bytes", first, last, len(r.data))
	}
	return r, relation.ForBlocks(context.Background(), rows, func(from, to int) error {
		start, descends, most := r.offsets[from], O(0), O(0)
		for _, end := range r.offsets[from+1 : to+1] {
			descends |= end - start // negative if any difference is
			most = max(most, end-start)
			start = end
		}
		atMost(&r.most, int(most))
		if descends < 0 {
			return fmt.Errorf("its offsets do not ascend")
		}
		return nil
	})
}

// atMost raises a maximum to at least n.
func atMost(most *atomic.Int64, n int) {
	for old := most.Load(); old < int64(n) && !most.CompareAndSwap(old, int64(n)); old = most.Load() {
	}
}

func (r *spanned[O]) longest() int { return int(r.most.Load()) }

func (r *spanned[O]) text(row int) string {
	start := r.offsets[row]
	return textOf(r.data, int(start), int(r.offsets[row+1]-start))
}

func (r *spanned[O]) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	for i := range scratch {
		if i%touchRows == 0 {
			last := min(i+touchRows, n)
			near(r.data[r.offsets[from+i]:r.offsets[from+last]])
		}
		scratch[i] = kernel.HashText(r.text(from + i))
	}
	return scratch
}

func (*spanned[O]) filters() bool                        { return false }
func (*spanned[O]) admit(_, _ []uint64, _, _, _ int) int { return 0 }

// viewed reads texts in the view layout.
type viewed struct {
	headers []arrow.ViewHeader
	buffers [][]byte
	most    atomic.Int64
}

func newViewed(chunk arrow.Array) (texts, error) {
	data, r := chunk.Data(), new(viewed)
	if err := relation.CheckBuffers(data, 8*arrow.ViewHeaderSizeBytes); err != nil {
		return nil, err
	}
	r.headers = relation.View[arrow.ViewHeader](relation.BufferBytes(data, 1))[data.Offset():][:data.Len()]
	for i := range data.Buffers()[2:] {
		r.buffers = append(r.buffers, relation.BufferBytes(data, 2+i))
	}
	return r, relation.ForBlocks(context.Background(), data.Len(), func(from, to int) error {
		most := 0
		for row := from; row < to; row++ {
			if r.holds(row) {
				most = max(most, r.headers[row].Len())
			} else if chunk.IsValid(row) {
				return fmt.Errorf("row %d views bytes that are not there", row)
			}
		}
		atMost(&r.most, most)
		return nil
	})
}

// holds reports whether a view lies within its buffer. The view of a null row may be anything.
func (r *viewed) holds(row int) bool {
	h := &r.headers[row]
	if h.Len() < 0 || h.IsInline() {
		return h.Len() >= 0
	}
	i, start := int(h.BufferIndex()), int(h.BufferOffset())
	return i >= 0 && i < len(r.buffers) && start >= 0 && start+h.Len() <= len(r.buffers[i])
}

func (r *viewed) longest() int { return int(r.most.Load()) }

func (r *viewed) text(row int) string {
	h := &r.headers[row]
	switch {
	case !r.holds(row):
		return ""
	case h.IsInline():
		return h.InlineString()
	}
	return textOf(r.buffers[h.BufferIndex()], int(h.BufferOffset()), h.Len())
}

func (r *viewed) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	near(r.headers[from:][:n])
	for i := range scratch {
		scratch[i] = kernel.HashText(r.text(from + i))
	}
	return scratch
}

func (*viewed) filters() bool                        { return false }
func (*viewed) admit(_, _ []uint64, _, _, _ int) int { return 0 }

// fixed reads texts of one length.
type fixed struct {
	data []byte
	size int
}

func newFixed(data arrow.ArrayData, width int) (texts, error) {
	if err := relation.CheckBuffers(data, 8*width); err != nil {
		return nil, err
	}
	return &fixed{relation.BufferBytes(data, 1)[data.Offset()*width:][:data.Len()*width], width}, nil
}

func (r *fixed) longest() int { return r.size }

func (r *fixed) text(row int) string { return textOf(r.data, row*r.size, r.size) }

func (r *fixed) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	near(r.data[from*r.size:][:n*r.size])
	for i := range scratch {
		scratch[i] = kernel.HashText(r.text(from + i))
	}
	return scratch
}

func (*fixed) filters() bool                        { return false }
func (*fixed) admit(_, _ []uint64, _, _, _ int) int { return 0 }

// wide reads numbers as texts of 32 bytes, scaled to the domain. Numbers that then exceed 256 bits have no code.
type wide struct {
	fixed
	beyond []uint64 // bit i: the number of row i exceeds 256 bits
}

const wideBytes = 32

func newWide(chunk arrow.Array, c coding) (texts, error) {
	if err := relation.CheckBuffers(chunk.Data(), bitWidth(chunk)); err != nil {
		return nil, err
	}
	rows := chunk.Len()
	r := &wide{fixed{make([]byte, rows*wideBytes), wideBytes}, make([]uint64, (rows+63)/64)}
	reach, factor := wideReach(c.raise)
	number, words := numbers(chunk, relation.TraitOf(chunk.DataType())), relation.View[[4]uint64](r.data)
	return r, relation.ForBlocks(context.Background(), rows, func(from, to int) error {
		for row := from; row < to; row++ {
			n := number(row)
			switch {
			case c.raise == 0:
				words[row] = n.Array()
			case n.Greater(reach) || n.Less(reach.Negate()):
				setBit(r.beyond, row)
			default:
				words[row] = n.Mul(factor).Array()
			}
		}
		return nil
	})
}

// wideReach returns 10^raise as factor, and the greatest number that fits 256 bits when multiplied by it.
func wideReach(raise int) (most, factor decimal256.Num) {
	if raise > 76 { // only 0 fits
		return most, decimal256.FromI64(1)
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(raise)), nil)
	limit := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(1))
	return decimal256.FromBigInt(limit.Quo(limit, power)), decimal256.FromBigInt(power)
}

func (*wide) filters() bool { return true }

func (r *wide) admit(mask, _ []uint64, at, from, n int) int {
	for i := range n {
		if hasBit(r.beyond, from+i) {
			clearBit(mask, at+i)
		}
	}
	return 0
}

// text returns the text of the entry that a row refers to.
func (r *indexed) text(row int) string {
	var one [1]uint64
	if entry := r.index.codes(one[:], row, 1)[0]; entry < uint64(len(r.texts)) { // null rows may have any index
		return r.texts[entry]
	}
	return ""
}

// longest returns the length of the longest entry.
func (r *indexed) longest() (most int) {
	for _, text := range r.texts {
		most = max(most, len(text))
	}
	return most
}

// longestText returns an upper bound on the bytes of a text of the column.
func (c *keyColumn) longestText() (most int) {
	for i := range c.chunks {
		most = max(most, c.chunks[i].reader.(texts).longest())
	}
	return most
}

// gatherTexts returns a function that reads the texts of the given rows, at most FetchRows.
func gatherTexts(chunks []keyChunk, l *relation.Locator) func(out []string, rows []uint32) {
	if len(chunks) > 0 {
		switch chunks[0].reader.(type) {
		case *spanned[int32]:
			return gatherSpanned[int32](chunks, l)
		case *spanned[int64]:
			return gatherSpanned[int64](chunks, l)
		}
	}
	return func(out []string, rows []uint32) {
		for i, id := range rows {
			chunk, row := l.Find(id)
			out[i] = chunks[chunk].reader.(texts).text(row)
		}
	}
}

func gatherSpanned[O int32 | int64](chunks []keyChunk, l *relation.Locator) func(out []string, rows []uint32) {
	sources := make([]*spanned[O], len(chunks))
	for i, chunk := range chunks {
		sources[i] = chunk.reader.(*spanned[O])
	}
	none := new(byte)
	return func(out []string, rows []uint32) {
		var of [relation.FetchRows]uint32
		var places [relation.FetchRows]*[2]O
		for i, id := range rows {
			chunk, row := l.Find(id)
			of[i], places[i] = uint32(chunk), sources[chunk].offsets.Of(row)
		}
		var spans [relation.FetchRows][2]O
		relation.Fetch(spans[:], places[:len(rows)])
		var starts [relation.FetchRows]*byte
		for i := range rows {
			start, end := spans[i][0], spans[i][1]
			out[i], starts[i] = textOf(sources[of[i]].data, int(start), int(end-start)), none
			if start < end {
				starts[i] = unsafe.StringData(out[i])
			}
		}
		var firsts [relation.FetchRows]byte
		relation.Fetch(firsts[:], starts[:len(rows)])
	}
}
