package backend

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

type fakeBlock struct{ size uint64 }

func (b *fakeBlock) SizeBytes() uint64 { return b.size }
func (b *fakeBlock) Memory() Memory    { return DeviceLocal }
func (b *fakeBlock) Bytes() []byte     { return nil }
func (b *fakeBlock) Free() error       { return nil }

func TestHazardExample(t *testing.T) {
	h := newHazardTracker()
	a, b, c := &fakeBlock{64}, &fakeBlock{64}, &fakeBlock{64}
	step := func(spans ...span) bool {
		barrier, waits := h.need(Compute, 1, spans)
		assert.Equal(t, [Roles]uint64{}, waits)
		return barrier
	}
	assert.False(t, step(span{a, 0, 64, Write}))
	assert.True(t, step(span{a, 0, 64, Read}, span{b, 0, 64, Write}))
	assert.False(t, step(span{a, 0, 64, Read}, span{c, 0, 64, Write}))
	assert.True(t, step(span{a, 0, 32, Write}))
	assert.False(t, step(span{a, 32, 64, Write}), "covered by the barrier before")
}

func TestHazardQueues(t *testing.T) {
	h := newHazardTracker()
	a := &fakeBlock{64}
	_, waits := h.need(Upload, 7, []span{{a, 0, 64, Write}})
	assert.Zero(t, waits)
	barrier, waits := h.need(Compute, 3, []span{{a, 16, 20, Read}})
	assert.False(t, barrier)
	assert.Equal(t, [Roles]uint64{Upload: 7}, waits)
	_, waits = h.need(Compute, 4, []span{{a, 0, 8, Read}})
	assert.Zero(t, waits, "waited for before")
	_, waits = h.need(Upload, 8, []span{{a, 0, 64, Write}})
	assert.Equal(t, [Roles]uint64{Compute: 4}, waits)
}

func TestHazardAccumulate(t *testing.T) {
	h := newHazardTracker()
	a := &fakeBlock{64}
	need := func(access Access) bool {
		barrier, _ := h.need(Compute, 1, []span{{a, 0, 64, access}})
		return barrier
	}
	assert.False(t, need(Write))
	assert.True(t, need(Accumulate))
	assert.False(t, need(Accumulate))
	assert.True(t, need(Read))
	assert.True(t, need(Accumulate))
	assert.True(t, need(Write))
}

// TestHazardProperty holds the tracker against the definition: every conflicting pair of commands must be ordered by a
// barrier between them on one queue, or by a wait of the later one's queue for the earlier one's batch.
func TestHazardProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHazardTracker()
		blocks := []*fakeBlock{{64}, {64}}
		type command struct {
			role    Role
			point   uint64
			spans   []span
			barrier bool
			waited  [Roles]uint64 // of its queue, up to now
		}
		var all []command
		var points [Roles]uint64
		var waited [Roles][Roles]uint64
		for range rapid.IntRange(2, 30).Draw(t, "commands") {
			role := Role(rapid.IntRange(0, int(Roles)-1).Draw(t, "role"))
			points[role]++
			c := command{role: role, point: points[role]}
			for range rapid.IntRange(1, 3).Draw(t, "spans") {
				lo := rapid.Uint64Range(0, 15).Draw(t, "lo") * 4
				c.spans = append(c.spans, span{
					blocks[rapid.IntRange(0, 1).Draw(t, "block")], lo, lo + 4*rapid.Uint64Range(1, 16-lo/4).Draw(t, "len"),
					Access(rapid.IntRange(0, int(Accumulate)).Draw(t, "access")),
				})
			}
			var waits [Roles]uint64
			c.barrier, waits = h.need(role, c.point, c.spans)
			for r := range Roles {
				waited[role][r] = max(waited[role][r], waits[r])
			}
			c.waited = waited[role]
			all = append(all, c)
		}
		// before[i][j]: command i happens before command j.
		before := make([][]bool, len(all))
		for i, earlier := range all {
			before[i] = make([]bool, len(all))
			barrier := false
			for j := i + 1; j < len(all); j++ {
				if later := all[j]; later.role == earlier.role {
					barrier = barrier || later.barrier
					before[i][j] = barrier
				} else {
					before[i][j] = later.waited[earlier.role] >= earlier.point
				}
			}
		}
		for k := range all {
			for i := range k {
				for j := k + 1; j < len(all); j++ {
					before[i][j] = before[i][j] || before[i][k] && before[k][j]
				}
			}
		}
		for j, later := range all {
			for i, earlier := range all[:j] {
				if conflict(earlier.spans, later.spans) && !before[i][j] {
					t.Fatalf("commands %d and %d conflict and are not ordered", i, j)
				}
			}
		}
	})
}

func conflict(a, b []span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.block == y.block && x.lo < y.hi && y.lo < x.hi &&
				(x.access != Read || y.access != Read) && !(x.access == Accumulate && y.access == Accumulate) {
				return true
			}
		}
	}
	return false
}
