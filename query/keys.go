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
	KeysAuto     KeyPlace = iota // on devices with memory of their own, of keys that are payload too
	KeysOnHost                   // always
	KeysOnDevice                 // on any device, of keys that have kernels
)

// EncodesKeys tells whether the device makes the codes of the keys of a scan, whose words are known: where all of them
// are payload too, so that no value crosses the link for its code alone. Of other keys the host sends codes, which may
// be narrower than values and are written by all cores. Where device memory is host memory, the host writes codes
// straight to where they belong, which is one pass instead of two.
func (e *Engine) EncodesKeys(s *Scan) bool {
	switch {
	case e.Keys == KeysOnHost || !s.Keys.OnDevice(s.Side):
		return false
	case e.Keys == KeysOnDevice:
		return true
	}
	sent := func(key relation.EncodedKey) bool { return !s.hasWords(key.Name) }
	return !e.Device().Info().Unified && !slices.ContainsFunc(s.Keys.Encoded(s.Side), sent)
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
	if !s.Encodes {
		return sizeBytes
	}
	for _, key := range s.Keys.Encoded(s.Side) {
		if key.Nullable || !s.hasWords(key.Name) {
			sizeBytes = max(sizeBytes, key.StageBytes(rows))
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

// encode adds a key to the codes. Values that are not on the device, and validity where NULL is a value, are uploaded as
// Arrow has them.
func (e *encoder) encode(ctx context.Context, key *relation.EncodedKey, words backend.Range) error {
	s := stage{lane: e.lane, memory: e.lane.Scope(ctx), list: e.lane.List("encode keys")}
	defer s.memory.ReleaseAll()
	given, rows, parts := words.Buffer != nil, uint64(e.to-e.from), key.Parts(e.from, e.to)
	switch {
	case rows == 0:
		return nil
	case given && !key.Nullable:
		parts = slices.Values([]relation.KeyPart{{Rows: e.to - e.from}})
	default:
		s.room, s.half = s.memory.New(key.StageBytes(rows), "staged keys"), key.PartBytes(min(rows, relation.StageRows))
		if err := s.memory.Err(); err != nil {
			return err
		}
	}
	keyBytes := uint64(e.codes.Bytes)
	for part := range parts {
		into := primitive.KeyRows{Values: words, FirstValue: uint32(part.At), FirstValid: part.FirstValid,
			Codes:    e.codes.Data.Part(uint64(part.At)*keyBytes, uint64(part.Rows)*keyBytes),
			KeyBytes: e.codes.Bytes, Merge: e.merge}
		var err error
		if s.room != nil {
			err = s.reserve(ctx, key.PartBytes(uint64(part.Rows)))
		}
		if err == nil && !given {
			into.FirstValue = part.FirstValue
			into.Values, err = s.upload(ctx, part.Values)
		}
		if err == nil {
			into.Validity, err = s.upload(ctx, part.Validity)
		}
		if err == nil {
			err = e.lane.EncodeKeys(s.list, key.KeyCoding, into)
		}
		if err != nil {
			return err
		}
	}
	e.merge = true
	return e.lane.Submit(ctx, s.list)
}

// stage is room on the device for what is uploaded for kernels: one half, or two, of which one is filled while kernels
// read the other.
type stage struct {
	lane       *exec.Lane
	memory     *exec.Scope
	list       *backend.List // of kernels that read what lies in the half
	room       *backend.Buffer
	half       uint64 // bytes
	from, used uint64 // where the half begins whose turn it is, and bytes of it
}

// reserve makes room for so many bytes: where the half has too little, its kernels run, and it is the other one's turn.
func (s *stage) reserve(ctx context.Context, sizeBytes uint64) error {
	if s.used+sizeBytes <= s.half {
		return nil
	}
	if err := s.lane.Submit(ctx, s.list); err != nil {
		return err
	}
	s.list, s.used = s.lane.List("encode keys"), 0
	if s.from += s.half; s.from == s.room.SizeBytes() {
		s.from = 0
	}
	return nil
}

// upload brings bytes to the half, with what fills up the last word of 4 bytes; absent for none.
func (s *stage) upload(ctx context.Context, b []byte) (at backend.Range, err error) {
	if len(b) == 0 {
		return at, nil
	}
	whole, device := len(b)&^3, s.lane.Device()
	at = s.room.Range(s.from+s.used, uint64(len(b)+3)&^3)
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
