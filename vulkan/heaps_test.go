package vulkan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestChooseType(t *testing.T) {
	const (
		all   = ^uint32(0)
		local = memoryLocal
		write = memoryVisible | memoryCoherent
		read  = memoryVisible | memoryCoherent | memoryCached
	)
	discrete := []memoryType{
		{0, 64 << 30, false}, {local, 140 << 30, true}, {write, 64 << 30, false}, {read, 64 << 30, false}, {local | write, 256 << 20, true},
	}
	resizable := []memoryType{{local, 24 << 30, true}, {local | write, 24 << 30, true}, {write, 32 << 30, false}, {read, 32 << 30, false}}
	unified := []memoryType{{local, 16 << 30, true}, {local | write, 16 << 30, true}, {local | read, 16 << 30, true}}
	software := []memoryType{{local | read, 8 << 30, true}}
	uncached := []memoryType{{local, 8 << 30, true}, {local | write, 8 << 30, true}}
	slow := []memoryType{{local | memoryUnfit, 8 << 30, true}, {local, 8 << 30, true}, {read | 0x40, 8 << 30, false}, {read, 8 << 30, false}}
	for _, c := range []struct {
		name    string
		types   []memoryType
		allowed uint32
		memory  backend.Memory
		unified bool
		want    int // -1: none
	}{
		{"discrete", discrete, all, backend.DeviceLocal, false, 1},
		{"discrete staging", discrete, all, backend.HostVisible, false, 3},
		{"discrete staging, not cached", discrete, 0b10111, backend.HostVisible, false, 2},
		{"discrete import", discrete, 0b01100, backend.Imported, false, 3},
		{"only the window", discrete, 0b10000, backend.DeviceLocal, false, 4},
		{"resizable", resizable, all, backend.DeviceLocal, false, 0},
		{"resizable staging", resizable, all, backend.HostVisible, false, 3},
		{"unified", unified, all, backend.DeviceLocal, true, 2},
		{"unified staging", unified, all, backend.HostVisible, true, 2},
		{"software", software, all, backend.DeviceLocal, true, 0},
		{"software import", software, all, backend.Imported, true, 0},
		{"uncached staging", uncached, all, backend.HostVisible, false, 1},
		{"unfit", slow, all, backend.DeviceLocal, false, 1},
		{"unfit staging", slow, all, backend.HostVisible, false, 3},
		{"nothing allowed", discrete, 0, backend.DeviceLocal, false, -1},
		{"nothing mapped", discrete[:2], all, backend.HostVisible, false, -1},
	} {
		index, ok := chooseType(c.types, c.allowed, c.memory, c.unified)
		require.Equal(t, c.want >= 0, ok, c.name)
		if ok {
			require.Equal(t, uint32(c.want), index, c.name)
		}
	}
}

func TestHostMemory(t *testing.T) {
	total, available := hostMemory()
	require.Greater(t, total, uint64(64<<20))
	require.LessOrEqual(t, available, total)
	heap := softwareHeap(backend.Heap{SizeBytes: 1, DeviceLocal: true})
	require.True(t, heap.DeviceLocal)
	require.Positive(t, heap.BudgetBytes)
	require.Less(t, heap.BudgetBytes, heap.SizeBytes)

	path := filepath.Join(t.TempDir(), "memory.max")
	for content, want := range map[string]uint64{"123\n": 123, "max\n": 0, "": 0} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.Equal(t, want, readNumber(path), content)
	}
	require.Zero(t, readNumber(path+".missing"))
}
