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

type fakeImage struct {
	layers uint32
	freed  bool
}

func (i *fakeImage) SizeBytes() uint64 { return uint64(i.layers) << 10 }
func (i *fakeImage) Layers() uint32    { return i.layers }
func (i *fakeImage) Free() error       { i.freed = true; return nil }

// TestHazardImage: layers are ordered one by one, and a change of their usage is ordered even between reads.
func TestHazardImage(t *testing.T) {
	const target, texture Usage = 1, 2
	h := newHazardTracker()
	image := &fakeImage{layers: 8}
	need := func(role Role, point, first, end uint64, access Access, usage Usage) (bool, [Roles]uint64, []UsageChange) {
		spans := []span{{image, first, end, access, usage}}
		changes := h.changes(spans)
		barrier, waits := h.need(role, point, spans)
		return barrier, waits, changes
	}
	none := [Roles]uint64{}
	for i, c := range []struct {
		role       Role
		first, end uint64
		access     Access
		usage      Usage
		barrier    bool
		waits      [Roles]uint64
		changes    []UsageChange
	}{
		{Graphics, 0, 4, Write, target, false, none, []UsageChange{{image, 0, 4, 0, target}}},
		{Graphics, 4, 6, Write, target, false, none, []UsageChange{{image, 4, 6, 0, target}}},
		{Graphics, 2, 3, Write, target, true, none, nil},
		{Compute, 2, 7, Read, texture, false, [Roles]uint64{Graphics: 3}, []UsageChange{
			{image, 2, 3, target, texture}, {image, 3, 4, target, texture}, {image, 4, 6, target, texture},
			{image, 6, 7, 0, texture}}},
		{Compute, 3, 5, Read, texture, true, none, nil},
		{Compute, 3, 4, Read, target, true, none, []UsageChange{{image, 3, 4, texture, target}}},
		{Graphics, 4, 5, Read, texture, false, [Roles]uint64{Compute: 4}, nil},
	} {
		barrier, waits, changes := need(c.role, uint64(i)+1, c.first, c.end, c.access, c.usage)
		assert.Equal(t, c.barrier, barrier, "command %d", i)
		assert.Equal(t, c.waits, waits, "command %d", i)
		assert.Equal(t, c.changes, changes, "command %d", i)
	}
}

func TestHazardExample(t *testing.T) {
	h := newHazardTracker()
	a, b, c := &fakeBlock{64}, &fakeBlock{64}, &fakeBlock{64}
	step := func(spans ...span) bool {
		barrier, waits := h.need(Compute, 1, spans)
		assert.Equal(t, [Roles]uint64{}, waits)
		return barrier
	}
	assert.False(t, step(span{a, 0, 64, Write, 0}))
	assert.True(t, step(span{a, 0, 64, Read, 0}, span{b, 0, 64, Write, 0}))
	assert.False(t, step(span{a, 0, 64, Read, 0}, span{c, 0, 64, Write, 0}))
	assert.True(t, step(span{a, 0, 32, Write, 0}))
	assert.False(t, step(span{a, 32, 64, Write, 0}), "covered by the barrier before")
}

func TestHazardQueues(t *testing.T) {
	h := newHazardTracker()
	a := &fakeBlock{64}
	_, waits := h.need(Upload, 7, []span{{a, 0, 64, Write, 0}})
	assert.Zero(t, waits)
	barrier, waits := h.need(Compute, 3, []span{{a, 16, 20, Read, 0}})
	assert.False(t, barrier)
	assert.Equal(t, [Roles]uint64{Upload: 7}, waits)
	_, waits = h.need(Compute, 4, []span{{a, 0, 8, Read, 0}})
	assert.Zero(t, waits, "waited for before")
	_, waits = h.need(Upload, 8, []span{{a, 0, 64, Write, 0}})
	assert.Equal(t, [Roles]uint64{Compute: 4}, waits)
}

func TestHazardAccumulate(t *testing.T) {
	h := newHazardTracker()
	a := &fakeBlock{64}
	need := func(access Access) bool {
		barrier, _ := h.need(Compute, 1, []span{{a, 0, 64, access, 0}})
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
		resources := []any{&fakeBlock{64}, &fakeBlock{64}, &fakeImage{layers: 64}}
		type command struct {
			role    Role
			point   uint64
			spans   []span
			barrier bool
			waited  [Roles]uint64 // of its queue, up to now
		}
		var all []command
		var points [Roles]uint64
		var usages [64]Usage // of the layers of the image
		var waited [Roles][Roles]uint64
		for range rapid.IntRange(2, 30).Draw(t, "commands") {
			role := Role(rapid.IntRange(0, int(Roles)-1).Draw(t, "role"))
			points[role]++
			c := command{role: role, point: points[role]}
			for range rapid.IntRange(1, 3).Draw(t, "spans") {
				lo := rapid.Uint64Range(0, 15).Draw(t, "lo") * 4
				s := span{
					resources[rapid.IntRange(0, 2).Draw(t, "resource")], lo,
					lo + 4*rapid.Uint64Range(1, 16-lo/4).Draw(t, "len"),
					Access(rapid.IntRange(0, int(Accumulate)).Draw(t, "access")), 0,
				}
				if _, ok := s.resource.(ImageBlock); ok {
					s.usage = Usage(rapid.IntRange(1, 2).Draw(t, "usage"))
				}
				if !clashes(c.spans, s) {
					c.spans = append(c.spans, s)
				}
			}
			for _, change := range h.changes(c.spans) {
				for layer := change.FirstLayer; layer < change.EndLayer; layer++ {
					if usages[layer] != change.From || change.From == change.To {
						t.Fatalf("layer %d changes from %d to %d, it was used as %d", layer, change.From, change.To,
							usages[layer])
					}
					usages[layer] = change.To
				}
			}
			for _, s := range c.spans {
				for layer := s.lo; s.usage > 0 && layer < s.hi; layer++ {
					if usages[layer] != s.usage {
						t.Fatalf("layer %d is used as %d and is %d", layer, s.usage, usages[layer])
					}
				}
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

// clashes tells whether a command would touch layers twice, which Submit refuses.
func clashes(spans []span, s span) bool {
	for _, o := range spans {
		if o.resource == s.resource && o.lo < s.hi && s.lo < o.hi && s.usage != 0 {
			return true
		}
	}
	return false
}

func conflict(a, b []span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.resource == y.resource && x.lo < y.hi && y.lo < x.hi && (x.usage != y.usage ||
				(x.access != Read || y.access != Read) && !(x.access == Accumulate && y.access == Accumulate)) {
				return true
			}
		}
	}
	return false
}
