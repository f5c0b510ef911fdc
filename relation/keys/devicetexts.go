package keys

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// TextColumn describes the device memory for rows of a key column that a device hashes and compares: the bytes of the
// texts, and where each text begins, unless all have the same width.
type TextColumn struct {
	Width   uint32 // bytes of each text; 0 if they have starts
	Coded   bool   // the texts are 8-byte codes of values, which also serve as their hashes
	Bytes   uint64 // total bytes of all texts
	Longest uint64 // upper bound on the bytes of a text of the table
}

// BytesNeeded returns the size of the buffer for the bytes, with the padding that kernels read.
func (c *TextColumn) BytesNeeded() uint64 { return (c.Bytes + kernel.TextPadding + 3) / 4 * 4 }

// StartsNeeded returns the size of the buffer for the starts of rows texts; 0 if there are none.
func (c *TextColumn) StartsNeeded(rows uint64) uint64 {
	if c.Width > 0 {
		return 0
	}
	return (rows + 1) * 4
}

// MaxTextBytes is the longest text in bytes that a device hashes; one invocation reads all of it.
const MaxTextBytes = 1 << 20

// MaxTextsBytes is the largest buffer for the bytes of a column, because starts have 32 bits.
const MaxTextsBytes = math.MaxUint32

// DeviceTexts reports whether a device can hash and compare the keys. That takes codes that are hashes and not proved,
// and texts, contiguous or of one width, of at most [MaxTextBytes]. Columns that are not texts take part as texts of 8
// bytes, their codes. The host handles texts of views and dictionaries, and keys in which NULL occurs as a value.
func (p *Plan) DeviceTexts() bool {
	if p.Exact() {
		return false
	}
	for k := range p.keys {
		for side := range p.sides {
			c := p.sides[side].columns[k]
			if p.keys[k].nullsEqual && c.hasNulls() || p.keys[k].isText() && !p.keys[k].sides[side].packed() {
				return false
			}
			if p.textColumn(relation.Side(side), k, 0, 0).Longest > MaxTextBytes {
				return false
			}
		}
	}
	return true
}

// packedTexts are texts that are contiguous in memory.
type packedTexts interface {
	texts
	// span returns the bytes of the rows [from, to).
	span(from, to int) []byte
	// width returns the bytes of each text; 0 if they have starts.
	width() int
	// starts writes to out where the text of row from and of the rows after it begin, minus origin, in bytes. The row
	// behind the last one has a start too: the end of the last text.
	starts(out []uint32, from int, origin int64)
	// offset returns where a row begins, on the scale of origin.
	offset(row int) int64
}

func (r *spanned[O]) span(from, to int) []byte { return r.data[r.offsets[from]:r.offsets[to]] }
func (*spanned[O]) width() int                 { return 0 }
func (r *spanned[O]) offset(row int) int64     { return int64(r.offsets[row]) }

func (r *spanned[O]) starts(out []uint32, from int, origin int64) {
	for i, offset := range r.offsets[from:][:len(out)] {
		out[i] = uint32(int64(offset) - origin)
	}
}

func (r *fixed) span(from, to int) []byte        { return r.data[from*r.size : to*r.size] }
func (r *fixed) width() int                      { return r.size }
func (r *fixed) offset(row int) int64            { return int64(row * r.size) }
func (*fixed) starts(_ []uint32, _ int, _ int64) {}

// packed reports whether the texts of a column are contiguous.
func (t *keyType) packed() bool {
	return t.coding.method == methodText && t.dtype.ID() != arrow.DICTIONARY && t.trait.Layout != relation.LayoutViews
}

// TextColumns describes the key columns of the rows [from, to) of a side for a device. [Plan.DeviceTexts] must be
// true.
func (p *Plan) TextColumns(side relation.Side, from, to int) (columns []TextColumn) {
	for k := range p.keys {
		columns = append(columns, p.textColumn(side, k, from, to))
	}
	return columns
}

func (p *Plan) textColumn(side relation.Side, k, from, to int) (t TextColumn) {
	c := p.sides[side].columns[k]
	if !p.keys[k].isText() {
		return TextColumn{Width: 8, Coded: true, Bytes: uint64(to-from) * 8, Longest: 8}
	}
	for part := range c.segments(from, to) {
		t.Bytes += uint64(len(part.reader.(packedTexts).span(part.from, part.from+part.n)))
	}
	for i := range c.chunks {
		t.Longest = max(t.Longest, uint64(c.chunks[i].reader.(packedTexts).longest()))
		t.Width = uint32(c.chunks[i].reader.(packedTexts).width())
	}
	return t
}

// UploadTexts uploads key column k of the rows [from, to) of a side: its bytes, and the starts of the texts unless they
// have one width. The ranges have the sizes given by its [TextColumn]. The copies have been submitted when UploadTexts
// returns. A table in imported memory must stay alive until they are done.
//
// Errors wrap backend.ErrInvalidInput (a column that a device cannot have, ranges that are too small), backend.ErrLimit
// (texts that take more than [MaxTextsBytes]), device errors, backend.ErrCancelled or backend.ErrTimedOut.
func (p *Plan) UploadTexts(ctx context.Context, device *backend.Device, side relation.Side, k, from, to int,
	bytes, starts backend.Range) error {
	if err := p.checkRange(side, from, to); err != nil {
		return err
	}
	c := p.sides[side].columns[k]
	if p.keys[k].isText() && !p.keys[k].sides[side].packed() {
		return fmt.Errorf("%w: key column %d of the %s table has texts that are not packed", backend.ErrInvalidInput, k,
			side)
	}
	t := p.textColumn(side, k, from, to)
	if need := t.BytesNeeded(); need > MaxTextsBytes {
		return fmt.Errorf("%w: texts of rows [%d, %d) of key column %d take %d bytes", backend.ErrLimit, from, to, k,
			need)
	}
	if bytes.SizeBytes < t.BytesNeeded() ||
		starts.SizeBytes < t.StartsNeeded(uint64(to-from)) {
		return fmt.Errorf("%w: %d bytes of texts and %d of starts do not hold rows [%d, %d) of key column %d",
			backend.ErrInvalidInput, bytes.SizeBytes, starts.SizeBytes, from, to, k)
	}
	if !p.keys[k].isText() {
		return c.uploadCodes(ctx, device, from, to, bytes)
	}
	into := byteUpload{ctx: ctx, device: device, to: bytes}
	for part := range c.segments(from, to) {
		source := part.reader.(packedTexts)
		if source.width() == 0 {
			first, last := int64(into.bytes()), part.at+part.n == to-from
			if err := part.uploadStarts(ctx, device, source, first, last, starts); err != nil {
				return err
			}
		}
		if err := into.add(source.span(part.from, part.from+part.n)); err != nil {
			return err
		}
	}
	return into.end()
}

// uploadStarts uploads the starts of the texts of a segment, of which the first begins at byte first of the range. With
// last, it also uploads the end of the last text.
func (s *segment) uploadStarts(ctx context.Context, device *backend.Device, source packedTexts, first int64, last bool,
	starts backend.Range) error {
	origin, rows := source.offset(s.from)-first, s.n
	if last {
		rows++
	}
	if narrow, ok := source.(*spanned[int32]); ok && origin == 0 {
		_, err := device.Upload(ctx, starts.Part(uint64(s.at)*4, uint64(rows)*4),
			backend.AsBytes(narrow.offsets[s.from:][:rows]))
		return err
	}
	words := make([]uint32, min(rows, relation.StageRows))
	for at := 0; at < rows; at += relation.StageRows {
		part := words[:min(relation.StageRows, rows-at)]
		if err := relation.ForBlocks(ctx, len(part), func(from, to int) error {
			source.starts(part[from:to], s.from+at+from, origin)
			return nil
		}); err != nil {
			return err
		}
		if _, err := device.Upload(ctx, starts.Part(uint64(s.at+at)*4, uint64(len(part))*4),
			backend.AsBytes(part)); err != nil {
			return err
		}
	}
	return nil
}

// uploadCodes uploads the codes of the rows [from, to) as texts.
func (c *keyColumn) uploadCodes(ctx context.Context, device *backend.Device, from, to int, into backend.Range) error {
	codes := make([]uint64, min(to-from, relation.StageRows))
	for at := from; at < to; at += relation.StageRows {
		part := codes[:min(relation.StageRows, to-at)]
		if err := forBlocks(ctx, len(part), func(s *scratch, from, to int) error {
			for strip := from; strip < to; strip += StripRows {
				end := min(strip+StripRows, to)
				copy(part[strip:end], c.codes(s, at+strip, at+end))
			}
			return nil
		}); err != nil {
			return err
		}
		if _, err := device.Upload(ctx, into.Part(uint64(at-from)*8, uint64(len(part))*8),
			backend.AsBytes(part)); err != nil {
			return err
		}
	}
	return nil
}

// byteUpload uploads byte slices one after the other. It copies whole words, so that up to 3 bytes wait for the next
// slice.
type byteUpload struct {
	ctx     context.Context
	device  *backend.Device
	to      backend.Range
	done    uint64 // bytes uploaded so far
	rest    [4]byte
	waiting int
}

// bytes returns the number of bytes added so far.
func (u *byteUpload) bytes() uint64 { return u.done + uint64(u.waiting) }

func (u *byteUpload) add(bytes []byte) error {
	if u.waiting > 0 {
		n := copy(u.rest[u.waiting:], bytes)
		u.waiting, bytes = u.waiting+n, bytes[n:]
		if u.waiting < len(u.rest) {
			return nil
		}
		u.waiting = 0
		if err := u.upload(u.rest[:]); err != nil {
			return err
		}
	}
	whole := len(bytes) &^ 3
	u.waiting = copy(u.rest[:], bytes[whole:])
	return u.upload(bytes[:whole])
}

func (u *byteUpload) end() error {
	if u.waiting == 0 {
		return nil
	}
	return u.upload(u.rest[:])
}

func (u *byteUpload) upload(bytes []byte) error {
	_, err := u.device.Upload(u.ctx, u.to.Part(u.done, uint64(len(bytes))), bytes)
	u.done += uint64(len(bytes))
	return err
}

// KeptHash returns a mask of the hash bits that are kept ([Plan.KeepHashBits]).
func (p *Plan) KeptHash() uint64 { return ^p.dropped }
