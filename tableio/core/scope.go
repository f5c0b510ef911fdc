package core

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
)

// Scope is an allocator for the length of one read: it remembers what is
// allocated, so that a decoder that gives up half-way, by error or by panic,
// leaves nothing behind in an allocator that may hand out pinned memory.
// After a success, what was allocated belongs to the result and Scope only forwards;
// after a failure, everything is freed and late frees are ignored. A read in batches
// hands over the memory of each batch, and drops the rest at its end.
//
// It also refuses a single allocation above limitBytes: corrupt lengths would
// otherwise end the process, because Go cannot recover from memory exhaustion.
type Scope struct {
	inner      memory.Allocator
	limitBytes int64

	mu    sync.Mutex
	state scopeState
	live  map[*byte][]byte
	left  map[*byte]bool // freed by drop: late frees are ignored
	err   error          // the first refusal or failure of inner
}

type scopeState uint8

const (
	tracking scopeState = iota
	kept
	released
)

// AllocError is a failure of the caller's allocator, not of the input.
type AllocError struct{ cause any }

// Error says what the allocator reported.
func (e *AllocError) Error() string {
	if err := e.Unwrap(); errors.As(err, new(*backend.OpError)) { // which says it
		return err.Error()
	}
	return fmt.Sprintf("allocate memory: %v", e.cause)
}

// Unwrap returns the allocator's error, or nil if it panicked with another value.
func (e *AllocError) Unwrap() error {
	err, _ := e.cause.(error)
	return err
}

// NewScope makes a scope of memory that inner allocates; nil = Go allocator.
func NewScope(inner memory.Allocator) *Scope {
	if inner == nil {
		inner = memory.NewGoAllocator()
	}
	return &Scope{inner: inner, limitBytes: PhysicalMemoryBytes(), live: map[*byte][]byte{}}
}

// Allocate implements [memory.Allocator].
func (s *Scope) Allocate(size int) []byte {
	s.check(size)
	defer s.note()
	b := s.inner.Allocate(size)
	s.track(b)
	return b
}

// Reallocate implements [memory.Allocator].
func (s *Scope) Reallocate(size int, b []byte) []byte {
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

// Free implements [memory.Allocator].
func (s *Scope) Free(b []byte) {
	s.mu.Lock()
	ignored := s.state == released || s.left[unsafe.SliceData(b)]
	delete(s.live, unsafe.SliceData(b))
	s.mu.Unlock()
	if !ignored {
		s.inner.Free(b)
	}
}

func (s *Scope) track(b []byte) {
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
func (s *Scope) check(size int) {
	if size < 0 || int64(size) > s.limitBytes {
		err := fmt.Errorf("a buffer of %d bytes is asked for, more than the machine's memory of %d bytes", size,
			s.limitBytes)
		s.mu.Lock()
		if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
		panic(err)
	}
}

// note remembers a panic of the caller's allocator and lets it go on.
func (s *Scope) note() {
	if p := recover(); p != nil {
		err := &AllocError{cause: p}
		s.mu.Lock()
		if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
		panic(err)
	}
}

// Hand hands the memory of a batch over to its receiver.
func (s *Scope) Hand(batch arrow.RecordBatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, column := range batch.Columns() {
		s.handData(column.Data())
	}
}

func (s *Scope) handData(data arrow.ArrayData) {
	for _, b := range data.Buffers() {
		if b != nil && b.Len() > 0 {
			s.handBlock(b.Bytes())
		}
	}
	for _, child := range data.Children() {
		s.handData(child)
	}
	if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
		s.handData(dictionary)
	}
}

// handBlock hands over the block that has these bytes: an allocated one, or a message with several buffers.
func (s *Scope) handBlock(b []byte) {
	first := unsafe.SliceData(b)
	if _, whole := s.live[first]; whole {
		delete(s.live, first)
		return
	}
	at := uintptr(unsafe.Pointer(first))
	for block, bytes := range s.live {
		if from := uintptr(unsafe.Pointer(block)); from <= at && at < from+uintptr(cap(bytes)) {
			delete(s.live, block)
			return
		}
	}
}

// Drop ends a read in batches: it frees what a decoder that gave up has left.
func (s *Scope) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.left = kept, make(map[*byte]bool)
	for block, b := range s.live {
		s.left[block] = true
		s.inner.Free(b)
	}
	s.live = nil
}

// Finish ends the scope: on success the memory is kept, on failure freed. It
// returns the error to report: the allocator's, where that came first.
func (s *Scope) Finish(err error) error {
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
