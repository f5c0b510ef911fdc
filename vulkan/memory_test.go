package vulkan_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func eachDevice(t *testing.T, run func(t *testing.T, d backend.Driver)) {
	t.Helper()
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) { run(t, vulkantest.OpenDevice(t, info.ID)) })
	}
}

func TestBlocks(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		for _, memory := range []backend.Memory{backend.DeviceLocal, backend.HostVisible} {
			for _, sizeBytes := range []uint64{1, 4, 255, 256, 4097, 1 << 20} {
				b, err := d.AllocateBlock(sizeBytes, memory)
				require.NoError(t, err)
				require.Equal(t, sizeBytes, b.SizeBytes())
				require.Equal(t, memory, b.Memory())
				mapped := memory == backend.HostVisible || d.Info().Unified
				require.Equal(t, mapped, b.Bytes() != nil)
				if mapped {
					require.Len(t, b.Bytes(), int(sizeBytes))
					require.Zero(t, uintptr(unsafe.Pointer(&b.Bytes()[0]))%64)
					for i := range b.Bytes() {
						b.Bytes()[i] = byte(i)
					}
					require.Equal(t, byte(sizeBytes-1), b.Bytes()[sizeBytes-1])
				}
				require.NoError(t, b.Free())
				require.Nil(t, b.Bytes())
				require.ErrorIs(t, b.Free(), backend.ErrInvalidInput)
			}
		}
	})
}

func TestBlockErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		_, err := d.AllocateBlock(0, backend.DeviceLocal)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		_, err = d.AllocateBlock(64, backend.Imported)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		limit := d.Info().Limits.MaxAllocationBytes
		for _, sizeBytes := range []uint64{limit + 1, 1 << 60} {
			_, err = d.AllocateBlock(sizeBytes, backend.HostVisible)
			require.ErrorIs(t, err, backend.ErrLimit)
			require.ErrorContains(t, err, fmt.Sprint(limit))
		}
	})
}

// Memory runs out as an error with the right sentinel; the software drivers hand out address space without end.
func TestOutOfMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		if d.Info().Type == backend.Software {
			t.Skip("software drivers do not count memory")
		}
		size, _ := d.Info().MemoryBytes()
		limit := d.Info().Limits.MaxAllocationBytes / backend.PlanAlignment * backend.PlanAlignment
		var blocks []backend.Block
		var err error
		for range size/limit + 2 {
			var b backend.Block
			if b, err = d.AllocateBlock(limit, backend.DeviceLocal); err != nil {
				break
			}
			blocks = append(blocks, b)
		}
		require.ErrorIs(t, err, backend.ErrDeviceMemory)
		for _, b := range blocks {
			require.NoError(t, b.Free())
		}
		b, err := d.AllocateBlock(limit, backend.DeviceLocal)
		require.NoError(t, err, "memory came back")
		require.NoError(t, b.Free())
	})
}

func TestLeakedBlocks(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		var blocks []backend.Block
		for range 3 {
			b, err := d.AllocateBlock(1000, backend.HostVisible)
			require.NoError(t, err)
			blocks = append(blocks, b)
		}
		require.NoError(t, blocks[1].Free())
		err := d.Close()
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "2 blocks of 2000 bytes")
		require.ErrorIs(t, blocks[0].Free(), backend.ErrInvalidInput)
		require.NoError(t, d.Close(), "closing twice")
	})
}

// aligned returns Go memory at a multiple of alignment.
func aligned(sizeBytes, alignment uint64) []byte {
	b := make([]byte, sizeBytes+alignment)
	skip := -uint64(uintptr(unsafe.Pointer(&b[0]))) % alignment
	return b[skip : skip+sizeBytes : skip+sizeBytes]
}

func TestImport(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		alignment := d.Info().Limits.ImportAlignment
		if alignment == 0 {
			_, err := d.ImportHost(make([]byte, 1<<20))
			require.ErrorIs(t, err, backend.ErrUnsupported)
			t.Skip("cannot import")
		}
		memory := aligned(16*alignment, alignment)
		for _, wrong := range [][]byte{nil, memory[:alignment/2], memory[4:], memory[1 : alignment+1]} {
			_, err := d.ImportHost(wrong)
			require.ErrorIs(t, err, backend.ErrInvalidInput)
		}
		device := backend.NewDevice(d, backend.DeviceOptions{})
		buffer, err := device.Import(context.Background(), memory, "imported")
		require.NoError(t, err)
		require.Same(t, &memory[0], &buffer.Bytes()[0])
		fillWithIota(t, device, buffer, 0)
		for i, word := range backend.Words(memory) {
			require.Equal(t, uint32(i), word)
		}
		buffer.Release()
		require.NoError(t, device.Close())
	})
}

// openFiles counts the file descriptors of the process.
func openFiles(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(files)
}

func TestSharedMemory(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		for _, asDMABuf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s dma-buf=%t", info.Name, asDMABuf), func(t *testing.T) { checkSharedMemory(t, info.ID, asDMABuf) })
		}
	}
}

func checkSharedMemory(t *testing.T, id string, asDMABuf bool) {
	a, b := vulkantest.OpenDevice(t, id), vulkantest.OpenDevice(t, id)
	owner, guest := a.(backend.SharedMemory), b.(backend.SharedMemory)
	before := openFiles(t)
	block, err := owner.AllocateShared(1<<16, asDMABuf)
	if asDMABuf && !vulkan.HasDMABuf(a) {
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, "VK_EXT_external_memory_dma_buf")
		t.Skip("the driver has no dma-bufs")
	}
	require.NoError(t, err)
	require.Equal(t, backend.DeviceLocal, block.Memory())
	same, err := guest.OpenShared(a, block)
	require.NoError(t, err)
	require.Equal(t, uint64(1<<16), same.SizeBytes())
	again, err := owner.OpenShared(a, block)
	require.NoError(t, err, "on the same logical device")
	if same.Bytes() != nil {
		block.Bytes()[777] = 42
		require.Equal(t, byte(42), same.Bytes()[777])
		require.Equal(t, byte(42), again.Bytes()[777])
	}
	plain, err := a.AllocateBlock(1<<16, backend.DeviceLocal)
	require.NoError(t, err)
	_, err = guest.OpenShared(a, plain)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = guest.OpenShared(b, block)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = guest.OpenShared(nil, block)
	require.ErrorIs(t, err, backend.ErrUnsupported)
	require.NoError(t, block.Free())
	_, err = guest.OpenShared(a, block)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	if same.Bytes() != nil { // the memory outlives its first block
		require.Equal(t, byte(42), same.Bytes()[777])
	}
	for _, b := range []backend.Block{same, again, plain} {
		require.NoError(t, b.Free())
	}
	require.Equal(t, before, openFiles(t))
}

// TestRefusedImports: memory that does not fit, or does not come from a Vulkan device, is refused, and its file
// descriptor closed. Some drivers close those that they refuse, although they should not.
func TestRefusedImports(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		for _, asDMABuf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s dma-buf=%t", info.Name, asDMABuf), func(t *testing.T) {
				d := vulkantest.OpenDevice(t, info.ID)
				const sizeBytes = 1 << 16
				block, err := d.(backend.SharedMemory).AllocateShared(sizeBytes, asDMABuf)
				if err != nil {
					t.Skip(err)
				}
				before := openFiles(t)
				require.ErrorIs(t, vulkan.OpenFD(d, openNull(t), block, 2*sizeBytes), backend.ErrUnsupported)
				require.Equal(t, before, openFiles(t))
				require.Error(t, vulkan.OpenFD(d, openNull(t), block, sizeBytes))
				require.Equal(t, before, openFiles(t))
				require.NoError(t, block.Free())
			})
		}
	}
}

func openNull(t *testing.T) int {
	fd, err := syscall.Open(os.DevNull, syscall.O_RDWR, 0)
	require.NoError(t, err)
	return fd
}
