package vulkan

import (
	"slices"

	"github.com/spirjoin/spirjoin/backend"
)

// Queue flags.
const (
	queueGraphics      = 0x1
	queueCompute       = 0x2
	queueTransfer      = 0x4
	queueSparse        = 0x8
	queueProtected     = 0x10
	queueOnlyTransfers = queueTransfer | queueSparse | queueProtected
)

// family is a queue family of a device.
type family struct{ flags, count, timestampBits uint32 }

// transfers: graphics and compute queues copy whether they say so or not.
func (f family) transfers() bool { return f.flags&(queueTransfer|queueCompute|queueGraphics) != 0 }

// queueSlot is a queue of a device.
type queueSlot struct{ family, index uint32 }

// absent is the slot of a role that a device lacks.
var absent = queueSlot{^uint32(0), 0}

// planQueues chooses a queue for each role; false where nothing computes.
//
// Compute gets a family without graphics where there is one: its work is scheduled beside the desktop's, and drivers
// wait longer before they call it hung. Upload and download get a queue each, by preference of a family that does
// nothing but transfers (a copy engine; families that also decode video, say, are not meant for this), then of the
// compute family, then of any other. With a queue for only one of them they share it, and with none they share the
// compute queue. Ingest and deliver get what is left of the compute family, then of other families that compute, in the
// same way. Graphics, if it is asked for, gets a queue of its own where its families have one left, else the first one
// of theirs; it is absent where there is none. No other role takes a queue of a graphics family beside a compute family
// without, because a device with one may have less shared memory for kernels.
func planQueues(families []family, graphics bool) (plan [backend.Roles]queueSlot, ok bool) {
	compute := -1
	for i, f := range families {
		if f.flags&queueCompute == 0 || f.count == 0 {
			continue
		}
		if compute < 0 || f.flags&queueGraphics == 0 && families[compute].flags&queueGraphics != 0 {
			compute = i
		}
	}
	if compute < 0 {
		return plan, false
	}
	drags := func(i int) bool {
		return families[i].flags&queueGraphics != 0 && families[compute].flags&queueGraphics == 0
	}
	taken := make([]uint32, len(families)) // queues of each family
	taken[compute] = 1
	plan[backend.Compute] = queueSlot{uint32(compute), 0}
	pair := func(first, second backend.Role, rank func(i int) int) {
		slots := freeQueues(families, taken, 2, rank)
		if len(slots) == 0 {
			slots = append(slots, plan[backend.Compute])
		}
		plan[first], plan[second] = slots[0], slots[len(slots)-1]
	}
	pair(backend.Upload, backend.Download, func(i int) int {
		f := families[i]
		switch {
		case f.flags&queueTransfer != 0 && f.flags&^queueOnlyTransfers == 0:
			return 0
		case i == compute:
			return 1
		case f.flags&(queueCompute|queueGraphics) != 0 && !drags(i):
			return 2
		}
		return never // video and the like
	})
	pair(backend.Ingest, backend.Deliver, func(i int) int {
		switch {
		case i == compute:
			return 0
		case families[i].flags&queueCompute != 0 && !drags(i):
			return 1
		}
		return never
	})
	plan[backend.Graphics] = absent
	if !graphics {
		return plan, true
	}
	draws := func(i int) int {
		if families[i].flags&queueGraphics != 0 {
			return 0
		}
		return never
	}
	if slots := freeQueues(families, taken, 1, draws); len(slots) > 0 {
		plan[backend.Graphics] = slots[0]
	} else if i := slices.IndexFunc(families, func(f family) bool {
		return f.flags&queueGraphics != 0 && f.count > 0
	}); i >= 0 {
		plan[backend.Graphics] = queueSlot{uint32(i), 0}
	}
	return plan, true
}

// never is the rank of a family that a role does not use.
const never = 1 << 10

// freeQueues takes at most n queues that are not taken, of families in the order of their ranks.
func freeQueues(families []family, taken []uint32, n int, rank func(i int) int) (slots []queueSlot) {
	order := make([]int, len(families))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	for _, i := range order {
		for ; rank(i) < never && taken[i] < families[i].count && len(slots) < n; taken[i]++ {
			slots = append(slots, queueSlot{uint32(i), taken[i]})
		}
	}
	return slots
}

// usedFamilies lists the families of queues, sorted, with the number of queues to make in each; absent ones have none.
func usedFamilies(slots ...queueSlot) (used []queueSlot) {
	for _, s := range slots {
		if s == absent {
			continue
		}
		i := slices.IndexFunc(used, func(u queueSlot) bool { return u.family == s.family })
		if i < 0 {
			used = append(used, queueSlot{s.family, 0})
			i = len(used) - 1
		}
		used[i].index = max(used[i].index, s.index+1)
	}
	slices.SortFunc(used, func(a, b queueSlot) int { return int(a.family) - int(b.family) })
	return used
}
