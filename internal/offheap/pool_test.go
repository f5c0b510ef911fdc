package offheap

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stride is the distance in bytes of the marks in a block: every granule has some.
const stride = 1021

// TestBlocksAreApart: blocks never overlap, in any order of allocations, resizes and frees.
func TestBlocksAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pool
		type block struct {
			bytes []byte
			mark  byte
		}
		var live []block
		fill := func(b []byte, mark byte) {
			for i := 0; i < len(b); i += stride {
				b[i] = mark
			}
		}
		size := rapid.OneOf(rapid.IntRange(0, 3*granuleBytes), rapid.SampledFrom([]int{granuleBytes - 1, granuleBytes,
			64 * granuleBytes, 65*granuleBytes + 1, 128 * granuleBytes, slabBytes / 2}))
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch {
			case len(live) == 0 || rapid.Bool().Draw(t, "allocate"):
				b := p.Allocate(size.Draw(t, "size"))
				require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%alignBytes)
				fill(b, byte(step))
				live = append(live, block{b, byte(step)})
			default:
				i := rapid.IntRange(0, len(live)-1).Draw(t, "block")
				if kept := min(size.Draw(t, "size"), len(live[i].bytes)); rapid.Bool().Draw(t, "resize") {
					live[i].bytes = p.Reallocate(size.Draw(t, "new size"), live[i].bytes)
					for at := 0; at < min(kept, len(live[i].bytes)); at += stride {
						require.Equal(t, live[i].mark, live[i].bytes[at], "what was kept by the resize")
					}
					fill(live[i].bytes, live[i].mark)
					continue
				}
				p.Free(live[i].bytes)
				live = append(live[:i], live[i+1:]...)
			}
		}
		sum := 0
		for _, b := range live {
			for at := 0; at < len(b.bytes); at += stride {
				require.Equal(t, b.mark, b.bytes[at], "another block lies in this one")
			}
			if cap(b.bytes) >= granuleBytes {
				sum += cap(b.bytes)
			}
		}
		used, _ := p.Use()
		require.Equal(t, sum, used)
		for _, b := range live {
			p.Free(b.bytes)
		}
		used, idle := p.Use()
		require.Zero(t, used)
		require.LessOrEqual(t, idle, keptBytes)
		require.Equal(t, p.idle, idle)
	})
}

func TestIdleMemoryGoesBack(t *testing.T) {
	var p Pool
	var blocks [][]byte
	for range 8 {
		blocks = append(blocks, p.Allocate(slabBytes))
	}
	_, system := p.Use()
	require.Equal(t, 8*slabBytes, system)
	for _, b := range blocks {
		p.Free(b)
	}
	_, system = p.Use()
	require.Equal(t, keptBytes, system)
	require.EqualValues(t, slabBytes, p.Trim(2*slabBytes-1))
	used := p.Allocate(granuleBytes)
	require.Zero(t, p.Trim(0), "the other slab has a block")
	_, system = p.Use()
	require.Equal(t, slabBytes, system)
	p.Free(used)
	large := p.Allocate(keptBytes + 1)
	p.Free(large)
	_, system = p.Use()
	require.LessOrEqual(t, system, keptBytes)
}

// TestPagesGoBack: free memory beside a block is returned too, and can be used again.
func TestPagesGoBack(t *testing.T) {
	if !discard(nil) {
		t.Skip("pages cannot be returned on this system")
	}
	var p Pool
	kept := [2][]byte{p.Allocate(granuleBytes), nil}
	freed := p.Allocate(8 << 20)
	kept[1] = p.Allocate(granuleBytes)
	for _, b := range [][]byte{kept[0], freed, kept[1]} {
		for i := range b {
			b[i] = 7
		}
	}
	idle := p.Trim(1 << 40)
	require.Less(t, idle, uint64(8<<20))
	p.Free(freed)
	require.EqualValues(t, idle+8<<20, p.Trim(1<<40))
	require.Zero(t, p.Trim(0))
	again := p.Allocate(8 << 20)
	require.Equal(t, unsafe.SliceData(freed), unsafe.SliceData(again))
	require.Zero(t, again[5<<20], "the pages are new")
	require.EqualValues(t, 7, kept[0][granuleBytes-1])
	require.EqualValues(t, 7, kept[1][0])
	require.Zero(t, p.Trim(0))
}

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	var p Pool
	first := p.Allocate(1 << 20)
	at := unsafe.SliceData(first)
	p.Free(first[:10]) // a shorter slice identifies the same block
	require.Equal(t, at, unsafe.SliceData(p.Allocate(1<<20)))
}

func TestConcurrentUse(t *testing.T) {
	var p Pool
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 200 {
				b := p.Allocate((i%7 + 1) * granuleBytes)
				b[0], b[len(b)-1] = byte(w), byte(w)
				if b = p.Reallocate(len(b)*2, b); b[0] != byte(w) {
					panic(fmt.Sprint("lost ", w))
				}
				p.Free(b)
			}
		})
	}
	workers.Wait()
	used, _ := p.Use()
	require.Zero(t, used)
}
