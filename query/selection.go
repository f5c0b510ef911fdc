package query

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Selection is rows of a table with their key codes, in host memory. A scan with a selection loads these rows instead
// of all rows of its table, and no columns of the table. The memory must stay as it is until the query has ended.
type Selection struct {
	Rows    uint64
	Codes   []byte   // of Rows rows
	Numbers []uint32 // of the rows in the table; nil: First, First+1, ...
	First   uint32
	Sorted  bool // the codes are in ascending order
	Keyless bool // the rows of the table that have no code belong to the selection too
}

// Part returns the rows from one to before another, in the order of the selection. The first part has the rows without a
// code too, if the selection has.
func (of *Selection) Part(from, to uint64) *Selection {
	part, keyBytes := *of, uint64(len(of.Codes))/max(1, of.Rows)
	part.Rows, part.Codes, part.Keyless = to-from, of.Codes[from*keyBytes:to*keyBytes], of.Keyless && from == 0
	if of.Numbers != nil {
		part.Numbers = of.Numbers[from:to]
	}
	part.First += uint32(from)
	return &part
}

// loads is the number of rows that are loaded, including rows without a key, which are left out then.
func (s *Scan) loads() uint64 {
	if s.Selection != nil {
		return s.Selection.Rows
	}
	return uint64(s.Table.NumRows())
}

// all is the number of rows that the scan stands for.
func (s *Scan) all() uint64 {
	rows := s.loads()
	if s.Selection != nil && s.Selection.Keyless {
		rows += uint64(s.Table.NumRows()) - s.Keys.Rows(s.Side)
	}
	return rows
}

// rowsIn is the number of rows with a key among rows [from, to).
func (s *Scan) rowsIn(from, to int) uint64 {
	if s.Selection != nil {
		return uint64(to - from)
	}
	return s.Keys.RowsIn(s.Side, from, to)
}

// leavesOut reports whether rows that are loaded are left out, because they have no key.
func (s *Scan) leavesOut() bool { return s.Selection == nil && s.Keys.LeavesOut(s.Side) }

// keylessRows is the number of rows without a key that are in the output.
func (s *Scan) keylessRows() uint64 {
	if s.Selection != nil && !s.Selection.Keyless {
		return 0
	}
	return s.Keys.KeylessRows(s.Side, s.Keyless)
}

// loadSelected loads the rows [from, to) of the selection.
func (s *Scan) loadSelected(ctx context.Context, lane *exec.Lane, memory *exec.Scope, from, to int) (
	*relation.Chunk, error) {
	of, keyBytes, rows := s.Selection, s.Keys.KeyBytes(), uint64(to-from)
	codes := memory.New(rows*uint64(keyBytes), s.Side.String()+" keys").All()
	chunk := &relation.Chunk{Rows: rows, Keys: relation.Values{Data: codes, Bytes: keyBytes}}
	var numbers backend.Range
	if s.Numbers {
		numbers = memory.New(rows*4, s.Side.String()+" row numbers").All()
		chunk.Payload = []relation.Values{{Data: numbers, Bytes: 4}}
	}
	if err := memory.Err(); err != nil || rows == 0 {
		return chunk, err
	}
	up := []backend.Transfer{{Device: codes, Host: of.Codes[from*keyBytes : to*keyBytes]}}
	switch {
	case !s.Numbers:
	case of.Numbers != nil:
		up = append(up, backend.Transfer{Device: numbers, Host: backend.AsBytes(of.Numbers[from:to])})
	default:
		list := lane.List("number " + s.Side.String())
		if err := lane.Iota(list, numbers, rows, of.First+uint32(from)); err != nil {
			return nil, err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return nil, err
		}
	}
	_, err := lane.Device().UploadAll(ctx, up)
	return chunk, err
}

// selects reports whether a scan has a selection.
func (j *Join) selects() bool {
	return j.Scans[operator.Build].Selection != nil || j.Scans[operator.Probe].Selection != nil
}

// numbers lists the rows of the table that have a code.
func (of *Selection) numbers() []uint32 {
	if of.Numbers != nil {
		return slices.Clone(of.Numbers)
	}
	numbers := make([]uint32, of.Rows)
	for i := range numbers {
		numbers[i] = of.First + uint32(i)
	}
	return numbers
}
