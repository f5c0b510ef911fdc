package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Received is what a rank received in an exchange: rows in columns of its own. The owner releases it.
type Received struct {
	Held
	// Runs are the rows of one group from one rank each, in order; empty ones are left out.
	Runs []Run
}

// TooLarge is the error of all ranks where one of them has no room for its rows. The code that divides the work divides
// it into more parts, and begins again.
type TooLarge struct {
	Rank      int
	Rows      uint64 // that it is to receive; 0 if it lacks memory for a step before or after that
	NeedBytes uint64 // of their columns
	Reason    string
	Err       error // backend.ErrDeviceMemory, or backend.ErrLimit if there are more rows than a chunk may have
}

func (e *TooLarge) Error() string {
	if e.Rows == 0 {
		return fmt.Sprintf("exchange: rank %d has too little memory: %s", e.Rank, e.Reason)
	}
	return fmt.Sprintf("exchange: rank %d has no room for %d rows, which take %d bytes: %s", e.Rank, e.Rows, e.NeedBytes,
		e.Reason)
}

// Unwrap returns the sentinel.
func (e *TooLarge) Unwrap() error { return e.Err }

// room is what a rank says before rows move: what its columns look like, and whether it has room for what it is to
// receive.
type room struct {
	Widths    []int
	Narrow    bool
	HighWord  uint32
	Rows      uint64 // of which the last two are said
	NeedBytes uint64
	Lacks     string // why there is no room
	Shortage  byte   // as in shortages; 0 if there is room
}

// move puts the rows of all ranks where they belong.
func (r *Rank) move(ctx context.Context, parts *Parts) (*Received, error) {
	m, err := r.begin(ctx, parts)
	if err != nil {
		return nil, err
	}
	return m.end(ctx)
}

// movement is rows on their way. The rank that began it ends or abandons it.
type movement struct {
	rank *Rank
	to   *Received
	flow *exec.Flow // of the puts
}

// begin agrees on the memory for rows and begins to put them. The parts must live until the end; the lane may be used
// meanwhile, and other rounds may take place.
func (r *Rank) begin(ctx context.Context, parts *Parts) (*movement, error) {
	if len(parts.Rows) != len(parts.Owners) {
		return nil, invalid("%d parts have %d owners", len(parts.Rows), len(parts.Owners))
	}
	places, me := layOut(parts, r.Size()), r.Rank()
	m := &movement{rank: r, to: &Received{Held: Held{memory: r.Lane.Scope(ctx)}, Runs: places.runs[me]}}
	mine, err := makeRoom(parts, m.to, places.rows[me], places.room[me])
	if err == nil {
		err = r.admit(ctx, mine, parts, m.to)
	}
	if err == nil {
		err = m.put(ctx, parts, &places)
	}
	if err != nil {
		m.abandon(err)
		return nil, err
	}
	return m, nil
}

// end waits until all ranks have put their rows.
func (m *movement) end(ctx context.Context) (*Received, error) {
	err := m.flow.Wait()
	if err == nil {
		err = Barrier(ctx, m.rank, "moved")
	}
	if err != nil {
		m.abandon(err)
		return nil, err
	}
	return m.to, nil
}

// abandon ends the puts of this rank, because of an error, and releases what it received. Safe on nil.
func (m *movement) abandon(reason error) {
	if m == nil {
		return
	}
	if large := (*TooLarge)(nil); !errors.As(reason, &large) { // of that all ranks know
		m.rank.Abort(reason)
	}
	if m.flow != nil {
		m.flow.Stop()
	}
	m.to.Release()
}

// makeRoom allocates the columns for what this rank is to receive, or says why it cannot.
func makeRoom(parts *Parts, to *Received, rows, roomRows uint64) (room, error) {
	mine := room{Rows: parts.Chunk.Rows, Narrow: parts.Narrow, HighWord: parts.HighWord}
	to.Rows = rows
	for _, column := range parts.Columns() {
		mine.Widths = append(mine.Widths, column.Bytes)
		mine.NeedBytes += backend.Aligned(roomRows * uint64(column.Bytes))
	}
	err := primitive.CheckRows("exchange", max(rows, roomRows))
	if err == nil {
		to.allocate(&parts.Chunk, roomRows, "received rows")
		err = to.memory.Err()
	}
	if mine.Shortage = shortage(err); mine.Shortage > 0 {
		mine.Lacks, err = err.Error(), nil
	}
	return mine, err
}

// admit tells the ranks what this one has room for, and ends the exchange on all of them if one has none.
func (r *Rank) admit(ctx context.Context, mine room, parts *Parts, to *Received) error {
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	said, err := r.Gather(ctx, "room", text)
	if err != nil {
		return err
	}
	to.Narrow, to.HighWord = false, 0
	moved, differ := uint64(0), false
	for rank, text := range said {
		var theirs room
		if err := json.Unmarshal(text, &theirs); err != nil {
			return invalid("rank %d says %q", rank, text)
		}
		if fmt.Sprint(theirs.Widths) != fmt.Sprint(mine.Widths) {
			return invalid("columns of %v bytes on rank %d, of %v on rank %d", theirs.Widths, rank, mine.Widths, r.Rank())
		}
		if theirs.Shortage > 0 {
			return &TooLarge{Rank: rank, Rows: layOut(parts, r.Size()).rows[rank], NeedBytes: theirs.NeedBytes,
				Reason: theirs.Lacks, Err: shortages[theirs.Shortage]}
		}
		if theirs.Rows > 0 {
			differ = differ || !theirs.Narrow || moved > 0 && theirs.HighWord != to.HighWord
			to.HighWord = theirs.HighWord
			moved += theirs.Rows
		}
	}
	if to.Narrow = moved > 0 && !differ; !to.Narrow {
		to.HighWord = 0
	}
	return nil
}

// put begins to put the rows of this rank, to all others at once.
func (m *movement) put(ctx context.Context, parts *Parts, places *layout) error {
	r := m.rank
	into, from := m.to.Columns(), parts.Columns()
	offered := make([]backend.Range, len(into))
	for i := range into {
		offered[i] = into[i].Data
	}
	offer, err := r.Offer(ctx, "offer", offered)
	if err != nil {
		return err
	}
	me, first := r.Rank(), starts(parts, r.Rank())
	source := func(column int, run Run) backend.Range {
		bytes := uint64(from[column].Bytes)
		return from[column].Data.Part(first[run.Group]*bytes, run.Rows*bytes)
	}
	m.flow = exec.NewFlow(ctx)
	for step := 1; step < r.Size(); step++ {
		there := (me + step) % r.Size()
		m.flow.Go(fmt.Sprintf("put %d to %d", me, there), func(ctx context.Context) error {
			for _, run := range places.runs[there] {
				for i := range from {
					if run.From != me {
						continue
					}
					if err := offer.Put(ctx, there, i, run.First*uint64(from[i].Bytes), source(i, run)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	list := r.Lane.List("move rows") // what stays on the device moves meanwhile
	for _, run := range m.to.Runs {
		for i := range from {
			if run.From != me {
				continue
			}
			bytes := uint64(into[i].Bytes)
			if err := r.Lane.Copy(list, into[i].Data.Part(run.First*bytes, run.Rows*bytes), source(i, run)); err != nil {
				return err
			}
		}
	}
	return r.Lane.Submit(ctx, list)
}
