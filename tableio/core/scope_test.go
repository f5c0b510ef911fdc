package core

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestScopeFreesOnFailure(t *testing.T) {
	inner := memory.NewCheckedAllocator(memory.NewGoAllocator())
	s := NewScope(inner)
	a := s.Allocate(100)
	b := s.Reallocate(1000, s.Allocate(10))
	s.Free(s.Allocate(50))
	require.Equal(t, 1100, inner.CurrentAlloc())
	cause := errors.New("cause")
	require.Equal(t, cause, s.Finish(cause))
	require.Zero(t, inner.CurrentAlloc())
	s.Free(a) // late frees of what is gone
	s.Free(b)
	require.Zero(t, inner.CurrentAlloc())
}

func TestScopeKeepsOnSuccess(t *testing.T) {
	inner := memory.NewCheckedAllocator(memory.NewGoAllocator())
	s := NewScope(inner)
	a := s.Allocate(100)
	require.NoError(t, s.Finish(nil))
	require.Equal(t, 100, inner.CurrentAlloc())
	s.Free(a)
	inner.AssertSize(t, 0)
}

func TestScopeRefusesTheImpossible(t *testing.T) {
	for _, size := range []int{-1, 1 << 60} {
		s := NewScope(nil)
		err := s.Finish(Guard(func() error { s.Allocate(size); return nil }))
		require.ErrorContains(t, err, "more than the machine's memory")
	}
}

// An error that says that memory was to be allocated says it once.
func TestAllocErrorText(t *testing.T) {
	full := &backend.OpError{Op: "allocate", Err: backend.ErrHostMemory}
	require.EqualError(t, &AllocError{full}, "allocate: out of host memory")
	require.EqualError(t, &AllocError{fmt.Errorf("of a batch: %w", full)}, "of a batch: allocate: out of host memory")
	require.EqualError(t, &AllocError{"makeslice: len out of range"}, "allocate memory: makeslice: len out of range")
}
