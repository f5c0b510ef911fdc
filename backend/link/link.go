// Package link makes links between devices: it finds the best path between two devices, proves it with a pattern, and
// copies over it chunk by chunk. docs/architecture.md describes the paths.
package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// Path is the way that bytes take from one device to another: first those that [Connect] tries by itself, best
// first, then those that it takes only where they are forced.
type Path uint8

const (
	SameDevice       Path = iota // both ends are one Device
	SharedAllocation             // one allocation opened on two logical devices of the same physical device
	DriverCopy                   // exchange memory of both devices, copied by another driver; see [backend.PeerExchange]
	ImportedHost                 // host memory that both devices have imported: the host copies nothing
	HostStaged                   // host memory of each device; the host copies from one to the other
	DMABuf                       // one allocation, exported as a dma-buf and opened on both; see openShared
	Paths                        // number of paths
)

var pathNames = [Paths]string{"same device", "shared allocation", "driver copy", "imported host", "host staged",
	"dma-buf"}

func (p Path) String() string { return pathNames[p] }

// ByDefault reports whether Connect tries a path that is not forced.
func (p Path) ByDefault() bool { return p <= HostStaged }

// ThroughHost reports whether bytes pass through host memory.
func (p Path) ThroughHost() bool { return p == ImportedHost || p == HostStaged }

// ParsePath returns the path of a name, in which "-" and a space are the same.
func ParsePath(name string) (Path, error) {
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", " ") }
	i := slices.IndexFunc(pathNames[:], func(known string) bool { return plain(known) == plain(name) })
	if i < 0 {
		return 0, &backend.OpError{Op: "connect", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("no path %q; there are %q", name, pathNames)}
	}
	return Path(i), nil
}

// shape is how the memory between two devices is divided.
type shape struct {
	chunkBytes uint64 // of one slot
	slots      int
}

// A chunk is large enough that its copies take longer than a host that waits for one needs to wake up, and there are
// enough slots that each stage has a chunk while another is waited for.
var shapes = [Paths]shape{
	SharedAllocation: {16 << 20, 6},
	DriverCopy:       {16 << 20, 6},
	ImportedHost:     {8 << 20, 5},
	HostStaged:       {16 << 20, 4},
	DMABuf:           {16 << 20, 6},
}

// coreChunkBytes is the size of a chunk where an end is the host's cores. With less, lavapipe takes longer to begin a
// copy than to make it: 64 MiB take three times as long in chunks of 256 KiB.
const coreChunkBytes = 1 << 20

// memoryShare is the share of the device memory under the cap, as its inverse, that the exchange memory of a link may
// have beyond it, if that is at least [backend.LeastChunkBytes] for each slot.
const memoryShare = 16

// Link copies from one device to another through exchange memory, chunk by chunk: while one chunk is read, others
// are passed on and written. Safe for concurrent use; copies of one link run one after the other, in the order in which
// they were started. It uses the download queue of From and the upload queue of To, or where that is much faster and
// nothing goes through the host, their deliver and ingest queues. So the two links of a pair run at the same time.
// The caller of Connect owns it.
//
// With [DriverCopy], what lies in memory that the driver reaches on both devices, see [Join], is copied without
// exchange memory and queues. The host then waits for work with the two ranges before and for the copy after that.
//
// Exchange memory does not count under the caps of the devices, except with HostStaged: a query that needs a link may
// have all memory under the cap. A link has at most 96 MiB of it on each device, or 64 MiB on the host for each device.
// It takes no more than a sixteenth of the lower cap, but at least 64 KiB for each of its 4 to 6 chunks. While it
// connects, it takes as much again.
type Link struct {
	From, To *backend.Device
	Path     Path
	// ChunkBytes is the size of the pieces in which copies are made; 0 for SameDevice.
	ChunkBytes uint64
	// BytesPerSecond is the rate of a copy of a few chunks, measured when the link was created.
	BytesPerSecond float64
	// Indirect is why copies with [DriverCopy] go through exchange memory; nil where they do not, and on other paths.
	Indirect error

	turns turns

	// What follows belongs to the copy whose turn it is.
	lane               lane
	slots              []slot
	carrier            carrier                // of chunks to the other end; nil where both ends see the same memory
	direct             backend.DirectExchange // copies between buffers that it reaches; nil where that is not possible
	next               int                    // slot of the next chunk
	laneBytesPerSecond float64                // through exchange memory
	failed             error                  // sticky: the exchange memory cannot be used again, or the link is closed
}

// slot is room for one chunk, and the last uses of it.
type slot struct {
	near, far     *backend.Buffer // as From and as To see it
	read, written backend.Point
}

// carrier brings chunks from the near to the far buffer of a slot.
type carrier interface {
	// carry starts with the first n bytes of a slot, which have been read.
	carry(ctx context.Context, slot int, n uint64) error
	// wait returns when the chunk of a slot is at the other end.
	wait(ctx context.Context, slot int) error
	// close waits until nothing is being carried. Unless done, the buffers of the slots are still in use and must be
	// kept.
	close() (done bool, err error)
}

// Connect creates a link between two devices on the first of paths that works. Without paths it tries the default ones,
// the fastest first. A path is used only if a random pattern written on one device is read back correctly on the other
// from all exchange memory: some drivers accept an import but map other memory. The error joins the errors of all paths
// tried. The caller closes the link.
func Connect(ctx context.Context, from, to *backend.Device, paths ...Path) (*Link, error) {
	if len(paths) == 0 {
		paths = []Path{SharedAllocation, DriverCopy, ImportedHost, HostStaged}
		if from == to {
			paths = []Path{SameDevice}
		}
	}
	var tried []error
	for _, path := range paths {
		link, err := connect(ctx, from, to, path, shapes)
		if err == nil {
			return link, nil
		}
		tried = append(tried, fmt.Errorf("%s: %w", path, err))
		if ctx.Err() != nil {
			tried = append(tried, backend.ContextError(ctx))
			break
		}
	}
	return nil, fmt.Errorf("connect %s to %s: %w", from.Info().Name, to.Info().Name, errors.Join(tried...))
}

func connect(ctx context.Context, from, to *backend.Device, path Path, shapes [Paths]shape) (*Link, error) {
	if path >= Paths {
		return nil, &backend.OpError{Op: "connect", Device: from.Info().Name, Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("path %d", path)}
	}
	shape := shapes[path]
	if from.Info().CPULike() || to.Info().CPULike() {
		shape.chunkBytes = min(shape.chunkBytes, coreChunkBytes)
	}
	for _, end := range []*backend.Device{from, to} {
		if asked := end.Options().LinkChunkBytes; asked > 0 {
			shape.chunkBytes = min(shape.chunkBytes, asked)
		}
	}
	// Memory beyond the caps is to be little beside that under them.
	capBytes := min(from.Options().DeviceMemoryBytes, to.Options().DeviceMemoryBytes)
	most := max(capBytes/memoryShare/uint64(max(shape.slots, 1))/backend.LeastChunkBytes, 1) * backend.LeastChunkBytes
	shape.chunkBytes = min(shape.chunkBytes, most)
	l := &Link{From: from, To: to, Path: path, ChunkBytes: shape.chunkBytes, lane: transferLane,
		slots: make([]slot, shape.slots)}
	err := l.open(ctx)
	if err == nil {
		err = l.verify(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open makes the exchange memory.
func (l *Link) open(ctx context.Context) error {
	switch l.Path {
	case SharedAllocation, DMABuf:
		return l.openShared()
	case DriverCopy:
		return l.openExchange()
	case ImportedHost:
		return l.openImported(ctx)
	case HostStaged:
		return l.openStaged(ctx)
	}
	if l.From != l.To {
		return l.unsupported("these are two devices")
	}
	return nil
}

func (l *Link) unsupported(format string, a ...any) error {
	return &backend.OpError{Op: "connect", Device: l.From.Info().Name, Err: backend.ErrUnsupported,
		Detail: fmt.Sprintf(format, a...)}
}

func (l *Link) label(slot int) string { return fmt.Sprintf("link, %s %d", l.Path, slot) }

func (l *Link) labels() (labels []string) {
	for i := range l.slots {
		labels = append(labels, l.label(i))
	}
	return labels
}

// Close waits for copies in progress and releases the exchange memory. ErrTimedOut if a driver does not finish with it;
// it is then left to the process.
func (l *Link) Close() error {
	<-l.turns.enter()
	defer l.turns.leave()
	slots, carrier := l.slots, l.carrier
	if carrier != nil && l.failed == nil {
		if err := l.awaitQueues(); err != nil {
			l.giveUp(err)
		}
	}
	l.slots, l.carrier = nil, nil
	l.failed = &backend.OpError{Op: "peer copy", Device: l.From.Info().Name, Err: backend.ErrInvalidInput,
		Detail: "the link was closed"}
	done, err := true, error(nil)
	if carrier != nil {
		done, err = carrier.close()
	}
	for i := range slots {
		if done {
			slots[i].near.Release()
			slots[i].far.Release()
		}
	}
	return err
}

// awaitQueues waits for batches that a cancelled copy left behind: they may use semaphores of the carrier.
func (l *Link) awaitQueues() error {
	for i := range l.slots {
		for _, p := range []backend.Point{l.slots[i].read, l.slots[i].written} {
			if err := p.Wait(context.Background()); err != nil {
				return err
			}
		}
	}
	return nil
}
