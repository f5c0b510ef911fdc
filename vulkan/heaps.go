package vulkan

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// Properties of a memory type.
const (
	memoryLocal    = 0x1
	memoryVisible  = 0x2
	memoryCoherent = 0x4
	memoryCached   = 0x8
	memoryUnfit    = 0x10 | 0x20 | 0x40 | 0x80 // lazily allocated, protected, device coherent (slow)
	heapLocal      = 0x1
)

// memoryType is a memory type of a device.
type memoryType struct {
	flags     uint32
	heapBytes uint64
	heapLocal bool
}

const mappedWell = memoryVisible | memoryCoherent | memoryCached

// readMemory fills in heaps, budgets and memory types.
func (p *physical) readMemory(more *C.sj_physical) {
	software := p.info.Type == backend.Software
	for i := range more.heap_count {
		heap := backend.Heap{SizeBytes: uint64(more.heap_bytes[i]), BudgetBytes: uint64(more.heap_budget_bytes[i]), DeviceLocal: more.heap_flags[i]&heapLocal != 0}
		if software && p.has&C.SJ_HAS_BUDGET == 0 {
			heap = softwareHeap(heap)
		}
		p.info.Heaps = append(p.info.Heaps, heap)
	}
	for i := range more.type_count {
		flags, heap := uint32(more.type_flags[i]), p.info.Heaps[more.type_heap[i]]
		p.typeHeaps = append(p.typeHeaps, uint32(more.type_heap[i]))
		p.types = append(p.types, memoryType{flags, heap.SizeBytes, heap.DeviceLocal})
		if flags&(memoryLocal|mappedWell) == memoryLocal|mappedWell && (software || p.info.Type == backend.Integrated) {
			p.info.Unified = true
		}
	}
}

// softwareHeap describes the heap of a driver that runs on the host's cores and does not know its budget. The size that
// such drivers report is a constant of theirs; the memory is the host's, of which half of what is free may be used.
func softwareHeap(reported backend.Heap) backend.Heap {
	total, available := hostMemory()
	if available == 0 {
		return reported
	}
	return backend.Heap{SizeBytes: max(total, reported.SizeBytes), BudgetBytes: available / 2, DeviceLocal: reported.DeviceLocal}
}

// hostMemory returns the host's memory in bytes and how much of it this process could get; 0, 0 if the system does not
// say.
func hostMemory() (total, available uint64) {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // "MemTotal:  16384256 kB"
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseUint(fields[1], 10, 64)
		switch fields[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			available = kib << 10
		}
	}
	if limit, used := readNumber("/sys/fs/cgroup/memory.max"), readNumber("/sys/fs/cgroup/memory.current"); limit > 0 {
		total, available = min(total, limit), min(available, limit-min(used, limit))
	}
	return total, available
}

// readNumber reads a file that holds a number; 0 where there is no such file or it holds a word.
func readNumber(path string) uint64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n
}

// chooseType picks the memory type for a kind of memory among those that allowed has a bit for; false where there is
// none.
//
// Device-local memory comes from the largest device-local heap: mapped on unified devices, where that costs nothing,
// and unmapped elsewhere, where the mapped part may be a slow or small window. Host-visible memory is coherent, by
// preference cached (reading write-combined memory is a hundred times slower) and outside the device. Imported memory
// is what the driver allows for the pointer.
func chooseType(types []memoryType, allowed uint32, memory backend.Memory, unified bool) (index uint32, ok bool) {
	best := -1
	for i, t := range types {
		if allowed>>i&1 == 0 || t.flags&memoryUnfit != 0 {
			continue
		}
		score := 0
		prefer := func(wanted bool, weight int) {
			if wanted {
				score += weight
			}
		}
		switch memory {
		case backend.DeviceLocal:
			if t.flags&memoryLocal == 0 || unified && t.flags&mappedWell != mappedWell {
				continue
			}
			prefer(unified || t.flags&memoryVisible == 0, 4)
			prefer(t.heapBytes == largestLocal(types), 8)
		case backend.HostVisible:
			if t.flags&(memoryVisible|memoryCoherent) != memoryVisible|memoryCoherent {
				continue
			}
			prefer(t.flags&memoryCached != 0, 8)
			prefer(!t.heapLocal, 4)
		case backend.Imported:
			prefer(t.flags&memoryCached != 0, 8)
			prefer(t.flags&memoryCoherent != 0, 4)
		}
		if best < score { // of equals the first, which drivers list in order of speed
			best, index, ok = score, uint32(i), true
		}
	}
	return index, ok
}

func largestLocal(types []memoryType) (bytes uint64) {
	for _, t := range types {
		if t.heapLocal && t.flags&memoryLocal != 0 {
			bytes = max(bytes, t.heapBytes)
		}
	}
	return bytes
}
