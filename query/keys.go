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
	"github.com/spirjoin/spirjoin/relation/keys"
)

// KeyPlace says where key codes are made.
type KeyPlace uint8

const (
	KeysAuto     KeyPlace = iota // on devices with their own memory if all keys are payload too, or pinned
	KeysOnHost                   // always
	KeysOnDevice                 // on any device, for keys that kernels can encode
)

// EncodesKeys reports whether the device makes the key codes of a scan, whose words have been planned. It does if each
// key is either payload too, so that no value crosses the link only for its code, or in imported memory, which kernels
// read at the rate of the link. For other keys the host sends codes, which may be narrower than the values, and which
// all cores write. If device memory is host memory, the host writes codes directly to their place, in one pass instead
// of two.
func (e *Engine) EncodesKeys(s *Scan) bool {
	switch {
	case e.Keys == KeysOnHost || s.Selection != nil || !s.Keys.OnDevice(s.Side):
		return false
	case e.Keys == KeysOnDevice:
		return true
	}
	device := e.Device()
	fromHost := func(key keys.Encoded) bool {
		return !s.hasWords(key.Name) && (s.Unpinned || !key.Imported(device))
	}
	return !device.Info().Unified && !slices.ContainsFunc(s.Keys.Encoded(s.Side), fromHost)
}

// Encoding returns where the codes are made and, if that is on the device, the work per row.
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

// hasWords reports whether a column has its own words in the chunk.
func (s *Scan) hasWords(column string) bool {
	i := slices.Index(s.Names, column)
	return i >= 0 && s.Words.Columns[i].Count > 0
}

// StageBytes is the device memory for staging data that kernels convert to words and codes, for rows rows.
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

// loadingBytes is the device memory to load all rows, in addition to the chunk.
func (s *Scan) loadingBytes() uint64 {
	all, keyBytes := s.loads(), 0
	if s.Encodes {
		keyBytes = s.Keys.KeyBytes()
	}
	if s.Rows() == all {
		return s.StageBytes(all)
	}
	return s.StageBytes(all) + operator.BroughtBytes(all, keyBytes, s.Payload())
}

// encoder makes key codes on the device, for all rows that are loaded, column by column in any order.
//
//	codes  |= (value - least) << shift     for each key column
type encoder struct {
	lane     *exec.Lane
	from, to int
	keys     []keys.Encoded // keys that are not in the codes yet
	codes    relation.Values
	merge    bool // the codes already contain a key
}

// words adds the keys that are this column, whose values are on the device as words. words is the first of its words.
func (e *encoder) words(ctx context.Context, column string, words backend.Range) error {
	for i := range e.keys {
		if key := &e.keys[i]; key.Name == column {
			key.ValueBits = min(key.ValueBits, 64)
			if err := e.encode(ctx, key, words); err != nil {
				return err
			}
		}
	}
	e.keys = slices.DeleteFunc(e.keys, func(key keys.Encoded) bool { return key.Name == column })
	return nil
}

// rest adds the other keys, whose values are not on the device.
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

// encode adds a key to the codes. Kernels read values that are not on the device, and validity if NULL is a value, from
// imported memory. From other memory they are uploaded in Arrow's format.
func (e *encoder) encode(ctx context.Context, key *keys.Encoded, words backend.Range) error {
	s := newStage(ctx, e.lane)
	defer s.release()
	given, rows, parts := words.Buffer != nil, uint64(e.to-e.from), key.Parts(e.from, e.to)
	if rows == 0 {
		return nil
	}
	if given && !key.Nullable {
		parts = slices.Values([]keys.Part{{Rows: e.to - e.from}})
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

// importedBytes is the maximum number of bytes that the kernels of one list read from imported memory: that takes 5 ms
// on a fast link, and less than seconds on a slow one.
var importedBytes uint64 = 256 << 20 // less in tests

// stage makes bytes readable by kernels: in place, or uploaded to staging memory on the device. The staging memory has
// one half or two; with two, one is filled while kernels read the other.
type stage struct {
	lane       *exec.Lane
	memory     *exec.Scope
	list       *backend.List // kernels that read the current half, or imported memory
	held       []*backend.Buffer
	imported   uint64 // bytes of imported memory that list reads, at most importedBytes
	room, half uint64
	buffer     *backend.Buffer // the staging memory, allocated when it is needed
	from, used uint64          // first byte of the current half, and number of its bytes in use
}

func newStage(ctx context.Context, lane *exec.Lane) stage {
	return stage{lane: lane, memory: lane.Scope(ctx), list: lane.List("encode keys")}
}

func (s *stage) release() {
	relation.ReleaseAll(s.held)
	s.memory.ReleaseAll()
}

// source is bytes on the host that kernels can read in place if they are aligned and imported.
type source struct {
	bytes     []byte
	alignment uint64
}

// bring makes sources readable by kernels of the list. The range of a source without bytes is absent.
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
	s.held, s.imported = append(s.held, held...), s.imported+heldBytes
	if err != nil {
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

// stagedBytes is the staging memory that bytes take.
func stagedBytes(b []byte) uint64 {
	return (uint64(len(b)) + keys.StageAlignment - 1) / keys.StageAlignment * keys.StageAlignment
}

// wholeAndRest returns the transfers of the whole 4-byte words, and of the last word, padded.
func wholeAndRest(to backend.Range, b []byte) (transfers []backend.Transfer) {
	whole := len(b) &^ 3
	transfers = []backend.Transfer{{Device: to.Part(0, uint64(whole)), Host: b[:whole]}}
	if whole < len(b) {
		last := append(make([]byte, 0, 4), b[whole:]...)[:4]
		transfers = append(transfers, backend.Transfer{Device: to.Part(uint64(whole), 4), Host: last})
	}
	return transfers
}

// turn submits the kernels and makes the other half current.
func (s *stage) turn(ctx context.Context) error {
	if err := s.lane.Submit(ctx, s.list); err != nil {
		return err
	}
	relation.ReleaseAll(s.held)
	s.list, s.used, s.imported, s.held = s.lane.List("encode keys"), 0, 0, nil
	if s.from += s.half; s.from == s.room {
		s.from = 0
	}
	return nil
}
