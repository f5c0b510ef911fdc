package backend

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// newTestArena counts what its blocks take.
func newTestArena(capBytes, maxBlock uint64, allocated *uint64) *arena {
	return &arena{
		capBytes: capBytes, softBytes: capBytes, maxBlock: maxBlock,
		allocate: func(sizeBytes uint64, _ Memory) (Block, error) {
			*allocated += sizeBytes
			return &fakeBlock{sizeBytes}, nil
		},
		forget: func(b Block) { *allocated -= b.SizeBytes() },
	}
}

func TestArenaProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var allocated uint64
		capBytes := rapid.Uint64Range(1<<16, 1<<24).Draw(t, "cap")
		a := newTestArena(capBytes, 1<<23, &allocated)
		a.softBytes = rapid.Uint64Range(0, 1<<24).Draw(t, "soft cap")
		type taken struct {
			block        Block
			offset, size uint64
		}
		var live []taken
		var used uint64
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				g := live[i]
				live = append(live[:i], live[i+1:]...)
				a.give(g.block, g.offset, g.size)
				used -= max(1, (g.size+255)/256) * 256
			} else {
				size := rapid.Uint64Range(0, 1<<rapid.IntRange(0, 23).Draw(t, "log")).Draw(t, "size")
				block, offset, err := a.take(size)
				if err != nil {
					require.ErrorIs(t, err, ErrDeviceMemory)
					continue
				}
				require.Zero(t, offset%PlanAlignment)
				require.LessOrEqual(t, offset+size, block.SizeBytes())
				for _, other := range live {
					require.False(t, other.block == block && offset < other.offset+max(1, other.size) &&
						other.offset < offset+max(1, size), "ranges overlap")
				}
				live = append(live, taken{block, offset, size})
				used += max(1, (size+255)/256) * 256
			}
			require.Equal(t, used, a.usedBytes)
			require.Equal(t, allocated, a.blockBytes)
			require.LessOrEqual(t, a.blockBytes, capBytes)
		}
		for _, g := range live {
			a.give(g.block, g.offset, g.size)
		}
		require.NoError(t, a.trim(0))
		require.Zero(t, allocated)
		require.Zero(t, a.usedBytes)
	})
}

// TestArenaSoftCap: beyond the soft cap a small range comes out of a large one that is free, and blocks without a range
// go; what has no other room still gets a block.
func TestArenaSoftCap(t *testing.T) {
	for _, c := range []struct{ softBytes, blockBytes uint64 }{{1 << 20, 5 << 16}, {1 << 16, 4 << 16}} {
		var allocated uint64
		a := newTestArena(1<<20, 1<<23, &allocated)
		a.softBytes = c.softBytes
		var blocks []Block
		var offsets []uint64
		take := func(sizeBytes uint64) {
			block, offset, err := a.take(sizeBytes)
			require.NoError(t, err)
			blocks, offsets = append(blocks, block), append(offsets, offset)
		}
		take(4 << 16)
		a.give(blocks[0], offsets[0], 4<<16)
		take(1 << 10)
		require.Equal(t, c.blockBytes, allocated)
		take(5 << 16)
		require.Equal(t, c.blockBytes+5<<16, allocated)
		a.give(blocks[2], offsets[2], 5<<16)
		require.NoError(t, a.trim(c.blockBytes))
		require.LessOrEqual(t, allocated, c.blockBytes)
		a.give(blocks[1], offsets[1], 1<<10)
	}
}

func TestArenaErrorNamesTheLimit(t *testing.T) {
	var allocated uint64
	a := newTestArena(1<<20, 1<<30, &allocated)
	_, _, err := a.take(1 << 21)
	require.ErrorIs(t, err, ErrDeviceMemory)
	require.ErrorContains(t, err, "2097152 more bytes, 0 in use, limit 1048576; raise device_memory")

	a = newTestArena(1<<40, 1<<20, &allocated)
	a.maxAllocation = 1 << 18
	_, _, err = a.take(1<<20 + 1)
	require.ErrorIs(t, err, ErrDeviceMemory)
	require.ErrorContains(t, err,
		"1048577 bytes in one buffer, the device allows 1048576 of device-local memory, 262144 in one allocation")
	require.Zero(t, allocated)
}
