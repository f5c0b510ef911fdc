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

// planQueues chooses a queue for each role; false where nothing computes.
//
// Compute gets a family without graphics where there is one: its work is scheduled beside that of the desktop, and drivers
// are slower to call it hung. Upload and download get a queue each, by preference of a family that does nothing but
// transfers (a copy engine; families that also decode video, say, are not meant for this), then of the compute family, then
// of any other. With queues for only one of them they share it, and with none they share that of compute.
func planQueues(families []family) (plan [backend.Roles]queueSlot, ok bool) {
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
	rank := func(i int) int {
		f := families[i]
		switch {
		case f.flags&queueTransfer != 0 && f.flags&^queueOnlyTransfers == 0:
			return 0
		case i == compute:
			return 1
		case f.flags&(queueCompute|queueGraphics) != 0:
			return 2
		}
		return 3 // video and the like: never
	}
	order := make([]int, len(families))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	var copies []queueSlot
	for _, i := range order {
		first := uint32(0)
		if i == compute {
			first = 1
		}
		for index := first; index < families[i].count && len(copies) < 2 && rank(i) < 3; index++ {
			copies = append(copies, queueSlot{uint32(i), index})
		}
	}
	plan[backend.Compute] = queueSlot{uint32(compute), 0}
	if len(copies) == 0 {
		copies = append(copies, plan[backend.Compute])
	}
	plan[backend.Upload] = copies[0]
	plan[backend.Download] = copies[len(copies)-1]
	return plan, true
}

// usedFamilies lists the families of queues, sorted, with the number of queues to make in each.
func usedFamilies(slots ...queueSlot) (used []queueSlot) {
	for _, s := range slots {
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
