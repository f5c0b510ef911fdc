package query

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// inPlaceRows divides the number of rows before a granule whose columns are used in place, so that all granules begin
// where arguments of kernels may.
const inPlaceRows = backend.PlanAlignment / 4

// InPlace reports, by word of a scan whose words have been planned, which columns kernels can read where the table has
// them, so nothing is copied: on CPU cores, columns of 4 or 8 bytes per value in one chunk, if all rows have a key.
// Their buffer must be aligned as the device imports memory, and the first value as kernels read it.
func (e *Engine) InPlace(s *Scan) []bool {
	info := e.Device().Info()
	all := s.Keys.Rows(s.Side) == uint64(s.Table.NumRows())
	if !all || !info.CPULike() || !info.Unified || info.Limits.ImportAlignment == 0 {
		return nil
	}
	in := make([]bool, len(s.Words.Bytes))
	for i := range s.Columns {
		c := &s.Words.Columns[i]
		memory, at := importable(c, s.Columns[i], info)
		if c.Count == 1 {
			in[c.First] = memory != nil && at%info.Limits.ArgumentAlignment == 0
		}
	}
	return in
}

// InPlaceBits is the number of bits per row of the columns that are used in place.
func (s *Scan) InPlaceBits() (bits int) {
	for i, in := range s.InPlace {
		if in {
			bits += 8 * s.Words.Bytes[i]
		}
	}
	return bits
}

// importable returns the memory to import for a column, whole units of the alignment of imports, and where its values
// begin; nil if there is none.
func importable(c *relation.WordColumn, column *arrow.Chunked, info *backend.DeviceInfo) (memory []byte, at uint64) {
	buffer, at := c.Values(column)
	unit := int(info.Limits.ImportAlignment)
	sizeBytes := (len(buffer) + unit - 1) / unit * unit
	address := uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))
	if sizeBytes == 0 || sizeBytes > cap(buffer) || address%max(uintptr(unit), 8) != 0 ||
		uint64(sizeBytes) > info.Limits.BlockBytes(backend.Imported) {
		return nil, 0
	}
	return buffer[:sizeBytes], at
}

// hold imports the columns that an alternative uses in place, for as long as memory has them, so that every load can
// borrow them. It returns the alternative with memory for copies of the columns that cannot be imported now, because
// their buffer overlaps one of another query and goes beyond it.
func (a *Alternative) hold(memory *exec.Scope, info *backend.DeviceInfo) (*Alternative, error) {
	facts, complete := a.Facts, true
	for side, s := range a.Scans {
		facts.InPlace[side] = slices.Clone(facts.InPlace[side])
		for i := range s.Columns {
			in := s.Words.Columns[i].First
			if in >= len(facts.InPlace[side]) || !facts.InPlace[side][in] || s.Words.Columns[i].Count != 1 {
				continue
			}
			if _, _, ok := s.imported(memory, i, info); !ok {
				facts.InPlace[side][in], complete = false, false
			}
		}
	}
	if complete {
		return a, nil
	}
	copying, err := a.Algorithm.Plan(&facts, a.Want)
	if err != nil {
		return nil, err
	}
	held, plan := *a, *a.Plan
	held.Plan, plan.PeakBytes = &plan, max(plan.PeakBytes, copying.PeakBytes)
	return &held, nil
}

// imported imports the buffer of a column into memory, and returns it and where its values begin. It is not ok if the
// buffer overlaps another import and goes beyond it, or lies within one at an unsuitable place.
func (s *Scan) imported(memory *exec.Scope, column int, info *backend.DeviceInfo) (
	b *backend.Buffer, at uint64, ok bool) {
	c := &s.Words.Columns[column]
	bytes, at := importable(c, s.Columns[column], info)
	if bytes == nil {
		return nil, 0, false
	}
	b, err := memory.Import(bytes, fmt.Sprintf("%s column %s", s.Side, s.Names[column]))
	return b, at, err == nil && b.AlignedAt(at)
}

// borrow returns the rows of a column in the memory of the table, if they can be used there.
func (l *load) borrow(part *wordPart) (v relation.Values, ok bool) {
	if part.column < 0 || part.first >= len(l.InPlace) || !l.InPlace[part.first] || l.from == l.to {
		return v, false
	}
	width := l.Words.Columns[part.column].ValueBytes(1)
	buffer, at, ok := l.imported(l.memory, part.column, l.lane.Device().Info())
	if at += uint64(l.from) * width; !ok || !buffer.AlignedAt(at) {
		return v, false
	}
	return relation.Values{Data: buffer.Range(at, l.rows()*width), Bytes: int(width)}, true
}
