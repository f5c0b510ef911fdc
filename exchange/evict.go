package exchange

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// leastWriteBytes is how much of a part that is on disk is written at a time at least, while parts that are whole in
// memory can go instead.
const leastWriteBytes = 1 << 20

// fit acquires the memory of what the place holds, or writes so much of it that it does.
func (p *Place) fit(ctx context.Context) error {
	for {
		p.mu.Lock()
		if p.grantedBytes < p.residentBytes {
			moreBytes := p.residentBytes - p.grantedBytes
			if p.File != nil {
				moreBytes = min(moreBytes, p.MemoryBytes-min(p.MemoryBytes, p.grantedBytes))
			}
			p.grantedBytes += p.memory.Borrow(moreBytes)
		}
		shortBytes := p.residentBytes - min(p.residentBytes, p.grantedBytes)
		p.mu.Unlock()
		if shortBytes == 0 || p.File == nil { // without a file the memory of the host has no limit
			return nil
		}
		if some, err := p.evict(ctx, shortBytes); err != nil || !some {
			return err
		}
	}
}

// giveBack is for others, who wait.
func (p *Place) giveBack(sizeBytes uint64) {
	p.mu.Lock()
	leftBytes := p.grantedBytes - min(p.grantedBytes, sizeBytes)
	shortBytes := p.residentBytes - min(p.residentBytes, leftBytes)
	p.mu.Unlock()
	if shortBytes == 0 {
		return
	}
	if _, err := p.evict(context.Background(), shortBytes); err != nil {
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		p.Fail(err)
	}
}

// evict writes blocks of at least sizeBytes, as far as there are any, on all cores.
func (p *Place) evict(ctx context.Context, sizeBytes uint64) (some bool, err error) {
	p.evicting.Lock()
	defer p.evicting.Unlock()
	victims := p.victims(sizeBytes)
	group, _ := onAllCores(ctx)
	for _, v := range victims {
		group.Go(func() error {
			at, err := p.File.encode(v.batch)
			v.batch.Release()
			if err == nil {
				p.written(v, at)
			}
			return err
		})
	}
	return len(victims) > 0, group.Wait()
}

// victim is a block to be written, with the batch that the place may forget meanwhile.
type victim struct {
	*block
	part  *part
	batch arrow.RecordBatch
}

// victims returns blocks in memory of at least sizeBytes together, or all there are. It evicts whole parts, each time
// the part with the most memory among the parts that are on disk already or, if that has less than leastWriteBytes, the
// last part that is wholly in memory.
func (p *Place) victims(sizeBytes uint64) (victims []victim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chosen, chosenBytes := make(map[int]bool), uint64(0)
	for chosenBytes < sizeBytes {
		most, mostBytes, last := -1, uint64(0), -1
		for number := range p.Parts {
			left, right := &p.parts[relation.Left][number], &p.parts[relation.Right][number]
			partBytes := left.residentBytes + right.residentBytes
			switch {
			case chosen[number] || partBytes == 0:
			case !left.evicted && !right.evicted:
				last = number
			case partBytes > mostBytes:
				most, mostBytes = number, partBytes
			}
		}
		if most < 0 || mostBytes < leastWriteBytes && last >= 0 {
			most = last
		}
		if most < 0 {
			break
		}
		chosen[most] = true
		for side := range p.parts {
			of := &p.parts[side][most]
			of.evicted = true
			for _, b := range of.blocks {
				if b.batch != nil {
					b.batch.Retain()
					victims, chosenBytes = append(victims, victim{b, of, b.batch}), chosenBytes+b.sizeBytes
				}
			}
		}
	}
	return victims
}

// written says that a block is on disk, and frees its memory, unless somebody took it meanwhile.
func (p *Place) written(v victim, at []span) {
	p.mu.Lock()
	if v.gone {
		p.mu.Unlock()
		p.File.free(at)
		return
	}
	batch := v.block.batch
	v.block.batch, v.at = nil, at
	v.part.residentBytes -= v.sizeBytes
	p.residentBytes -= v.sizeBytes
	p.shrink()
	p.mu.Unlock()
	batch.Release()
}

// shrink returns memory that the place does not hold any more. The caller holds the lock.
func (p *Place) shrink() {
	if p.grantedBytes > p.residentBytes {
		p.grantedBytes = p.residentBytes
		p.memory.Shrink(exec.Need{Host: p.grantedBytes})
	}
}
