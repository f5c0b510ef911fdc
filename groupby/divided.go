package groupby

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// A stream with more groups than memory has room for divides what came of its parts by the hashes of the keys, so that
// equal keys are in one division (a hybrid hash aggregation). Divisions that host memory has no room for are in a
// temporary file. The divisions are merged one after the other while the result is drawn, so that the groups of one are
// in memory at a time.
const (
	divisions = 64
	// waitingShare of the memory limit is what may wait for a merge before it is divided: a merge takes several times as
	// much. dividedShare is what all divisions may have in memory.
	waitingShare, dividedShare = 8, 4
	dividedRows                = 1 << 17 // groups that become a table to be divided
)

// division is how the partials of a stream are divided, and where they are. The zero value has none.
type division struct {
	divided bool
	disk    *exec.Grant
	file    *exchange.File // nil: all is in memory
	next    int            // the division that is merged next
}

func (d *division) release() {
	if d.file != nil {
		_ = d.file.Close() // it has no name
	}
	d.disk.Release()
}

// share is a part of the memory limit for each of the partials.
func (s *streaming) share(of uint64) uint64 {
	return s.HostCapBytes() / of / uint64(1+len(s.layout.distinct))
}

// divisible tells whether groups that memory has no room for can be divided: if host memory is limited, they need a
// file.
func (s *streaming) divisible() bool {
	return (s.TempDir != "" || s.HostCapBytes() == exec.Unlimited) && (len(s.layout.Spec.By) > 0 || s.numbered())
}

// dividesBy are the columns whose hashes divide groups: the keys of the group-by or, if it has none, the values that are
// counted. Without any there is one group, which is not divided.
func (s *partials) dividesBy() []string {
	if len(s.layout.Spec.By) > 0 {
		return s.layout.Spec.By
	}
	return s.by
}

// divides tells whether groups are divided as they come.
func (s *partials) divides() bool { return s.divided && len(s.dividesBy()) > 0 }

// partials yields the partial groups of the group-by itself, then of each column whose distinct values are counted.
func (s *streaming) partials() iter.Seq[*partials] {
	return func(yield func(*partials) bool) {
		if s.main == nil || !yield(s.main) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(s.distinct)) {
			if !yield(s.distinct[name]) {
				return
			}
		}
	}
}

// divide divides the groups of the parts so far. From now on groups of later parts are divided as they come.
func (s *streaming) divide(ctx context.Context) (err error) {
	if s.HostCapBytes() != exec.Unlimited {
		s.disk = s.Budget().Empty()
		if s.file, err = exchange.NewFile(s.TempDir, s.disk); err != nil {
			return err
		}
	}
	s.divided = true
	for p := range s.partials() {
		if !p.divides() {
			continue
		}
		if g := p.only; g != nil {
			p.only = nil
			if err := p.keep(ctx, g); err != nil {
				return err
			}
		}
		for _, table := range p.tables {
			if err := p.put(ctx, table); err != nil {
				return err
			}
		}
		p.releaseTables()
		p.charge(0)
	}
	return nil
}

// put divides the rows of a table of groups.
func (s *partials) put(ctx context.Context, table arrow.Table) error {
	if s.place == nil {
		schemas, by := [2]*arrow.Schema{table.Schema(), table.Schema()}, s.dividesBy()
		hashes, err := keys.PlanHashes(schemas, [2][]string{by, by}, slices.Repeat([]bool{true}, len(by))...)
		if err != nil {
			return err
		}
		s.divider = exchange.Divider{Hashes: hashes, Parts: divisions}
		s.place = exchange.NewPlace(exchange.PlaceOptions{Schemas: schemas, Parts: divisions,
			Alloc: memory.DefaultAllocator, Budget: s.Budget(), File: s.file, Fail: s.result.flow.Fail,
			MemoryBytes: s.share(dividedShare)})
	}
	parts, err := s.divider.Divide(ctx, relation.Left, table, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	return s.place.PutAll(ctx, relation.Left, parts)
}

// take makes a division the tables that wait for a merge; there are none if it has no rows.
func (s *partials) take(ctx context.Context, number int) error {
	var batches []arrow.RecordBatch
	defer func() { relation.ReleaseAll(batches) }()
	if err := s.charge(s.place.SizeBytes(relation.Left, number)); err != nil {
		return err
	}
	for batch, err := range s.place.Take(ctx, relation.Left, number) {
		if err != nil {
			return err
		}
		batches = append(batches, batch)
	}
	if len(batches) > 0 {
		s.tables = []arrow.Table{array.NewTableFromRecords(s.place.Schemas[0], batches)}
	}
	return nil
}

// charge makes the tables that wait count as sizeBytes under the memory limit.
func (s *partials) charge(sizeBytes uint64) error {
	if s.HostCapBytes() == exec.Unlimited {
		return nil
	}
	grant := s.result.grant
	if sizeBytes >= s.charged {
		if err := grant.Grow(exec.Need{Host: sizeBytes - s.charged}); err != nil {
			return err
		}
	} else {
		grant.GiveHost(s.charged - sizeBytes)
	}
	s.charged = sizeBytes
	return nil
}

// waits makes room for the groups and tables that wait: on disk if they have more than a share of the memory limit.
func (s *partials) waits(ctx context.Context) error {
	sizeBytes, groupBytes := relation.TableBytes(s.tables...), uint64(0)
	if s.only != nil {
		groupBytes = s.only.memory.Has().Host
	}
	if s.HostCapBytes() != exec.Unlimited && s.divisible() && !s.divided && sizeBytes+groupBytes > s.share(waitingShare) {
		return s.divide(ctx)
	}
	err := s.charge(max(sizeBytes, s.charged))
	if s.short(err) {
		return s.divide(ctx)
	}
	return err
}

// short tells whether an error is a lack of memory that a division may end.
func (s *streaming) short(err error) bool {
	return backend.OutOfMemory(err) && !s.divided && s.divisible()
}

// draw returns the groups of the next division that has some; nil if there are none. ctx is the drawer's; its end ends
// draw, as the end of the engine does.
func (s *streaming) draw(ctx context.Context) (*groups, error) {
	if !s.divided {
		return nil, nil
	}
	drawing, cancel := context.WithCancel(s.result.flow.Context())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if len(s.layout.Spec.By) == 0 {
		return s.drawOne(drawing)
	}
	for s.next < divisions {
		number := s.next
		s.next++
		for p := range s.partials() {
			if p.place == nil {
				continue
			}
			if err := p.take(drawing, number); err != nil {
				return nil, err
			}
		}
		if len(s.main.tables) > 0 {
			return s.complete(drawing)
		}
	}
	return nil, nil
}

// drawOne brings the only group of a group-by without keys, and then nil. Each division of the values of a column that
// are counted has values of its own.
func (s *streaming) drawOne(ctx context.Context) (g *groups, err error) {
	if s.next == divisions {
		return nil, nil
	}
	s.next = divisions
	if g, err = s.main.finish(ctx); err != nil {
		return nil, err
	}
	err = s.main.program.distinct(func(column string) (int, error) {
		total := uint64(0)
		for number := range divisions {
			n, err := s.distinct[column].countDivision(ctx, number)
			if err != nil {
				return 0, err
			}
			total += n
		}
		return g.addState([]uint64{total}), nil
	})
	if err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

// countDivision counts the different values of a division that are not NULL.
func (s *partials) countDivision(ctx context.Context, number int) (uint64, error) {
	if s.place == nil {
		return 0, nil
	}
	err := s.take(ctx, number)
	if err != nil || len(s.tables) == 0 {
		return 0, err
	}
	merged, err := s.merge(ctx)
	if err != nil {
		return 0, err
	}
	defer merged.release()
	return merged.values(s.by[0]), s.charge(0)
}

// values is the number of groups whose value of a key, which is the only one, is not NULL.
func (g *groups) values(key string) uint64 {
	return uint64(g.rows - min(1, relation.NullRows(relation.ColumnOf(g.table, key))))
}
