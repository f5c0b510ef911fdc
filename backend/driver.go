package backend

import (
	"context"
	"time"
)

// Backend lists and opens the devices of one API. Safe for concurrent use.
type Backend interface {
	Name() string
	// Devices lists every device. Those that cannot be used have the reason in Unusable.
	Devices() ([]DeviceInfo, error)
	// Open opens a device by its ID. The same physical device may be opened several times; each Driver is a separate
	// logical device.
	Open(id string) (Driver, error)
	// Close releases the API. Every Driver must have been closed.
	Close() error
}

// Memory is the kind of a block of memory.
type Memory uint8

const (
	DeviceLocal Memory = iota // fastest for kernels; mapped only on devices with unified memory
	HostVisible               // mapped, coherent and cached: staging in both directions
	Imported                  // host memory of the caller, made visible to the device
)

func (m Memory) String() string { return [...]string{"device-local", "host-visible", "imported"}[m] }

// Block is one allocation of a driver. The pointer to it is its identity for hazard tracking.
type Block interface {
	SizeBytes() uint64
	Memory() Memory
	Bytes() []byte // the mapped block; nil if it is not mapped
	Free() error   // the caller guarantees that no batch still uses it
}

// Role names an in-order queue of a device. Roles may share a queue, but each has its own timeline. Kernels run on
// Compute, Ingest and Deliver, and on Graphics if [DeviceInfo.Queues] says so; copies and fills run on all.
type Role uint8

const (
	Compute  Role = iota
	Ingest        // kernels that read host memory, beside Compute
	Deliver       // kernels that write host memory, beside Compute
	Upload        // copies to the device
	Download      // copies from the device
	Graphics      // passes of the graphics pipeline; the only role that a device may lack
	Roles         // number of roles
)

func (r Role) String() string {
	return [...]string{"compute", "ingest", "deliver", "upload", "download", "graphics"}[r]
}

// QueuePoint is a position on the timeline of a queue of one driver: it has passed when everything submitted to that
// queue up to and including the batch that signals Value has finished. The zero QueuePoint has always passed.
type QueuePoint struct {
	Role  Role
	Value uint64
}

// Program is a kernel compiled by a driver for one configuration.
type Program interface{}

// Batch is the content of one submission to a driver. The driver waits for Waits, runs the steps in order, makes all
// writes visible to the host and to every later batch, and signals Signal.
type Batch struct {
	Role   Role
	Waits  []QueuePoint // on other queues of this device; all submitted before
	Steps  []Step
	Signal uint64 // value on the timeline of Role; one more than the batch before
	// Semaphores of this driver's [PeerExchange], waited for with Waits and set with Signal.
	Awaits, Raises []SemaphoreValue
}

// Step is a command. If Barrier is set, it may start only after everything before it in the queue; otherwise it may
// overlap its predecessors, or run before them.
type Step struct {
	Command
	Barrier bool
	Changes []UsageChange // that the driver makes before the command, after the barrier and the waits of the batch
}

// Driver is an open logical device as an API presents it: the layer below [Device]. Submissions to one role come from
// one goroutine at a time; everything else may be called concurrently. Errors wrap the sentinels of this package.
type Driver interface {
	Info() *DeviceInfo
	// AllocateBlock allocates at least sizeBytes, aligned to 256 bytes. The content is undefined. Errors:
	// ErrDeviceMemory or ErrHostMemory if there is no memory; either of these or ErrLimit beyond Limits.BlockBytes.
	AllocateBlock(sizeBytes uint64, memory Memory) (Block, error)
	// ImportHost makes caller-owned memory visible to the device without a copy. Address and size must be multiples of
	// Limits.ImportAlignment; the memory must stay valid and in place until Free.
	ImportHost(memory []byte) (Block, error)
	// Compile prepares a kernel for a configuration that holds a value for each of its axes and constants.
	Compile(spec *KernelSpec, config Config) (Program, error)
	// Submit starts a batch and returns without waiting for it.
	Submit(batch *Batch) error
	// Wait returns nil once the timeline of role has reached value, ErrTimedOut after the limit, ErrDeviceLost if it
	// never will, and ErrCancelled within about 10 ms after ctx ends.
	Wait(ctx context.Context, role Role, value uint64, limit time.Duration) error
	// Completed returns the value that the timeline of role has reached.
	Completed(role Role) (uint64, error)
	// Times returns the device time of a completed batch: of its start, at each of its Mark commands, and of its end,
	// as durations since an epoch of the device. Call it once per batch. ok is false if the device has no timestamps
	// for it.
	Times(role Role, value uint64) (times []time.Duration, ok bool)
	// Close waits for submitted work, up to a limit, and releases the device. It returns an error if blocks were not
	// freed.
	Close() error
}
