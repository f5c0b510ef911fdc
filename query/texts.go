package query

import (
	"context"
	"errors"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Keys that have hashes are hashed where they are compared: on the host, or on the device, to which their texts are
// brought with the chunk and where they stay as long as pairs may come of it.

// Comparing says where keys that have hashes are hashed and compared.
type Comparing uint8

const (
	CompareAuto   Comparing = iota // where it is faster, as predicted; on the host where the device is the CPU
	CompareHost                    // on the host
	CompareDevice                  // on the device, where it can have the texts and they fit
)

// textBytes is the device memory that the texts of the rows [from, to) take.
func (s *Scan) textBytes(from, to int) (sizeBytes uint64) {
	rows := uint64(to - from)
	for _, t := range s.Keys.TextColumns(s.Side, from, to) {
		sizeBytes += backend.Aligned(t.BytesNeeded()) + backend.Aligned(t.StartsNeeded(rows))
	}
	return sizeBytes
}

const hashBytes = 8

// loadTexts brings the texts of the rows from from to to-1 to memory of a scope.
func (s *Scan) loadTexts(ctx context.Context, lane *exec.Lane, memory *exec.Scope, from, to int) (
	*deliver.Texts, error) {
	texts := &deliver.Texts{First: uint32(from)}
	for k, t := range s.Keys.TextColumns(s.Side, from, to) {
		bytes := memory.New(t.BytesNeeded(), s.Side.String()+" texts")
		starts := memory.New(t.StartsNeeded(uint64(to-from)), s.Side.String()+" starts of texts")
		if err := memory.Err(); err != nil {
			return nil, err
		}
		if err := s.Keys.UploadTexts(ctx, lane.Device(), s.Side, k, from, to, bytes.All(), starts.All()); err != nil {
			return nil, err
		}
		texts.Columns = append(texts.Columns, primitive.Texts{Bytes: bytes.All(), Starts: starts.All(), Width: t.Width,
			Coded: t.Coded, Longest: t.Longest})
	}
	return texts, nil
}

// hash makes the hashes of the rows that have a key.
func (l *load) hash(ctx context.Context) (hashes relation.Values, err error) {
	hashes = l.column(l.rows(), hashBytes, "keys")
	temporary := l.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	columns := l.texts.Columns
	to := primitive.TextHashes{Hashes: hashes.Data, Folded: len(columns) > 1, Kept: l.Keys.KeptHash()}
	for i := range columns {
		if columns[i].InPieces() && to.States.Buffer == nil {
			to.States = temporary.New(l.rows()*hashBytes, "states of hashes").All()
		}
	}
	if err := errors.Join(l.memory.Err(), temporary.Err()); err != nil || l.rows() == 0 {
		return hashes, err
	}
	list := l.lane.List("hash " + l.Side.String())
	if to.Folded {
		list.Fill(hashes.Data, 0)
	}
	for i := range columns {
		if err := l.lane.HashTexts(list, &columns[i], to, l.rows()); err != nil {
			return hashes, err
		}
	}
	if err := l.lane.Submit(ctx, list); err != nil {
		return hashes, err
	}
	return l.keep.column(ctx, l.lane, l.memory, hashes, l.chunk.Rows)
}

// comparing lists where keys may be compared, of pairs that a tree has to test.
func (q *Query) comparing(tree *Join) []Comparing {
	info := q.Engine.Device().Info()
	switch {
	case tree.Keep == nil || q.Engine.Compare == CompareHost || !tree.Scans[operator.Build].Keys.DeviceTexts():
		return []Comparing{CompareHost}
	case q.Engine.Compare == CompareAuto && info.CPULike():
		return []Comparing{CompareHost}
	}
	if build := tree.Scans[operator.Build]; q.Engine.textParts(build, 0, int(build.Table.NumRows())) > 1 {
		return []Comparing{CompareHost}
	}
	return []Comparing{CompareDevice, CompareHost}
}

// textParts is in how many parts the texts of the rows from from to to-1 have to come for none to take more than a
// buffer can have.
func (e *Engine) textParts(s *Scan, from, to int) (parts uint64) {
	most := uint64(relation.MaxTextsBytes)
	if block := e.Device().Info().Limits.MaxBlockBytes; block > 0 {
		most = min(most, block)
	}
	parts = 1
	for _, t := range s.Keys.TextColumns(s.Side, from, to) {
		if need := t.BytesNeeded(); need > most { // parts are of as many rows, not of as many bytes
			parts = max(parts, (need*5/4+most-1)/most)
		}
	}
	return parts
}

// keepAsked drops what compares keys on the host where the device was asked for and can.
func (q *Query) keepAsked() {
	able := func(a Alternative) bool { return a.Compare == CompareDevice && a.Err == nil }
	if q.Engine.Compare == CompareDevice && slices.ContainsFunc(q.Alternatives, able) {
		q.Alternatives = slices.DeleteFunc(q.Alternatives, func(a Alternative) bool { return a.Compare != CompareDevice })
	}
}

// mostTextParts are the parts of a probe side at most that are tried for their texts to fit.
const mostTextParts = 64

// textBytes is the device memory for the texts of both sides, and for what else it takes to hash and to compare them. Of
// a probe side in granules it is that of one, and a quarter more; of one that is not there yet, that of texts twice as
// long as those of the build side. A granule with longer texts is left to the host.
func (q *Query) textBytes(tree *Join, f *operator.Facts) (texts [2]uint64, others uint64) {
	for side, s := range tree.Scans {
		rows := uint64(s.Table.NumRows())
		if texts[side] = s.textBytes(0, int(rows)); tree.Output.Marks(side) {
			others += backend.Aligned((rows + 63) / 64 * 8)
		}
		others += 2 * backend.Aligned(f.Brought(side)*hashBytes) // hashes of all rows, and states of long texts
	}
	part, whole := f.Brought(operator.Probe), texts[operator.Probe]
	switch {
	case q.Parts || f.Stays:
		build := uint64(tree.Scans[operator.Build].Table.NumRows())
		texts[operator.Probe] = part * (2*texts[operator.Build]/max(1, build) + 1)
	case f.Granules() > 1:
		share := float64(part) / float64(f.TableRows[operator.Probe])
		texts[operator.Probe] = min(whole, uint64(1.25*share*float64(whole)))
	}
	return texts, others + deliver.CompareBytes
}

// probeTexts brings the texts of a granule to the device, where those of the build side are; nil where they are not, or
// where these can not be there.
func (r *Result) probeTexts(ctx context.Context, lane *exec.Lane, memory *exec.Scope, probe *Scan, from, to int) (
	*deliver.Texts, error) {
	if r.taken.Compare != CompareDevice || !probe.Keys.DeviceTexts() ||
		probe.textBytes(from, to) > r.taken.texts[operator.Probe] || r.Query.Engine.textParts(probe, from, to) > 1 {
		return nil, nil
	}
	return probe.loadTexts(ctx, lane, memory, from, to)
}
