package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
)

func TestPlanParts(t *testing.T) {
	const mebibyte = 1 << 20
	require.Equal(t, []part{{offset: 0, size: 4 * mebibyte}, {offset: 4 * mebibyte, size: 4 * mebibyte},
		{offset: 8 * mebibyte, size: mebibyte}},
		planParts(9*mebibyte, 65536, 4*mebibyte+4096), "the limit is rounded down to the alignment")
	require.Equal(t, []part{{offset: 0, size: 8 * mebibyte}}, planParts(8*mebibyte, 65536, 8*mebibyte))
	require.Empty(t, planParts(0, 65536, mebibyte))

	const limit = 1<<32 - 1<<21 // of one allocation on NVIDIA
	parts := planParts(16<<30, 1<<16, limit)
	require.Len(t, parts, 5)
	require.Equal(t, part{offset: 4 * limit, size: 16<<30 - 4*limit}, parts[4])

	rapid.Check(t, func(t *rapid.T) {
		alignment := uint64(1) << rapid.IntRange(0, 21).Draw(t, "alignment")
		limit := rapid.Uint64Range(alignment, 1<<32).Draw(t, "limit")
		need := rapid.Uint64Range(1, 100*limit).Draw(t, "need")
		at := uint64(0)
		for _, p := range planParts(need, alignment, limit) {
			require.Equal(t, at, p.offset)
			require.Zero(t, p.offset%alignment)
			require.Positive(t, p.size)
			require.LessOrEqual(t, p.size, limit)
			at += p.size
			require.True(t, p.size%alignment == 0 || at == need)
		}
		require.Equal(t, need, at)
	})
}

// TestFillParts lets each allocation fail in turn: what was allocated before is freed, once.
func TestFillParts(t *testing.T) {
	for fail := range 6 {
		live := make(map[uint64]uint64) // size by memory
		parts := planParts(5<<20-4096, 4096, 1<<20)
		require.Len(t, parts, 5)
		calls := 0
		r := fillParts(parts, func(sizeBytes uint64) (uint64, result) {
			if calls == fail {
				return 0, outOfMemory
			}
			calls++
			live[uint64(calls)] = sizeBytes
			return uint64(calls), success
		})
		require.Equal(t, fail < 5, r == outOfMemory)
		require.Equal(t, fail == 5, r == success)
		require.Len(t, live, fail, "nothing is asked for after a failure")
		for i := range fail {
			require.Equal(t, parts[i].size, live[parts[i].memory])
		}
		for range 2 { // destroying twice frees nothing twice
			freeParts(parts, func(memory uint64) {
				require.Contains(t, live, memory)
				delete(live, memory)
			})
		}
		require.Empty(t, live)
	}
}

func TestPlanSparse(t *testing.T) {
	const (
		universal = queueGraphics | queueCompute | queueTransfer | queueSparse
		compute   = queueCompute | queueTransfer
		decode    = queueTransfer | queueSparse | 0x20
	)
	for _, c := range []struct {
		name     string
		families []family
		want     queueSlot
		none     bool
	}{
		{"NVIDIA: beside compute", []family{{universal, 16, 64}, {queueTransfer | queueSparse, 2, 64},
			{compute | queueSparse, 8, 64}, {decode, 7, 32}}, queueSlot{2, 3}, false},
		{"a family that only binds", []family{{universal &^ queueSparse, 1, 64}, {compute, 4, 64}, {queueSparse, 1, 0}},
			queueSlot{2, 0}, false},
		{"compute before graphics", []family{{universal, 16, 64}, {compute | queueSparse, 8, 64}}, queueSlot{1, 5},
			false},
		{"shared with graphics", []family{{universal, 1, 64}, {compute, 4, 64}}, queueSlot{0, 0}, false},
		{"one queue for all", []family{{universal, 1, 64}}, queueSlot{0, 0}, false},
		{"shared with uploads", []family{{queueTransfer | queueSparse, 2, 64}, {compute | queueSparse, 1, 64}},
			queueSlot{0, 0}, false},
		{"only video binds", []family{{compute, 4, 64}, {decode, 4, 0}}, queueSlot{}, true},
		{"nothing binds", []family{{compute, 4, 64}, {queueTransfer, 4, 64}}, queueSlot{}, true},
		{"an empty family", []family{{compute, 4, 64}, {queueSparse, 0, 0}}, queueSlot{}, true},
	} {
		plan, ok := planQueues(c.families, true)
		require.True(t, ok, c.name)
		slot, ok := planSparse(c.families, plan)
		require.Equal(t, !c.none, ok, c.name)
		require.Equal(t, c.want, slot, c.name)
	}
}

func TestLimitBlocks(t *testing.T) {
	const allocation = 1<<32 - 1<<21
	h200 := physical{
		features: sparseBinding, families: []family{{queueCompute | queueSparse, 8, 64}},
		types: []memoryType{{memoryLocal, 140 << 30, true}, {memoryVisible, 256 << 30, false}},
		info:  backend.DeviceInfo{Limits: backend.Limits{MaxAllocationBytes: allocation}},
	}
	for _, c := range []struct {
		name                  string
		spoil                 func(p *physical)
		maxBufferBytes        uint64
		sparseBytes           uint64
		buffer, block, mapped uint64
	}{
		{"several allocations", func(*physical) {}, 1 << 40, 1 << 47, 1 << 40, 140 << 30, allocation},
		{"a small address space", func(*physical) {}, 1 << 40, 1 << 35, 1 << 35, 1 << 35, allocation},
		{"the driver names no buffer size", func(*physical) {}, 0, 1 << 47, 1 << 47, 140 << 30, allocation},
		{"no feature", func(p *physical) { p.features = 0 }, 1 << 40, 1 << 47, allocation, allocation, allocation},
		{"no queue", func(p *physical) { p.families = []family{{queueCompute, 8, 64}} }, 1 << 40, 1 << 47, allocation,
			allocation, allocation},
		{"mapped", func(p *physical) { p.info.Unified = true }, 1 << 40, 1 << 47, allocation, allocation, allocation},
		{"small buffers", func(p *physical) { p.features = 0 }, 1 << 30, 0, 1 << 30, 1 << 30, 1 << 30},
	} {
		p := h200
		c.spoil(&p)
		p.limitBlocks(c.maxBufferBytes, c.sparseBytes)
		l := &p.info.Limits
		require.Equal(t, []uint64{allocation, c.buffer, c.block, c.block, c.mapped, c.mapped},
			[]uint64{l.MaxAllocationBytes, l.MaxBufferBytes, l.MaxBlockBytes, l.BlockBytes(backend.DeviceLocal),
				l.BlockBytes(backend.HostVisible), l.BlockBytes(backend.Imported)}, c.name)
		require.Equal(t, l.MaxBlockBytes > allocation, p.sparse, c.name)
	}
}
