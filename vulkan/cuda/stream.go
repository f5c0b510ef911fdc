package cuda

import "unsafe"

/*
#include "shim.h"
*/
import "C"

// Stream is an in-order queue of a GPU.
type Stream struct {
	gpu    *GPU
	handle unsafe.Pointer
}

func (g *GPU) NewStream() (*Stream, error) {
	s := &Stream{gpu: g}
	return made(s, C.sjc_stream(g.context, &s.handle), "make a CUDA stream")
}

// Close releases the stream; its work goes on.
func (s *Stream) Close() { C.sjc_destroy_stream(s.gpu.context, s.handle) }

// Copy starts to copy sizeBytes from an offset of a memory to one of another.
func (s *Stream) Copy(dst *Memory, dstOffset uint64, src *Memory, srcOffset, sizeBytes uint64) error {
	return lost(C.sjc_copy(s.gpu.context, s.handle, dst.at(dstOffset), dst.gpu.context, src.at(srcOffset),
		src.gpu.context, C.uint64_t(sizeBytes)), "copy between CUDA devices")
}

// After makes the stream wait for an event, also of another GPU.
func (s *Stream) After(e *Event) error {
	return lost(C.sjc_stream_after(s.gpu.context, s.handle, e.handle), "order CUDA streams")
}

// Await makes the stream wait until a semaphore of its GPU has a value.
func (s *Stream) Await(t *Timeline, value uint64) error {
	return lost(C.sjc_await(s.gpu.context, s.handle, t.handle, C.uint64_t(value)), "wait for a semaphore")
}

// Raise sets a semaphore of the GPU of the stream to a value.
func (s *Stream) Raise(t *Timeline, value uint64) error {
	return lost(C.sjc_raise(s.gpu.context, s.handle, t.handle, C.uint64_t(value)), "set a semaphore")
}

// Event is a position in a stream of its GPU.
type Event struct {
	gpu    *GPU
	handle unsafe.Pointer
}

// NewEvent returns an event that has passed.
func (g *GPU) NewEvent() (*Event, error) {
	e := &Event{gpu: g}
	return made(e, C.sjc_event(g.context, &e.handle), "make a CUDA event")
}

func (e *Event) Close() { C.sjc_destroy_event(e.gpu.context, e.handle) }

// Record moves the event to the end of a stream.
func (e *Event) Record(s *Stream) error {
	return lost(C.sjc_record(e.gpu.context, e.handle, s.handle), "record a CUDA event")
}

// Passed reports whether everything before the event is done. ErrDeviceLost if it failed.
func (e *Event) Passed() (bool, error) {
	r := C.sjc_query(e.gpu.context, e.handle)
	if r == C.SJC_NOT_READY {
		return false, nil
	}
	return true, lost(r, "copy between CUDA devices")
}

// Timeline is a timeline semaphore of the Vulkan device of a GPU.
type Timeline struct {
	gpu    *GPU
	handle unsafe.Pointer
}

// ImportTimeline opens a semaphore that was exported as an opaque file descriptor. The descriptor is used up unless
// there is an error.
func (g *GPU) ImportTimeline(fd int) (*Timeline, error) {
	t := &Timeline{gpu: g}
	return made(t, C.sjc_import_timeline(g.context, C.int(fd), &t.handle), "import a semaphore")
}

func (t *Timeline) Close() { C.sjc_destroy_semaphore(t.gpu.context, t.handle) }
