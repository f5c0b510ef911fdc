package query

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// KeyPlace says where the codes of keys are made.
type KeyPlace uint8

const (
	KeysAuto     KeyPlace = iota // on devices with memory of their own, which values reach over a link
	KeysOnHost                   // always
	KeysOnDevice                 // on any device, of keys that have kernels
)

// EncodesKeys tells whether the device makes the codes of the keys of a side: they need not be made by the host before
// they are sent, and what is payload too is not sent twice. Where device memory is host memory, the host writes codes
// straight to where they belong, which is one pass instead of two.
func (e *Engine) EncodesKeys(keys *relation.KeyPlan, side relation.Side) bool {
	if e.Keys == KeysOnHost || e.Keys == KeysAuto && e.Device().Info().Unified {
		return false
	}
	return keys.OnDevice(side)
}

// Encoding is what it takes to make the codes of the keys.
func (s *Scan) Encoding() (e planner.Encoding) {
	if e.OnDevice = s.Encodes; !s.Encodes {
		return e
	}
	for i, key := range s.Keys.Encoded(s.Side) {
		if e.MovedBits += key.RowBits() + 8*s.Keys.KeyBytes(); i > 0 {
			e.MovedBits += 8 * s.Keys.KeyBytes()
		}
		if e.UploadedBits += key.RowBits(); s.hasWords(key.Name) {
			e.UploadedBits -= int(key.ValueBits)
		}
	}
	return e
}

// hasWords tells whether a column is words of the chunk that it shares with no other.
func (s *Scan) hasWords(column string) bool {
	i := slices.Index(s.Names, column)
	return i >= 0 && s.Words.Columns[i].Count > 0
}

// StageBytes is the device memory that is taken for what is uploaded on its way to words and codes of rows rows.
func (s *Scan) StageBytes(rows uint64) uint64 {
	sizeBytes := s.Words.StageBytes(rows)
	if s.Encodes {
		for _, key := range s.Keys.Encoded(s.Side) {
			sizeBytes = max(sizeBytes, 2*backend.Aligned(key.StageBytes(min(rows, relation.StageRows))))
		}
	}
	return sizeBytes
}

// loadingBytes is the device memory that it takes, beside the chunk, to load all rows.
func (s *Scan) loadingBytes() uint64 {
	all, keyBytes := uint64(s.Table.NumRows()), 0
	if s.Encodes {
		keyBytes = s.Keys.KeyBytes()
	}
	if s.Rows() == all {
		return s.StageBytes(all)
	}
	return s.StageBytes(all) + operator.BroughtBytes(all, keyBytes, s.Payload())
}

// encoder makes the codes of keys on the device, for all rows that are brought, column after column in any order.
//
//	codes  |= (value - least) << shift     of each key column
type encoder struct {
	lane     *exec.Lane
	from, to int
	keys     []relation.EncodedKey // that are not in the codes yet
	codes    relation.Values
	merge    bool // some are
}

// words adds the keys that are a column which is on the device as words, given the first of them.
func (e *encoder) words(ctx context.Context, column string, words backend.Range) error {
	for i := range e.keys {
		if key := &e.keys[i]; key.Name == column {
			key.ValueBits = min(key.ValueBits, 64)
			if err := e.encode(ctx, key, words); err != nil {
				return err
			}
		}
	}
	e.keys = slices.DeleteFunc(e.keys, func(key relation.EncodedKey) bool { return key.Name == column })
	return nil
}

// rest uploads the other keys and adds them.
func (e *encoder) rest(ctx context.Context) error {
	for i := range e.keys {
		if err := e.encode(ctx, &e.keys[i], backend.Range{}); err != nil {
			return err
		}
	}
	if e.merge || e.from == e.to {
		return nil
	}
	list := e.lane.List("encode keys") // all rows have the same key
	list.Fill(e.codes.Data, 0)
	return e.lane.Submit(ctx, list)
}

// encode adds a key to the codes. Values that are not on the device are uploaded as Arrow has them.
func (e *encoder) encode(ctx context.Context, key *relation.EncodedKey, words backend.Range) error {
	if e.from == e.to {
		return nil
	}
	s := stage{lane: e.lane, memory: e.lane.Scope(ctx), list: e.lane.List("encode keys")}
	defer s.memory.ReleaseAll()
	given, keyBytes := words.Buffer != nil, uint64(e.codes.Bytes)
	if !given || key.Nullable {
		s.open(key.StageBytes(uint64(min(e.to-e.from, relation.StageRows))))
	}
	for part := range key.Parts(e.from, e.to) {
		rows := primitive.KeyRows{Values: words, FirstValue: uint32(part.At), FirstValid: part.FirstValid,
			Codes:    e.codes.Data.Part(uint64(part.At)*keyBytes, uint64(part.Rows)*keyBytes),
			KeyBytes: e.codes.Bytes, Merge: e.merge}
		err := s.turn(ctx, key.StageBytes(uint64(part.Rows)))
		if err == nil && !given {
			rows.FirstValue = part.FirstValue
			rows.Values, err = s.upload(ctx, part.Values)
		}
		if err == nil {
			rows.Validity, err = s.upload(ctx, part.Validity)
		}
		if err == nil {
			err = e.lane.EncodeKeys(s.list, key.KeyCoding, rows)
		}
		if err != nil {
			return err
		}
	}
	e.merge = true
	return e.lane.Submit(ctx, s.list)
}

// stage is room on the device for what is uploaded for kernels, in two halves: one is filled while kernels read the
// other.
type stage struct {
	lane   *exec.Lane
	memory *exec.Scope
	list   *backend.List // of kernels that read what lies in the half
	room   *backend.Buffer
	half   uint64 // bytes of each
	second bool   // it is the second one's turn
	used   uint64 // bytes of that
}

// open makes room for so many bytes in each half.
func (s *stage) open(sizeBytes uint64) {
	s.half = backend.Aligned(sizeBytes)
	s.room = s.memory.New(2*s.half, "staged keys")
}

// turn makes sure that a half has so many free bytes: where it has not, its kernels run, and the other one is next.
func (s *stage) turn(ctx context.Context, sizeBytes uint64) error {
	if err := s.memory.Err(); err != nil || s.used+sizeBytes <= s.half {
		return err
	}
	if err := s.lane.Submit(ctx, s.list); err != nil {
		return err
	}
	s.list, s.second, s.used = s.lane.List("encode keys"), !s.second, 0
	return nil
}

// upload brings bytes to the half, with what fills up the last word of 4 bytes; absent for none.
func (s *stage) upload(ctx context.Context, b []byte) (at backend.Range, err error) {
	if len(b) == 0 {
		return at, nil
	}
	whole, device := len(b)&^3, s.lane.Device()
	at = s.room.Range(s.used, uint64(len(b)+3)&^3)
	if s.second {
		at.OffsetBytes += s.half
	}
	s.used += (at.SizeBytes + relation.StageAlignment - 1) / relation.StageAlignment * relation.StageAlignment
	if whole > 0 {
		_, err = device.Upload(ctx, at.Part(0, uint64(whole)), b[:whole])
	}
	if err == nil && whole < len(b) {
		var last [4]byte
		copy(last[:], b[whole:])
		_, err = device.Upload(ctx, at.Part(uint64(whole), 4), last[:])
	}
	return at, err
}
