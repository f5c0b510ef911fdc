package shuffle

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// mostBlockRows is the number of rows of a block if rows take little memory.
const mostBlockRows = 1 << 28

// dividedBlock is a block, part by part. With NULLs, the last part has the rows with a NULL key.
type dividedBlock struct{ parts []arrow.RecordBatch }

// Release releases the parts.
func (b *dividedBlock) Release() { relation.ReleaseAll(b.parts) }

// send starts the goroutines that read, divide and send the share. One sends to each rank, so that a rank that takes
// nothing holds up the others only after a block.
func (s *Side) send(share source.Source) {
	blocks := exec.NewPipe[*source.Gathered](s.flow, 0)
	s.flow.Go("read share of "+s.Side.String(), func(ctx context.Context) error {
		if err := s.gather(ctx, share, func(b *source.Gathered) error { return blocks.Put(ctx, b) }); err != nil {
			return err
		}
		blocks.End()
		return nil
	})
	queues := make([]*exec.Pipe[*parcel], s.Job.Size())
	sending := new(atomic.Int32)
	sending.Store(int32(len(queues)))
	ended := func(ctx context.Context) error {
		if sending.Add(-1) > 0 {
			return nil
		}
		return s.Stream.End(context.WithoutCancel(ctx))
	}
	for rank := range queues {
		if rank == s.Job.Rank() {
			continue
		}
		queues[rank] = exec.NewPipe[*parcel](s.flow, 1)
		s.flow.Go(fmt.Sprintf("send %s to rank %d", s.Side, rank), func(ctx context.Context) error {
			if err := s.sendTo(ctx, rank, queues[rank]); err != nil {
				return err
			}
			return ended(ctx)
		})
	}
	put := func(ctx context.Context, rank int, rows *parcel) error {
		if rows.NumRows() == 0 {
			return nil
		}
		if rank == s.Job.Rank() {
			rows.RecordBatch.Retain()
			return s.arrived(ctx, rows.RecordBatch)
		}
		rows.Retain()
		return queues[rank].Put(ctx, rows)
	}
	handOver := &handOver{Side: s, put: put, compressor: compressor{Side: s}}
	work := func(ctx context.Context) error {
		return blocks.Each(ctx, func(b *source.Gathered) error {
			return handOver.toAll(ctx, s.table(b))
		})
	}
	if s.Divider != nil {
		divided := exec.NewPipe[*dividedBlock](s.flow, 0)
		exec.PassOn(s.flow, "divide "+s.Side.String(), blocks, divided, s.divide)
		work = func(ctx context.Context) error {
			return divided.Each(ctx, func(b *dividedBlock) error {
				defer b.Release()
				return handOver.toOwners(ctx, b.parts)
			})
		}
	}
	s.flow.Go("hand over "+s.Side.String(), func(ctx context.Context) error {
		if err := work(ctx); err != nil {
			return err
		}
		for _, q := range queues {
			if q != nil {
				q.End()
			}
		}
		s.end()
		return ended(ctx)
	})
}

// gather reads the share as blocks, which put gets and releases.
func (s *Side) gather(ctx context.Context, share source.Source, put func(*source.Gathered) error) error {
	schema := s.shareSchema()
	block := &source.Gathered{Schema: schema}
	defer func() { block.Release() }()
	pass := func() error {
		full := block
		if block = (&source.Gathered{Schema: schema}); full.Rows == 0 {
			return nil
		}
		return put(full)
	}
	numberBytes := uint64(0) // of a row
	if s.Number >= 0 {
		numberBytes = 8
	}
	for slice, err := range share.Slices(ctx, s.Side, schema) {
		if err != nil {
			return err
		}
		mostRows := slice.Rows() // of a block
		if b := slice.Bytes() + uint64(mostRows)*numberBytes; b > s.BlockBytes {
			mostRows = max(1, int64(float64(mostRows)*float64(s.BlockBytes)/float64(b)))
		}
		slice.Divide(mostRows, func(part source.Slice, _ error) bool {
			block.Add(part)
			if block.Bytes+block.Rows*numberBytes >= s.BlockBytes || block.Rows >= mostBlockRows {
				err = pass()
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return pass()
}

// shareSchema is the schema of what is read: without the numbers of rows.
func (s *Side) shareSchema() *arrow.Schema {
	if s.Number < 0 {
		return s.Schema
	}
	fields := s.Schema.Fields()
	return arrow.NewSchema(fields[:len(fields)-1], nil)
}

// table returns the rows of a block, with their numbers if they get any, and releases the block. The caller releases
// the table.
func (s *Side) table(b *source.Gathered) arrow.Table {
	defer b.Release()
	table := b.Table()
	if s.Number < 0 {
		return table
	}
	first := s.Number
	s.Number += table.NumRows()
	return source.WithNumbers(table, first, s.Schema, s.Alloc)
}

// divide divides a block. It is called by one goroutine.
func (s *Side) divide(ctx context.Context, b *source.Gathered) (*dividedBlock, error) {
	table := s.table(b)
	defer table.Release()
	if await := s.Await; await != nil {
		s.Await = nil
		if err := await(ctx); err != nil {
			return nil, err
		}
	}
	defer exec.Begin(ctx, "divide").End()
	parts, err := s.Divider.Divide(ctx, s.Side, table, s.Alloc)
	if err != nil {
		return nil, err
	}
	dropped := table.NumRows()
	for _, rows := range parts {
		dropped -= rows.NumRows()
	}
	s.droppedRows.Add(uint64(dropped))
	return &dividedBlock{parts}, nil
}

// sendTo sends what comes to a rank.
func (s *Side) sendTo(ctx context.Context, rank int, rows *exec.Pipe[*parcel]) error {
	e := newEncoder(s.format, s.Alloc)
	defer e.Release()
	return rows.Each(ctx, func(batch *parcel) error {
		defer batch.Release()
		m, err := e.encode(batch)
		if err != nil {
			return err
		}
		defer m.Release()
		s.sentRows.Add(uint64(batch.NumRows()))
		sizeBytes := uint64(len(m.head)) + m.bodyBytes()
		s.sentBytes.Add(sizeBytes)
		s.rawBytes.Add(uint64(int(sizeBytes) + m.savedBytes))
		s.sentMessages.Add(1)
		begun := time.Now()
		before := s.link.begin(begun)
		err = s.Stream.Send(context.WithoutCancel(ctx), rank, m.head, m.body...)
		s.link.end(begun, before, time.Now(), sizeBytes)
		return err
	})
}

// handOver gives the rows of blocks to the goroutines that send, and to this rank. Each rank begins with the one behind
// it, so that not all send to the same one at once.
type handOver struct {
	*Side
	put                  func(ctx context.Context, rank int, rows *parcel) error
	compressor           compressor
	witnessed, nullKnown bool // all ranks have a row of this one, and one with a NULL key
}

// toAll hands the rows of a table, which it releases, over to all ranks.
func (h *handOver) toAll(ctx context.Context, table arrow.Table) error {
	defer table.Release()
	for batch, err := range source.FromTable(table).Batches(ctx) {
		if err != nil {
			return err
		}
		shared(batch)
		parcels, err := h.compressor.parcels(ctx, []arrow.RecordBatch{batch}, func(int) bool { return true })
		if err == nil {
			err = h.each(func(rank int) error { return h.put(ctx, rank, parcels[0]) })
		}
		relation.ReleaseAll(parcels)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// toOwners hands each part over to its rank.
func (h *handOver) toOwners(ctx context.Context, parts []arrow.RecordBatch) error {
	parcels, err := h.compressor.parcels(ctx, parts, h.goes)
	if err != nil {
		return err
	}
	defer relation.ReleaseAll(parcels)
	if h.Divider.Nulls {
		nulls := parcels[h.Divider.Parts]
		send := func() error { return h.put(ctx, h.Job.Rank(), nulls) }
		if h.Witness {
			send = func() error { return h.witness(ctx, parts) }
		}
		if err := send(); err != nil {
			return err
		}
	}
	for i, ranks := range h.Copies {
		rows := parcels[len(parts)-len(h.Copies)+i]
		shared(rows.RecordBatch)
		for _, rank := range ranks {
			if err := h.put(ctx, rank, rows); err != nil {
				return err
			}
		}
	}
	return h.each(func(rank int) error { return h.put(ctx, rank, parcels[rank]) })
}

// goes reports whether a part goes to other ranks.
func (h *handOver) goes(part int) bool {
	hot := part - h.Divider.All() + len(h.Copies)
	switch {
	case hot >= 0:
		return slices.ContainsFunc(h.Copies[hot], func(rank int) bool { return rank != h.Job.Rank() })
	case part >= h.Divider.Parts: // with NULL keys
		return false
	}
	return part != h.Job.Rank()
}

// witness hands a row over to all ranks, and one with a NULL key, unless they have them. A row with a NULL key is both.
func (h *handOver) witness(ctx context.Context, parts []arrow.RecordBatch) error {
	if nulls := parts[h.Divider.Parts]; !h.nullKnown && nulls.NumRows() > 0 {
		h.nullKnown, h.witnessed = true, true
		return h.one(ctx, nulls, nil)
	}
	for part, rows := range parts {
		if h.witnessed || rows.NumRows() == 0 || part == h.Divider.Parts {
			continue
		}
		owners := []int{part}
		if part > h.Divider.Parts {
			owners = h.Copies[part-h.Divider.Parts-1]
		}
		h.witnessed = true
		return h.one(ctx, rows, owners)
	}
	return nil
}

// one hands one row over to all ranks but its owners.
func (h *handOver) one(ctx context.Context, of arrow.RecordBatch, owners []int) error {
	shared(of)
	row := of.NewSlice(0, 1)
	defer row.Release()
	shared(row)
	return h.each(func(rank int) error {
		if slices.Contains(owners, rank) {
			return nil
		}
		return h.put(ctx, rank, &parcel{RecordBatch: row})
	})
}

// shared prepares rows that several goroutines will read: arrow-go (18.8) counts NULLs of arrays when they are first
// asked for, without a lock.
func shared(rows arrow.RecordBatch) {
	var count func(data arrow.ArrayData)
	count = func(data arrow.ArrayData) {
		a := array.MakeFromData(data)
		a.NullN()
		a.Release()
		for _, child := range data.Children() {
			count(child)
		}
	}
	for _, column := range rows.Columns() {
		column.NullN()
		count(column.Data())
		if d, ok := column.(*array.Dictionary); ok {
			count(d.Dictionary().Data())
		}
	}
}

func (h *handOver) each(do func(rank int) error) error {
	for step := range h.Job.Size() {
		if err := do((h.Job.Rank() + 1 + step) % h.Job.Size()); err != nil {
			return err
		}
	}
	return nil
}
