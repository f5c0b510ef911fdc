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
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Hashed keys are hashed and compared in the same place: on the host, or on the device. In the latter case their texts
// are loaded with the chunk, and stay on the device as long as the chunk can produce pairs.

// Comparing says where hashed keys are hashed and compared.
type Comparing uint8

const (
	CompareAuto   Comparing = iota // where it is predicted to be faster; on the host if the device is the CPU
	CompareHost                    // on the host
	CompareDevice                  // on the device, if it supports the texts and they fit
)

// textBytes is the device memory for the texts of the rows [from, to).
func (s *Scan) textBytes(from, to int) (sizeBytes uint64) {
	rows := uint64(to - from)
	for _, t := range s.Keys.TextColumns(s.Side, from, to) {
		sizeBytes += backend.Aligned(t.BytesNeeded()) + backend.Aligned(t.StartsNeeded(rows))
	}
	return sizeBytes
}

const hashBytes = 8

// loadTexts uploads the texts of the rows [from, to) to memory of a scope.
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

// hash computes the hashes of the rows that have a key.
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

// comparing lists where the keys of the candidate pairs of a tree may be compared.
func (q *Query) comparing(tree *Join) []Comparing {
	info := q.Engine.Device().Info()
	switch {
	case tree.Keep == nil || q.Scattered || q.Engine.Compare == CompareHost || tree.selects() ||
		!tree.Scans[operator.Build].Keys.DeviceTexts():
		return []Comparing{CompareHost}
	case q.Engine.Compare == CompareAuto && info.CPULike():
		return []Comparing{CompareHost}
	}
	if build := tree.Scans[operator.Build]; q.Engine.textParts(build, 0, int(build.Table.NumRows())) > 1 {
		return []Comparing{CompareHost}
	}
	return []Comparing{CompareDevice, CompareHost}
}

// textParts is the number of parts in which the texts of the rows [from, to) have to be loaded, so that no part exceeds
// the largest buffer.
func (e *Engine) textParts(s *Scan, from, to int) (parts uint64) {
	most := uint64(keys.MaxTextsBytes)
	if block := e.Device().Info().Limits.MaxBlockBytes; block > 0 {
		most = min(most, block)
	}
	parts = 1
	for _, t := range s.Keys.TextColumns(s.Side, from, to) {
		if need := t.BytesNeeded(); need > most { // a quarter more: parts have equal rows, not equal bytes
			parts = max(parts, (need*5/4+most-1)/most)
		}
	}
	return parts
}

// keepAsked removes the alternatives that compare keys on the host if the engine is set to compare on the device and
// one can.
func (q *Query) keepAsked() {
	able := func(a Alternative) bool { return a.Compare == CompareDevice && a.Err == nil }
	if q.Engine.Compare == CompareDevice && slices.ContainsFunc(q.Alternatives, able) {
		q.Alternatives = slices.DeleteFunc(q.Alternatives,
			func(a Alternative) bool { return a.Compare != CompareDevice })
	}
}

// mostTextParts is the maximum number of parts of a probe side that are tried.
const mostTextParts = 64

// textBytes is the device memory for the texts of both sides, and for all else that is needed to hash and compare them.
// For a probe side in granules, it covers one average granule plus a quarter. If the probe side is not known yet, its
// texts are assumed to be twice as long as the build side's. A granule with longer texts is compared on the host.
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

// probeTexts loads the texts of a granule if the build side has its texts on the device. It returns nil otherwise, and
// if the texts of the granule cannot be there.
func (l *Lane) probeTexts(ctx context.Context, lane *exec.Lane, memory *exec.Scope, probe *Scan, from, to int) (
	*deliver.Texts, error) {
	if l.taken.Compare != CompareDevice || !probe.Keys.DeviceTexts() ||
		probe.textBytes(from, to) > l.taken.texts[operator.Probe] || l.Query.Engine.textParts(probe, from, to) > 1 {
		return nil, nil
	}
	return probe.loadTexts(ctx, lane, memory, from, to)
}
