package relation

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
)

// Values of more than 64 bits are read as texts: the bytes of a string, of a byte string, or of a number that takes 32.
// Texts are equal if and only if the values are, whatever the layouts of the two columns; their codes are hashes of
// these bytes ([kernel.HashText]), and what codes find has to be compared ([KeyPlan.Equal]). Where the texts of one side are
// all short they are codes themselves.

// texts is a reader whose values have texts.
type texts interface {
	reader
	// text is that of one row, in the column's own memory; of a null row it is anything.
	text(row int) string
	// longest is how many bytes a text has at most.
	longest() int
}

// isText tells whether values are read as texts.
func (c coding) isText() bool { return c.method == methodText || c.method == methodShort }

// shortBytes is how many bytes a text may have to be a code: these bytes, and in the lowest 3 bits how many there are.
const shortBytes = 7

// short reads texts of up to width bytes as codes: the bytes as a number, the first one highest, with zeros behind them
// up to the width, and then their number, so that codes order as the texts do.
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

// shortText is the text of a code, for messages.
func shortText(code uint64, width int) string {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], code>>3<<(8*(8-width)))
	return strconv.Quote(string(bytes[:code&7]))
}

// newTexts chooses the reader of a chunk that is no dictionary. It makes sure that all texts lie within the chunk's
// buffers.
func newTexts(chunk arrow.Array, c coding) (texts, error) {
	data := chunk.Data()
	if err := checkValidity(data); err != nil {
		return nil, err
	}
	switch dt := chunk.DataType().(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return newSpanned[int32](data)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return newSpanned[int64](data)
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return newViewed(chunk)
	case *arrow.FixedSizeBinaryType:
		return newFixed(data, dt.ByteWidth)
	case *arrow.MonthDayNanoIntervalType:
		return newFixed(data, dt.Bytes())
	}
	return newWide(chunk, c)
}

// textOf is n bytes from start on.
func textOf(data []byte, start, n int) string {
	if n == 0 {
		return ""
	}
	return unsafe.String(&data[start:][:n][0], n)
}

// touchRows is how many texts are brought near at a time.
const touchRows = 1 << 8

// spanned reads texts that lie one behind the other, told by offsets.
type spanned[O int32 | int64] struct {
	offsets spans[O]
	data    []byte
	most    atomic.Int64
}

func newSpanned[O int32 | int64](data arrow.ArrayData) (texts, error) {
	r := &spanned[O]{data: bufferBytes(data, 2)}
	rows, err := data.Len(), error(nil)
	if rows == 0 {
		return r, nil
	}
	if r.offsets, err = spansOf[O](data); err != nil {
		return nil, err
	}
	first, last := int64(r.offsets[0]), int64(r.offsets[rows])
	if first < 0 || last > int64(len(r.data)) {
		return nil, fmt.Errorf("its texts span [%d, %d) of %d bytes", first, last, len(r.data))
	}
	return r, forBlocks(context.Background(), rows, func(_ *scratch, from, to int) error {
		start, descends, most := r.offsets[from], O(0), O(0)
		for _, end := range r.offsets[from+1 : to+1] {
			descends |= end - start // negative once, negative for good
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

// atMost raises a maximum.
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
	if err := checkBuffers(data, 8*arrow.ViewHeaderSizeBytes); err != nil {
		return nil, err
	}
	r.headers = view[arrow.ViewHeader](bufferBytes(data, 1))[data.Offset():][:data.Len()]
	for i := range data.Buffers()[2:] {
		r.buffers = append(r.buffers, bufferBytes(data, 2+i))
	}
	return r, forBlocks(context.Background(), data.Len(), func(_ *scratch, from, to int) error {
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

// holds tells whether a view lies within its buffer; that of a null may be anything.
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
	if err := checkBuffers(data, 8*width); err != nil {
		return nil, err
	}
	return &fixed{bufferBytes(data, 1)[data.Offset()*width:][:data.Len()*width], width}, nil
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

// wide reads numbers of up to 256 bits at the scale of the domain, which it has made of what is stored. Those beyond
// have no code.
type wide struct {
	fixed
	beyond []uint64 // bit i: row i has a number beyond
}

const wideBytes = 32

func newWide(chunk arrow.Array, c coding) (texts, error) {
	if err := checkBuffers(chunk.Data(), bitWidth(chunk)); err != nil {
		return nil, err
	}
	rows := chunk.Len()
	r := &wide{fixed{make([]byte, rows*wideBytes), wideBytes}, make([]uint64, (rows+63)/64)}
	reach, factor := wideReach(c.raise)
	number, words := numbers(chunk, traitOf(chunk.DataType())), view[[4]uint64](r.data)
	return r, forBlocks(context.Background(), rows, func(_ *scratch, from, to int) error {
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

// wideReach is 10^raise, and the greatest of the numbers that stay within 256 bits when they are multiplied with it.
func wideReach(raise int) (most, factor decimal256.Num) {
	if raise > 76 { // only 0 does
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

// text is that of the entry that a row points to.
func (r *indexed) text(row int) string {
	var one [1]uint64
	if entry := r.index.codes(one[:], row, 1)[0]; entry < uint64(len(r.texts)) { // null rows may have any index
		return r.texts[entry]
	}
	return ""
}

// longest is that of the entries.
func (r *indexed) longest() (most int) {
	for _, text := range r.texts {
		most = max(most, len(text))
	}
	return most
}

// longestText is how many bytes the texts of a column have at most.
func (c *keyColumn) longestText() (most int) {
	for i := range c.chunks {
		most = max(most, c.chunks[i].reader.(texts).longest())
	}
	return most
}

// gatherTexts returns what reads the texts of rows of a column, which are anywhere, at most fetchRows.
func gatherTexts(chunks []keyChunk, l *locator) func(out []string, rows []uint32) {
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
			chunk, row := l.find(id)
			out[i] = chunks[chunk].reader.(texts).text(row)
		}
	}
}

func gatherSpanned[O int32 | int64](chunks []keyChunk, l *locator) func(out []string, rows []uint32) {
	sources := make([]*spanned[O], len(chunks))
	for i, chunk := range chunks {
		sources[i] = chunk.reader.(*spanned[O])
	}
	none := new(byte)
	return func(out []string, rows []uint32) {
		var of [fetchRows]uint32
		var places [fetchRows]*[2]O
		for i, id := range rows {
			chunk, row := l.find(id)
			of[i], places[i] = uint32(chunk), sources[chunk].offsets.of(row)
		}
		var spans [fetchRows][2]O
		fetch(spans[:], places[:len(rows)])
		var starts [fetchRows]*byte
		for i := range rows {
			start, end := spans[i][0], spans[i][1]
			out[i], starts[i] = textOf(sources[of[i]].data, int(start), int(end-start)), none
			if start < end {
				starts[i] = unsafe.StringData(out[i])
			}
		}
		var firsts [fetchRows]byte
		fetch(firsts[:], starts[:len(rows)])
	}
}
