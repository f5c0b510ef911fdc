package backend

import (
	"fmt"
	"math"
	"slices"
)

// arena hands out ranges of the blocks of one kind of memory (the per-device arenas of HMG 3.1.3). It is pure: blocks
// come from allocate and only the arena decides when one is needed. Small requests share pool blocks; a request of half
// a pool block or more gets a block of its own size. A range is taken best fit, but not from a free range of more than
// twice its size while the cap has room for a new block: large free ranges are kept for large requests. Blocks without
// a range in use are kept for reuse until the cap needs their bytes, or trim.
type arena struct {
	memory        Memory
	allocate      func(sizeBytes uint64, memory Memory) (Block, error)
	forget        func(Block) // told of every block before it is freed
	maxBlock      uint64      // limit of one block, a multiple of arenaAlignment
	maxAllocation uint64      // limit of one allocation of the device, for errors: a block may have several
	capBytes      uint64      // of all blocks together
	softBytes     uint64      // from which on free ranges of any size are taken before there is a new block
	blocks        []*arenaBlock

	blockBytes uint64 // of all blocks
	usedBytes  uint64 // of all ranges in use
	peakBytes  uint64 // largest usedBytes so far
}

type arenaBlock struct {
	block Block
	free  []extent // sorted by offset, never adjacent
}

type extent struct{ offset, size uint64 }

const (
	maxPoolBytes   = 16 << 20
	arenaAlignment = PlanAlignment
)

// take returns a range of at least sizeBytes. The error says what was asked for, what is in use and what the limit is.
func (a *arena) take(sizeBytes uint64) (Block, uint64, error) {
	if sizeBytes > a.maxBlock { // before rounding up, which could overflow
		return nil, 0, &OpError{Op: "allocate", Err: a.sentinel(), Detail: fmt.Sprintf(
			"%d bytes in one buffer, the device allows %d of %v memory, %d in one allocation", sizeBytes, a.maxBlock,
			a.memory, a.maxAllocation)}
	}
	size := (max(sizeBytes, 1) + arenaAlignment - 1) / arenaAlignment * arenaAlignment
	best, at := a.bestFit(size, 2*max(size, a.poolBytes()))
	if best == nil {
		want := size
		if size < a.poolBytes()/2 {
			want = a.poolBytes() / size * size // columns of one size fill it
		}
		if most := min(a.capBytes, a.softBytes); a.blockBytes+want > most {
			if best, at = a.bestFit(size, math.MaxUint64); best == nil {
				if err := a.trim(0); err != nil {
					return nil, 0, err
				}
				left := most - min(most, a.blockBytes)
				want = max(size, min(want, left/arenaAlignment*arenaAlignment)) // or drivers round it up, beyond the cap
			}
		}
		if best == nil {
			if a.blockBytes+want > a.capBytes {
				return nil, 0, a.overCap(sizeBytes)
			}
			block, err := a.allocate(want, a.memory)
			if err != nil {
				return nil, 0, err
			}
			a.blockBytes += block.SizeBytes()
			best, at = &arenaBlock{block: block, free: []extent{{0, block.SizeBytes()}}}, 0
			a.blocks = append(a.blocks, best)
		}
	}
	e := &best.free[at]
	offset := e.offset
	e.offset, e.size = e.offset+size, e.size-size
	if e.size == 0 {
		best.free = slices.Delete(best.free, at, at+1)
	}
	a.usedBytes += size
	a.peakBytes = max(a.peakBytes, a.usedBytes)
	return best.block, offset, nil
}

// bestFit finds the smallest free range of sizeBytes to mostBytes; nil when there is none.
func (a *arena) bestFit(sizeBytes, mostBytes uint64) (best *arenaBlock, at int) {
	for _, b := range a.blocks {
		for i, e := range b.free {
			if e.size >= sizeBytes && e.size <= mostBytes && (best == nil || e.size < best.free[at].size) {
				best, at = b, i
			}
		}
	}
	return best, at
}

// poolBytes is the size of a pool block: a small part of the cap, so that it wastes little of it.
func (a *arena) poolBytes() uint64 {
	return min(maxPoolBytes, max(a.capBytes/16, 1<<16)/arenaAlignment*arenaAlignment, a.maxBlock)
}

// give returns a range that take handed out.
func (a *arena) give(block Block, offset, sizeBytes uint64) {
	size := (max(sizeBytes, 1) + arenaAlignment - 1) / arenaAlignment * arenaAlignment
	b := a.blocks[slices.IndexFunc(a.blocks, func(b *arenaBlock) bool { return b.block == block })]
	i, _ := slices.BinarySearchFunc(b.free, offset, func(e extent, offset uint64) int {
		if e.offset < offset {
			return -1
		}
		return 1
	})
	b.free = slices.Insert(b.free, i, extent{offset, size})
	if i+1 < len(b.free) && offset+size == b.free[i+1].offset {
		b.free[i].size += b.free[i+1].size
		b.free = slices.Delete(b.free, i+1, i+2)
	}
	if i > 0 && b.free[i-1].offset+b.free[i-1].size == offset {
		b.free[i-1].size += b.free[i].size
		b.free = slices.Delete(b.free, i, i+1)
	}
	a.usedBytes -= size
}

// claim counts memory outside the arena's blocks, such as an image's, under the arena's cap.
func (a *arena) claim(sizeBytes uint64) error {
	if a.blockBytes+sizeBytes > a.capBytes {
		if err := a.trim(a.capBytes - min(a.capBytes, sizeBytes)); err != nil {
			return err
		}
	}
	if a.blockBytes+sizeBytes > a.capBytes {
		return a.overCap(sizeBytes)
	}
	a.blockBytes += sizeBytes
	a.usedBytes += sizeBytes
	a.peakBytes = max(a.peakBytes, a.usedBytes)
	return nil
}

// unclaim undoes a claim.
func (a *arena) unclaim(sizeBytes uint64) {
	a.blockBytes -= sizeBytes
	a.usedBytes -= sizeBytes
}

func (a *arena) overCap(sizeBytes uint64) error {
	return &OpError{Op: "allocate", Err: a.sentinel(), Detail: fmt.Sprintf(
		"%d more bytes, %d in use, limit %d; raise %s", sizeBytes, a.usedBytes, a.capBytes, a.option())}
}

// trim frees blocks of which nothing is in use, until those that are left have mostBytes.
func (a *arena) trim(mostBytes uint64) error {
	var firstErr error
	a.blocks = slices.DeleteFunc(a.blocks, func(b *arenaBlock) bool {
		if a.blockBytes <= mostBytes || len(b.free) != 1 || b.free[0].size != b.block.SizeBytes() {
			return false
		}
		a.blockBytes -= b.block.SizeBytes()
		a.forget(b.block)
		if err := b.block.Free(); err != nil && firstErr == nil {
			firstErr = err
		}
		return true
	})
	return firstErr
}

func (a *arena) sentinel() error {
	if a.memory == DeviceLocal {
		return ErrDeviceMemory
	}
	return ErrHostMemory
}

// option names what moves the cap.
func (a *arena) option() string {
	if a.memory == DeviceLocal {
		return "device_memory"
	}
	return "DeviceOptions.HostMemoryBytes"
}
