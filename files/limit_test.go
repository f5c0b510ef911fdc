package files

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/stretchr/testify/require"
)

func TestCappedAllocator(t *testing.T) {
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer checked.AssertSize(t, 0)
	require.Equal(t, memory.Allocator(checked), (*Limit)(nil).of(checked), "no limit, nothing between")
	limit := &Limit{TableBytes: 1000}
	a, other := limit.of(checked), limit.of(checked)
	refuses := func(allocate func()) {
		t.Helper()
		defer func() {
			err, _ := recover().(error)
			require.ErrorIs(t, err, backend.ErrHostMemory)
			require.ErrorContains(t, err, "1000 bytes")
		}()
		allocate()
	}
	b := a.Allocate(600)
	refuses(func() { a.Allocate(401) })
	c := other.Allocate(400)
	refuses(func() { a.Allocate(1) })
	refuses(func() { a.Reallocate(601, b) })
	b = a.Reallocate(500, b)
	c = a.Reallocate(500, c)
	a.Free(b)
	b = a.Allocate(500)
	a.Free(b)
	a.Free(c)
}
