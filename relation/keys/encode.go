package keys

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Encode writes the packed codes of the rows of a side to keys, in row order and without rows that are left out:
// KeyBytes() bytes each, little endian. If LeavesOut(side), it also writes the number of each of these rows to rowIDs;
// otherwise code i belongs to row i and rowIDs is not touched. It runs on all cores.
//
// keys must hold Rows(side) codes and rowIDs, if used, Rows(side) numbers, otherwise the error is
// backend.ErrInvalidInput. Memory behind them is not touched. If the context ends, the error is backend.ErrCancelled or
// backend.ErrTimedOut, and the contents of both slices are unspecified.
func (p *Plan) Encode(ctx context.Context, side relation.Side, keys []byte, rowIDs []uint32) error {
	if err := p.encode(ctx, side, keys, rowIDs); err != nil {
		return fmt.Errorf("encode join keys of the %s side: %w", side, err)
	}
	return nil
}

func (p *Plan) encode(ctx context.Context, side relation.Side, keys []byte, rowIDs []uint32) error {
	rows := p.Rows(side)
	if need := rows * uint64(p.KeyBytes()); uint64(len(keys)) < need {
		return fmt.Errorf("%w: %d rows need %d bytes, keys has %d", backend.ErrInvalidInput, rows, need, len(keys))
	}
	if p.LeavesOut(side) && uint64(len(rowIDs)) < rows {
		return fmt.Errorf("%w: %d rows need as many row numbers, rowIDs has %d", backend.ErrInvalidInput, rows,
			len(rowIDs))
	}
	if !p.LeavesOut(side) {
		rowIDs = nil
	}
	return p.encodeRows(ctx, side, 0, p.sides[side].rows, keys, rowIDs)
}

// encodeRows encodes the rows [from, to) of a side to the start of keys, and their numbers to the start of rowIDs
// unless it is nil, on all cores.
func (p *Plan) encodeRows(
	ctx context.Context, side relation.Side, from, to int, keys []byte, rowIDs []uint32,
) error {
	return forBlocks(ctx, to-from, func(s *scratch, first, end int) error {
		first, end = from+first, from+end
		at, ids := p.RowsIn(side, from, first), rowIDs
		if ids != nil {
			ids = ids[at:]
		}
		p.encodeBlock(s, side, first, end, keys[at*uint64(p.KeyBytes()):], ids)
		return nil
	})
}

// encodeBlock is encodeRows on one core.
func (p *Plan) encodeBlock(s *scratch, side relation.Side, from, to int, keys []byte, rowIDs []uint32) {
	if p.KeyBytes() == 4 {
		encode(p, s, &p.sides[side], from, to, backend.Words(keys), rowIDs, s.packed32[:])
	} else {
		encode(p, s, &p.sides[side], from, to, relation.View[uint64](keys), rowIDs, s.packed[:])
	}
}

// encode works in strips that stay in the first-level cache. If no row is left out, a strip is packed directly into the
// output. Otherwise it is packed in scratch, and the rows that stay, which it counts, are copied to the output. It runs
// on one core.
func encode[K uint32 | uint64](
	p *Plan, s *scratch, side *keySide, from, to int, keys []K, rowIDs []uint32, packed []K,
) (rows int) {
	for strip := from; strip < to; strip += StripRows {
		next := min(strip+StripRows, to)
		n := next - strip
		ids := s.ids[:]
		if rowIDs != nil {
			ids = rowIDs
		}
		if side.selected != nil {
			out := packed[:n]
			packStrip(p, side, s, strip, next, out)
			n = listBits(ids, uint32(strip), side.selected.strip(s, strip, next))
			pick(keys, out, ids[:n], uint32(strip))
		} else {
			packStrip(p, side, s, strip, next, keys[:n])
			if rowIDs != nil {
				for i := range ids[:n] {
					ids[i] = uint32(strip + i)
				}
			}
		}
		if keys = keys[n:]; rowIDs != nil {
			rowIDs = rowIDs[n:]
		}
		rows += n
	}
	return rows
}

// packStrip packs the codes of the rows [from, to) into out, which has that length.
func packStrip[K uint32 | uint64](p *Plan, side *keySide, s *scratch, from, to int, out []K) {
	if p.hashed {
		hashStrip(p, side, s, from, to, out)
		return
	}
	first := true
	if p.marked {
		packMarked(p, side, s, from, to, out)
		return
	}
	for k, key := range p.keys {
		if key.bits == 0 {
			continue
		}
		for part := range side.columns[k].segments(from, to) {
			nulls, into := key.extent.null && part.validity != nil, out[part.at:][:part.n]
			r, ok := part.reader.(wholeReader)
			if ok && r.whole() && !nulls && packWhole(r, into, &key, part.from, first) {
				continue
			}
			codes := part.codes(s.codes[:], part.from, part.n)
			if nulls {
				codes = withNulls(s, codes, part, key.extent.nullCode())
			}
			if first {
				packFirst(into, codes, key.extent.min)
			} else {
				packNext(into, codes, key.extent.min, key.bits)
			}
		}
		first = false
	}
	if first {
		clear(out)
	}
}

// packWhole packs integers that are codes into codes of 4 bytes. It does nothing for codes of 8 bytes.
func packWhole[K uint32 | uint64](r wholeReader, out []K, key *key, from int, first bool) bool {
	words, ok := any(out).([]uint32)
	if ok && first {
		r.pack(words, from, uint32(key.extent.min), 0)
	} else if ok {
		r.pack(words, from, uint32(key.extent.min), key.bits)
	}
	return ok
}

// packMarked is packStrip for codes whose highest bit marks values outside the ranges. The bits below are then the
// bits of the differences, as far as they fit.
func packMarked[K uint32 | uint64](p *Plan, side *keySide, s *scratch, from, to int, out []K) {
	shift, mark := p.bits-1, (p.bits-1)&63
	below := K(1)<<mark - 1
	for k, key := range p.keys {
		shift -= key.bits
		least, span := key.extent.min, key.extent.max-key.extent.min
		for part := range side.columns[k].segments(from, to) {
			codes, to := part.codes(s.codes[:], part.from, part.n), out[part.at:][:part.n]
			for i, code := range codes[:len(to)] {
				_, outside := bits.Sub64(span, code-least, 0)
				packed := K(code-least)<<(shift&63)&below | K(outside)<<mark
				if k > 0 {
					packed |= to[i]
				}
				to[i] = packed
			}
		}
	}
}

// withNulls returns the codes of a segment in scratch, with the code null for the rows that are NULL.
func withNulls(s *scratch, codes []uint64, part segment, null uint64) []uint64 {
	words := s.nulls[:(part.n+63)/64]
	fill(words, part.n)
	andBits(words, 0, part.validity, part.offset+part.from, part.n)
	invert(words, part.n)
	out := s.codes[:part.n]
	copy(out, codes)
	for w, word := range words {
		for ; word != 0; word &= word - 1 {
			out[w*64+bits.TrailingZeros64(word)] = null
		}
	}
	return out
}

func packFirst[K uint32 | uint64](out []K, codes []uint64, base uint64) {
	codes = codes[:len(out)]
	for i, code := range codes {
		out[i] = K(code - base)
	}
}

func packNext[K uint32 | uint64](out []K, codes []uint64, base uint64, bits int) {
	codes = codes[:len(out)]
	for i, code := range codes {
		out[i] = out[i]<<(bits&63) | K(code-base)
	}
}

// LoadRows begins to encode the keys of the rows [from, to) of a side into device memory. keys receives the codes of
// those rows that have one, RowsIn of them; its offset must be a multiple of KeyBytes. The caller must call wait. When
// that returns, all copies have been submitted; commands submitted later see the keys.
//
// Errors of wait wrap backend.ErrInvalidInput (rows that the table does not have, a range that is too small),
// device errors, backend.ErrCancelled or backend.ErrTimedOut.
func (p *Plan) LoadRows(
	ctx context.Context, device *backend.Device, side relation.Side, from, to int, keys backend.Range,
) (wait func() error) {
	ended := func(err error) func() error { return func() error { return err } }
	if err := p.checkRange(side, from, to); err != nil {
		return ended(err)
	}
	rows := p.RowsIn(side, from, to)
	keyBytes := uint64(p.KeyBytes())
	if keys.SizeBytes < rows*keyBytes {
		return ended(fmt.Errorf("%w: %d rows with keys of %d bytes do not fit %d bytes", backend.ErrInvalidInput, rows,
			keyBytes, keys.SizeBytes))
	}
	if rows == 0 {
		return ended(nil)
	}
	if mapped := keys.Buffer.Bytes(); mapped != nil {
		err := device.WaitBuffer(ctx, keys.Buffer)
		if err == nil {
			err = p.encodeRows(ctx, side, from, to, mapped[keys.OffsetBytes:][:keys.SizeBytes], nil)
		}
		return ended(err)
	}
	pieceRows := backend.PieceBytes(uint64(to-from)*keyBytes) / p.KeyBytes()
	codes, pieces := keys.Part(0, rows*keyBytes), (to-from+pieceRows-1)/pieceRows
	submitted := device.UploadStaged(ctx, codes, pieces, func(i int, staged []byte) (backend.Range, error) {
		first := from + i*pieceRows
		end := min(first+pieceRows, to)
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		p.encodeBlock(s, side, first, end, staged, nil)
		return codes.Part(p.RowsIn(side, from, first)*keyBytes, p.RowsIn(side, first, end)*keyBytes), nil
	})
	return func() error {
		_, err := submitted()
		return err
	}
}
