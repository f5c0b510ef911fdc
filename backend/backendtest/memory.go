package backendtest

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

var memoryChecks = []check{
	{"blocks", checkBlocks},
	{"mapped blocks", checkMappedBlocks},
	{"beyond the limit", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		for memory, sentinel := range map[backend.Memory]error{backend.DeviceLocal: backend.ErrDeviceMemory,
			backend.HostVisible: backend.ErrHostMemory} {
			limit := driver.Info().Limits.BlockBytes(memory)
			for _, size := range []uint64{limit + 1, limit + 4096, math.MaxUint64} {
				if size < limit {
					continue // a device without a limit
				}
				_, err := driver.AllocateBlock(size, memory)
				requireOneOf(t, err, sentinel, backend.ErrLimit)
			}
			block, err := driver.AllocateBlock(4096, memory)
			require.NoError(t, err, "the device works on")
			require.NoError(t, block.Free())
		}
	}},
	{"many blocks", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		seen := make(map[*byte]bool)
		var blocks []backend.Block
		for i := range s.pick(300, 50) {
			b, err := driver.AllocateBlock(uint64(1+i*97), backend.Memory(i%2))
			require.NoError(t, err)
			if mapped := b.Bytes(); mapped != nil {
				assert.False(t, seen[&mapped[0]], "two blocks overlap")
				seen[&mapped[0]] = true
			}
			blocks = append(blocks, b)
		}
		for i := range blocks { // not in the order of allocation
			require.NoError(t, blocks[(i*7+3)%len(blocks)].Free(), "block %d", i)
		}
	}},
	{"import", checkImport},
	{"import misaligned", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		alignment := driver.Info().Limits.ImportAlignment
		if alignment < 2 {
			t.Skipf("import alignment %d", alignment)
		}
		memory := alignedMemory(t, 4*alignment, alignment)
		for name, slice := range map[string][]byte{
			"address": memory[1 : 1+2*alignment], "size": memory[:alignment+1], "both": memory[alignment/2 : alignment],
		} {
			_, err := driver.ImportHost(slice)
			require.Error(t, err, name)
			requireOneOf(t, err, backend.ErrInvalidInput, backend.ErrUnsupported)
		}
	}},
	{"import of nothing", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		_, err := driver.ImportHost(nil)
		requireOneOf(t, err, backend.ErrInvalidInput, backend.ErrUnsupported)
	}},
}

func checkBlocks(t *testing.T, s *suite) {
	driver := s.newRig(t).driver
	for _, memory := range []backend.Memory{backend.DeviceLocal, backend.HostVisible} {
		for _, size := range []uint64{1, 255, 256, 4 << 10, 64 << 20} {
			t.Run(fmt.Sprintf("memory=%v sizeBytes=%d", memory, size), func(t *testing.T) {
				b, err := driver.AllocateBlock(size, memory)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, b.SizeBytes(), size)
				assert.Equal(t, memory, b.Memory())
				if mapped := b.Bytes(); mapped != nil {
					assert.Len(t, mapped, int(b.SizeBytes()))
					assert.Zero(t, uintptr(unsafe.Pointer(&mapped[0]))%backend.PlanAlignment, "alignment")
					mapped[0], mapped[len(mapped)-1] = 1, 2
					assert.Equal(t, byte(2), mapped[len(mapped)-1])
				} else {
					assert.Equal(t, backend.DeviceLocal, memory, "host-visible memory is mapped")
					assert.False(t, driver.Info().Unified, "device-local memory of a unified device is mapped")
				}
				require.NoError(t, b.Free())
			})
		}
	}
}

// checkMappedBlocks proves that host and device see the same bytes: written by one, read by the other, both ways.
func checkMappedBlocks(t *testing.T, s *suite) {
	r := s.newRig(t)
	for _, memory := range []backend.Memory{backend.HostVisible, backend.DeviceLocal} {
		const words = 3001
		a, b, local := r.buffer(memory, words), r.buffer(memory, words), r.buffer(backend.DeviceLocal, words)
		if a.Bytes() == nil {
			continue
		}
		for round := range uint64(3) {
			data := randomWords(round+1, words)
			copy(backend.Words(a.Bytes()), data)
			r.run(step(copyCommand(local.All(), a.All())), after(copyCommand(b.All(), local.All())))
			require.Equal(t, data, backend.Words(b.Bytes()), "%v, round %d", memory, round)
		}
	}
}

// checkImport copies from and to memory of the caller.
func checkImport(t *testing.T, s *suite) {
	r := s.newRig(t)
	alignment := r.driver.Info().Limits.ImportAlignment
	if alignment == 0 {
		_, err := r.driver.ImportHost(alignedMemory(t, 64<<10, 64<<10))
		requireOneOf(t, err, backend.ErrUnsupported)
		return
	}
	size := (uint64(1<<20) + alignment - 1) / alignment * alignment
	memory := alignedMemory(t, size, alignment)
	words := backend.Words(memory)
	data := randomWords(1, len(words))
	copy(words, data)
	imported, err := r.device.Import(background, memory, "imported")
	require.NoError(t, err)
	r.buffers = append(r.buffers, imported)
	block, _ := imported.All().Block()
	assert.Equal(t, backend.Imported, block.Memory())
	assert.GreaterOrEqual(t, block.SizeBytes(), size)

	local := r.buffer(backend.DeviceLocal, len(words))
	r.run(step(copyCommand(local.All(), imported.All())))
	require.Equal(t, data, r.get(local), "read by the device")

	r.run(step(fillCommand(imported.Range(8, 400), 42)),
		after(copyCommand(imported.Range(4096, 64), local.Range(0, 64))))
	for i := 2; i < 102; i++ {
		data[i] = 42
	}
	copy(data[1024:1040], r.get(local)[:16])
	require.Equal(t, data, words, "written by the device")
}

// alignedMemory returns size bytes that stay in place until the test ends.
func alignedMemory(t *testing.T, size, alignment uint64) []byte {
	memory := make([]byte, size+alignment)
	var pin runtime.Pinner
	pin.Pin(&memory[0])
	t.Cleanup(pin.Unpin)
	skip := -uint64(uintptr(unsafe.Pointer(&memory[0]))) & (alignment - 1)
	return memory[skip : skip+size : skip+size]
}
