package backendtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

var infoChecks = []check{
	{"names", func(t *testing.T, s *suite) {
		info := s.newRig(t).driver.Info()
		require.NotNil(t, info)
		for what, text := range map[string]string{
			"ID": info.ID, "backend": info.Backend, "name": info.Name, "driver": info.Driver,
			"driver version": info.DriverVersion, "API version": info.APIVersion, "UUID": info.UUID,
		} {
			assert.NotEmpty(t, text, what)
		}
		assert.Equal(t, info.Type.String(), info.TypeName)
		assert.Empty(t, info.Unusable, "an open device is usable")
		assert.True(t, slices.IsSorted(info.Features))
	}},
	{"heaps", func(t *testing.T, s *suite) {
		info := s.newRig(t).driver.Info()
		require.NotEmpty(t, info.Heaps)
		for _, heap := range info.Heaps {
			assert.NotZero(t, heap.SizeBytes)
			assert.LessOrEqual(t, heap.BudgetBytes, heap.SizeBytes)
		}
		size, budget := info.MemoryBytes()
		assert.NotZero(t, size, "a device has device-local memory")
		assert.NotZero(t, budget)
	}},
	{"limits", func(t *testing.T, s *suite) {
		info := s.newRig(t).driver.Info()
		l := info.Limits
		assert.GreaterOrEqual(t, l.MaxAllocationBytes, uint64(64<<20))
		assert.GreaterOrEqual(t, l.MaxBufferBytes, uint64(64<<20))
		assert.GreaterOrEqual(t, l.MaxBlockBytes, min(l.MaxAllocationBytes, l.MaxBufferBytes))
		assert.LessOrEqual(t, l.MaxBlockBytes, l.MaxBufferBytes)
		assert.GreaterOrEqual(t, l.MaxInvocations, uint32(256), "what the base variants need")
		assert.GreaterOrEqual(t, l.MaxSharedBytes, uint32(16<<10))
		assert.GreaterOrEqual(t, l.MaxArgumentBytes, uint32(128))
		assert.NotZero(t, l.ArgumentAlignment)
		assert.Zero(t, backend.PlanAlignment%l.ArgumentAlignment, "plans align for every device")
		assert.GreaterOrEqual(t, l.MaxGroups, uint32(65535))
		assert.Zero(t, l.ImportAlignment&(l.ImportAlignment-1), "a power of two or 0")
		assert.NotZero(t, info.MinSubgroupSize)
		assert.LessOrEqual(t, info.MinSubgroupSize, info.SubgroupSize)
		assert.LessOrEqual(t, info.SubgroupSize, info.MaxSubgroupSize)
	}},
	{"queues", func(t *testing.T, s *suite) {
		info := s.newRig(t).driver.Info()
		assert.True(t, slices.ContainsFunc(info.QueueFamilies,
			func(f backend.QueueFamily) bool { return f.Compute && f.Count > 0 }))
		for _, q := range info.Queues {
			require.Less(t, int(q.Family), len(info.QueueFamilies))
			family := info.QueueFamilies[q.Family]
			assert.Less(t, q.Index, family.Count, q.Role)
			assert.True(t, !q.Computes || family.Compute, q.Role)
			assert.True(t, q.Role != "graphics" || family.Graphics)
		}
		assert.GreaterOrEqual(t, len(info.Queues), int(backend.Graphics), "every role but graphics")
	}},
	{"the same at each opening", func(t *testing.T, s *suite) {
		a, b := s.newRig(t).driver.Info(), s.newRig(t).driver.Info()
		assert.Equal(t, a.UUID, b.UUID)
		assert.Equal(t, a.Limits, b.Limits)
	}},
}
