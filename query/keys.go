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
	KeysAuto     KeyPlace = iota // on devices with memory of their own, of keys that are payload too, or are pinned
	KeysOnHost                   // always
	KeysOnDevice                 // on any device, of keys that have kernels
)

// EncodesKeys tells whether the device makes the codes of the keys of a scan, whose words are known. It does where each
// key is payload too, so that no value crosses the link for its code alone, or lies in imported memory, which kernels
// read at the rate of the link. Of other keys the host sends codes, which may be narrower than values and are written by
// all cores. Where device memory is host memory, the host writes codes straight to where they belong, which is one pass
// instead of two.
func (e *Engine) EncodesKeys(s *Scan) bool {
	switch {
	case e.Keys == KeysOnHost || !s.Keys.OnDevice(s.Side):
		return false
	case e.Keys == KeysOnDevice:
		return true
	}
	device := e.Device()
	fromHost := func(key relation.EncodedKey) bool { return !s.hasWords(key.Name) && !key.Imported(device) }
	return !device.Info().Unified && !slices.ContainsFunc(s.Keys.Encoded(s.Side), fromHost)
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

// encode adds a key to the codes. Kernels read values that are not on the device, and validity where NULL is a value,
// from imported memory; from other memory they are uploaded, as Arrow has them.
func (e *encoder) encode(ctx context.Context, key *relation.EncodedKey, words backend.Range) error {
	s := stage{lane: e.lane, memory: e.lane.Scope(ctx), list: e.lane.List("encode keys")}
	defer s.release()
	given, rows, parts := words.Buffer != nil, uint64(e.to-e.from), key.Parts(e.from, e.to)
	if rows == 0 {
		return nil
	}
	if given && !key.Nullable {
		parts = slices.Values([]relation.KeyPart{{Rows: e.to - e.from}})
	}
	s.room, s.half = key.StageBytes(rows), key.PartBytes(min(rows, relation.StageRows))
	keyBytes := uint64(e.codes.Bytes)
	for part := range parts {
		into := primitive.KeyRows{Values: words, FirstValue: uint32(part.At), FirstValid: part.FirstValid,
			Codes:    e.codes.Data.Part(uint64(part.At)*keyBytes, uint64(part.Rows)*keyBytes),
			KeyBytes: e.codes.Bytes, Merge: e.merge}
		bring := []source{{part.Validity, 4}}
		if !given {
			into.FirstValue = part.FirstValue
			bring = append(bring, source{part.Values, key.Alignment()})
		}
		at, err := s.bring(ctx, bring)
		if err != nil {
			return err
		}
		if into.Validity = at[0]; !given {
			into.Values = at[1]
		}
		if err := e.lane.EncodeKeys(s.list, key.KeyCoding, into); err != nil {
			return err
		}
	}
	e.merge = true
	return e.lane.Submit(ctx, s.list)
}

// importedBytes are read from imported memory by the kernels of one list, at most: 5 ms of a fast link, and not seconds
// of a slow one.
var importedBytes uint64 = 256 << 20 // less in tests

// stage makes bytes readable by kernels: where they are, or uploaded to room on the device. The room has one half, or
// two, of which one is filled while kernels read the other.
type stage struct {
	lane       *exec.Lane
	memory     *exec.Scope
	list       *backend.List // of kernels that read what lies in the half, or is imported
	held       []*backend.Buffer
	imported   uint64 // bytes, importedBytes at most
	room, half uint64
	buffer     *backend.Buffer // the room, once it is needed
	from, used uint64          // where the half begins whose turn it is, and bytes of it
}

func (s *stage) release() {
	for _, b := range s.held {
		b.Release()
	}
	s.memory.ReleaseAll()
}

// source is bytes that kernels read if they lie at a multiple of alignment.
type source struct {
	bytes     []byte
	alignment uint64
}

// bring makes sources readable; one without bytes is an absent range.
func (s *stage) bring(ctx context.Context, all []source) (at []backend.Range, err error) {
	var upload []backend.Transfer
	var held []*backend.Buffer
	at = make([]backend.Range, len(all))
	uploadBytes, heldBytes := uint64(0), uint64(0)
	for i, from := range all {
		if len(from.bytes) == 0 {
			continue
		}
		if r, ok := s.lane.Device().Imported(from.bytes, from.alignment); ok {
			at[i], held, heldBytes = r, append(held, r.Buffer), heldBytes+r.SizeBytes
		} else {
			uploadBytes += stagedBytes(from.bytes)
		}
	}
	if s.used+uploadBytes > s.half || s.imported+heldBytes > importedBytes {
		err = s.turn(ctx)
	}
	if s.held, s.imported = append(s.held, held...), s.imported+heldBytes; err != nil {
		return nil, err
	}
	if uploadBytes > 0 && s.buffer == nil {
		s.buffer = s.memory.New(s.room, "staged keys")
		if err := s.memory.Err(); err != nil {
			return nil, err
		}
	}
	for i, from := range all {
		if b := from.bytes; len(b) > 0 && at[i].Buffer == nil {
			at[i] = s.buffer.Range(s.from+s.used, uint64(len(b)+3)&^3)
			s.used += stagedBytes(b)
			upload = append(upload, wholeAndRest(at[i], b)...)
		}
	}
	_, err = s.lane.Device().UploadAll(ctx, upload)
	return at, err
}

// stagedBytes is the room that bytes take.
func stagedBytes(b []byte) uint64 {
	return (uint64(len(b)) + relation.StageAlignment - 1) / relation.StageAlignment * relation.StageAlignment
}

// wholeAndRest are the transfers of the whole words of 4 bytes, and of those that fill up the last one.
func wholeAndRest(to backend.Range, b []byte) (transfers []backend.Transfer) {
	whole := len(b) &^ 3
	transfers = []backend.Transfer{{Device: to.Part(0, uint64(whole)), Host: b[:whole]}}
	if whole < len(b) {
		last := append(make([]byte, 0, 4), b[whole:]...)[:4]
		transfers = append(transfers, backend.Transfer{Device: to.Part(uint64(whole), 4), Host: last})
	}
	return transfers
}

// turn has the kernels run, and gives the other half of the room its turn.
func (s *stage) turn(ctx context.Context) error {
	if err := s.lane.Submit(ctx, s.list); err != nil {
		return err
	}
	for _, b := range s.held {
		b.Release()
	}
	s.list, s.used, s.imported, s.held = s.lane.List("encode keys"), 0, 0, nil
	if s.from += s.half; s.from == s.room {
		s.from = 0
	}
	return nil
}
