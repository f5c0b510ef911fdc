package peers

import (
	"context"

	"github.com/spirjoin/spirjoin/relation"
)

// radixPartition partitions, moves each bucket to its rank, and sorts it there.
func (s *sorter) radixPartition(ctx context.Context) error {
	if s.Size() == 1 {
		return s.sortLocal(ctx)
	}
	by := &radix{rank: s.Rank.Rank(), size: s.Size(), weights: s.Weights, places: s.order.Keys}
	defer func() {
		for i := range s.rows {
			by.release(i)
		}
	}()
	chunks := make([]*relation.Chunk, len(s.rows))
	for i, h := range s.rows {
		chunks[i] = &h.Chunk
	}
	if err := s.agree(ctx, s.Lane, by, chunks); err != nil {
		return err
	}
	if s.order.Keys == WholeKeys {
		s.splitters, s.hot = by.splitters(), by.divided.hotKeys(by.buckets, by.targets, by.varying)
	}
	for i := range s.rows {
		parts, err := by.Apply(ctx, s.Lane, i)
		if err != nil {
			return err
		}
		received, err := s.move(ctx, parts, s.order.MostBytes)
		if err != nil {
			return err
		}
		by.release(i)
		s.replace(i, &held{Chunk: received.Chunk, memory: received.memory})
		if err := s.all(ctx, "sort", s.sortGroups(ctx, i, byGroup(received.Runs), by.groups)); err != nil {
			return err
		}
	}
	return nil
}

// sortGroups sorts the groups that this rank received, each by the bits in which its keys differ, and puts them one
// behind the other.
func (s *sorter) sortGroups(ctx context.Context, chunk int, runs []Run, groups []fused) error {
	h := s.rows[chunk]
	if len(runs) == 0 {
		h.Chunk = part(&h.Chunk, 0, 0)
		return nil
	}
	if len(runs) == 1 {
		h.Chunk = part(&h.Chunk, 0, runs[0].Rows)
		if groups[runs[0].Group].differing == 0 {
			return nil
		}
		one, err := sortBits(ctx, s.Lane, &h.Chunk, groups[runs[0].Group].differing)
		if err == nil {
			s.replace(chunk, one)
		}
		return err
	}
	all := part(&h.Chunk, 0, 0)
	for _, run := range runs {
		all.Rows += run.Rows
	}
	out := &held{Chunk: all, memory: s.Lane.Scope(ctx)}
	err := func() error {
		out.allocate()
		if err := out.memory.Err(); err != nil {
			return err
		}
		at := uint64(0)
		for _, run := range runs {
			one := &held{Chunk: part(&h.Chunk, run.First, run.Rows)}
			if differing := groups[run.Group].differing; differing != 0 {
				sorted, err := sortBits(ctx, s.Lane, &one.Chunk, differing)
				if err != nil {
					return err
				}
				one = sorted
			}
			list := s.Lane.List("put behind")
			from, to := columnsOf(&one.Chunk), columnsOf(&out.Chunk)
			for i := range from {
				if err := s.Lane.Copy(list, partOf(to[i], at, run.Rows), from[i].Data); err != nil {
					one.release()
					return err
				}
			}
			err := s.Lane.Submit(ctx, list)
			one.release()
			if err != nil {
				return err
			}
			at += run.Rows
		}
		return nil
	}()
	if err != nil {
		out.release()
		return err
	}
	s.replace(chunk, out)
	return nil
}
