package backend

import (
	"context"
	"time"
)

// SharedMemory is implemented by drivers that can open one allocation on two logical devices.
type SharedMemory interface {
	// AllocateShared allocates device-local memory that can be exported, as a dma-buf or to logical devices of the same
	// physical device only. ErrUnsupported where the driver cannot.
	AllocateShared(sizeBytes uint64, asDMABuf bool) (Block, error)
	// OpenShared maps a block of another driver, so that both see the same bytes. Unless it is a dma-buf, it must lie on
	// the same physical device.
	OpenShared(owner Driver, block Block) (Block, error)
}

// PeerExchange is implemented by drivers whose devices another driver of the same vendor can copy between, as the CUDA
// driver does between NVIDIA GPUs.
type PeerExchange interface {
	// OpenExchange makes pairs of device-local blocks of sizeBytes, each on its own device, from this driver to
	// another. ErrUnsupported if the two devices are not connected in this way.
	OpenExchange(to Driver, pairs int, sizeBytes uint64) (Exchange, error)
}

// Exchange is pairs of blocks, near and far, and a driver that copies from one to the other. It is used by one
// goroutine at a time.
type Exchange interface {
	// Pair returns the blocks of a pair. They are freed by the caller, after Close.
	Pair(pair int) (near, far Block)
	// Copy starts to copy the first sizeBytes of a pair, a multiple of 4. If the exchange has semaphores, the copy
	// waits for Ready to reach value, and Arrived is then set to value, which is larger than in the call before.
	Copy(pair int, sizeBytes, value uint64) error
	// Wait returns when the last copy of a pair is complete; ErrTimedOut after the limit, ErrCancelled if ctx ends.
	Wait(ctx context.Context, pair int, limit time.Duration) error
	// Semaphores orders copies with the queues of the devices; ok is false if the host has to. Ready is raised by
	// batches of the near device, Arrived is awaited by batches of the far one.
	Semaphores() (ready, arrived Semaphore, ok bool)
	// Abandon is called after a failure of a device: if copies do not end, it sets Arrived to value, the last one, so
	// that no queue waits for them. Queues may still use the semaphores after Close.
	Abandon(value uint64) error
	// Close waits for copies in progress and releases what is not a block. ErrTimedOut if they do not end; the blocks
	// must then not be freed.
	Close() error
}

// Semaphore is a semaphore of a driver with a value that only grows.
type Semaphore interface{}

// SemaphoreValue is a value of a semaphore that a batch waits for or sets.
type SemaphoreValue struct {
	Semaphore Semaphore
	Value     uint64
}

// PeerMemory is implemented by drivers whose device-local memory another driver can copy directly between devices, if
// it is allocated for that.
type PeerMemory interface {
	// JoinPeers makes device-local blocks that are allocated from now on such that a [DirectExchange] with these
	// drivers reaches them, as far as that is possible. Other blocks are allocated as before. ErrUnsupported where it
	// is never possible.
	JoinPeers(peers []Driver) error
}

// DirectExchange is an Exchange that also copies between blocks of joined devices, past its pairs.
type DirectExchange interface {
	Exchange
	// Reaches reports whether CopyDirect can copy from a block of the near device to one of the far device.
	Reaches(dst, src Block) bool
	// CopyDirect starts to copy sizeBytes, a multiple of 4, between offsets of blocks. No queue may be using these
	// ranges in another way until Wait for the pair, whose blocks are not touched, returns nil.
	CopyDirect(pair int, dst Block, dstOffset uint64, src Block, srcOffset, sizeBytes uint64) error
}
