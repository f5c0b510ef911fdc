package tableio

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
)

// scope is an allocator for the length of one read: it remembers what is
// allocated, so that a decoder that gives up half-way, by error or by panic,
// leaves nothing behind in an allocator that may hand out pinned memory.
// After keep, what was allocated belongs to the result and scope only forwards;
// after release, everything is freed and late frees are ignored.
//
// It also refuses a single allocation above limitBytes: corrupt lengths would
// otherwise end the process, because Go cannot recover from memory exhaustion.
type scope struct {
	inner      memory.Allocator
	limitBytes int64

	mu    sync.Mutex
	state scopeState
	live  map[*byte][]byte
	err   error // the first refusal or failure of inner
}

type scopeState uint8

const (
	tracking scopeState = iota
	kept
	released
)

// allocError is a failure of the caller's allocator, not of the input.
type allocError struct{ cause any }

func (e *allocError) Error() string {
	if err := e.Unwrap(); errors.As(err, new(*backend.OpError)) { // which says it
		return err.Error()
	}
	return fmt.Sprintf("allocate memory: %v", e.cause)
}

func (e *allocError) Unwrap() error {
	err, _ := e.cause.(error)
	return err
}

func newScope(inner memory.Allocator) *scope {
	if inner == nil {
		inner = memory.NewGoAllocator()
	}
	return &scope{inner: inner, limitBytes: physicalMemoryBytes(), live: map[*byte][]byte{}}
}

func (s *scope) Allocate(size int) []byte {
	s.check(size)
	defer s.note()
	b := s.inner.Allocate(size)
	s.track(b)
	return b
}

func (s *scope) Reallocate(size int, b []byte) []byte {
	s.check(size)
	defer s.note()
	old := unsafe.SliceData(b)
	b = s.inner.Reallocate(size, b)
	s.mu.Lock()
	delete(s.live, old)
	s.mu.Unlock()
	s.track(b)
	return b
}

func (s *scope) Free(b []byte) {
	s.mu.Lock()
	state := s.state
	delete(s.live, unsafe.SliceData(b))
	s.mu.Unlock()
	if state != released {
		s.inner.Free(b)
	}
}

func (s *scope) track(b []byte) {
	if cap(b) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == tracking {
		s.live[unsafe.SliceData(b)] = b
	}
}

// check panics, as an allocator must, where a size cannot be meant.
func (s *scope) check(size int) {
	if size < 0 || int64(size) > s.limitBytes {
		err := fmt.Errorf("a buffer of %d bytes is asked for, more than the machine's memory of %d bytes", size, s.limitBytes)
		s.mu.Lock()
		if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
		panic(err)
	}
}

// note remembers a panic of the caller's allocator and lets it go on.
func (s *scope) note() {
	if p := recover(); p != nil {
		err := &allocError{cause: p}
		s.mu.Lock()
		if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
		panic(err)
	}
}

// keep makes a scope that only refuses and forwards, for a reader that frees what it gives up by itself.
func (s *scope) keep() *scope {
	s.state, s.live = kept, nil
	return s
}

// finish ends the scope: on success the memory is kept, on failure freed. It
// returns the error to report: the allocator's, where that came first.
func (s *scope) finish(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.state, s.live = kept, nil
		return nil
	}
	s.state = released
	for _, b := range s.live {
		s.inner.Free(b)
	}
	s.live = nil
	if s.err != nil {
		return s.err
	}
	return err
}
