package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestPlanQueues(t *testing.T) {
	const (
		universal = queueGraphics | queueCompute | queueTransfer | queueSparse
		decode    = queueTransfer | queueSparse | 0x20
		flow      = queueTransfer | queueSparse | 0x100
	)
	none := absent
	slots := func(compute, upload, download, ingest, deliver, graphics queueSlot) [backend.Roles]queueSlot {
		return [backend.Roles]queueSlot{backend.Compute: compute, backend.Upload: upload, backend.Download: download,
			backend.Ingest: ingest, backend.Deliver: deliver, backend.Graphics: graphics}
	}
	for _, c := range []struct {
		name     string
		families []family
		plan     [backend.Roles]queueSlot
	}{
		{"one queue", []family{{universal, 1, 64}}, slots(queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0},
			queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0})},
		{"two queues", []family{{universal, 2, 64}}, slots(queueSlot{0, 0}, queueSlot{0, 1}, queueSlot{0, 1},
			queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0})},
		{"three queues", []family{{universal, 3, 64}}, slots(queueSlot{0, 0}, queueSlot{0, 1}, queueSlot{0, 2},
			queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0})},
		{"four queues", []family{{universal, 4, 64}}, slots(queueSlot{0, 0}, queueSlot{0, 1}, queueSlot{0, 2},
			queueSlot{0, 3}, queueSlot{0, 3}, queueSlot{0, 0})},
		{"many queues", []family{{universal, 16, 64}}, slots(queueSlot{0, 0}, queueSlot{0, 1}, queueSlot{0, 2},
			queueSlot{0, 3}, queueSlot{0, 4}, queueSlot{0, 5})},
		{"copy engines, video and optical flow", []family{{universal, 16, 64}, {queueTransfer | queueSparse, 2, 64},
			{queueCompute | queueTransfer | queueSparse, 8, 64}, {decode, 7, 32}, {flow, 1, 64}},
			slots(queueSlot{2, 0}, queueSlot{1, 0}, queueSlot{1, 1}, queueSlot{2, 1}, queueSlot{2, 2},
				queueSlot{0, 0})},
		{"one copy engine", []family{{universal, 1, 64}, {queueCompute | queueTransfer, 4, 64}, {queueTransfer, 1, 64}},
			slots(queueSlot{1, 0}, queueSlot{2, 0}, queueSlot{1, 1}, queueSlot{1, 2}, queueSlot{1, 3},
				queueSlot{0, 0})},
		{"one copy engine, one other queue", []family{{universal, 1, 64}, {queueTransfer, 1, 64}},
			slots(queueSlot{0, 0}, queueSlot{1, 0}, queueSlot{1, 0}, queueSlot{0, 0}, queueSlot{0, 0},
				queueSlot{0, 0})},
		{"compute beside graphics", []family{{queueGraphics, 1, 64}, {queueCompute, 1, 64}},
			slots(queueSlot{1, 0}, queueSlot{1, 0}, queueSlot{1, 0}, queueSlot{1, 0}, queueSlot{1, 0},
				queueSlot{0, 0})},
		{"no ingest and deliver of a graphics family",
			[]family{{universal, 8, 64}, {queueCompute, 1, 64}, {queueTransfer, 2, 64}},
			slots(queueSlot{1, 0}, queueSlot{2, 0}, queueSlot{2, 1}, queueSlot{1, 0}, queueSlot{1, 0},
				queueSlot{0, 0})},
		{"ingest and deliver of another family",
			[]family{{queueCompute, 1, 64}, {queueTransfer, 2, 64}, {queueCompute, 2, 64}},
			slots(queueSlot{0, 0}, queueSlot{1, 0}, queueSlot{1, 1}, queueSlot{2, 0}, queueSlot{2, 1}, none)},
		{"only video beside", []family{{universal, 1, 64}, {decode, 4, 0}},
			slots(queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0}, queueSlot{0, 0},
				queueSlot{0, 0})},
		{"empty family, no graphics",
			[]family{{queueCompute, 0, 0}, {queueGraphics, 0, 0}, {queueCompute | queueTransfer, 1, 64}},
			slots(queueSlot{2, 0}, queueSlot{2, 0}, queueSlot{2, 0}, queueSlot{2, 0}, queueSlot{2, 0}, none)},
	} {
		plan, ok := planQueues(c.families, true)
		require.True(t, ok, c.name)
		require.Equal(t, c.plan, plan, c.name)
		without, _ := planQueues(c.families, false)
		c.plan[backend.Graphics] = none
		require.Equal(t, c.plan, without, "%s, no graphics", c.name)
		for _, slot := range plan {
			if slot == absent {
				continue
			}
			require.Less(t, slot.index, c.families[slot.family].count, c.name)
		}
	}
	_, ok := planQueues([]family{{queueTransfer, 2, 64}}, false)
	require.False(t, ok)
}

func TestUsedFamilies(t *testing.T) {
	require.Equal(t, []queueSlot{{1, 2}, {2, 1}}, usedFamilies(queueSlot{2, 0}, queueSlot{1, 0}, queueSlot{1, 1}))
	require.Equal(t, []queueSlot{{0, 1}}, usedFamilies(queueSlot{}, absent, queueSlot{}))
}
