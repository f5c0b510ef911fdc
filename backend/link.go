package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// PeerPath is the way that bytes take from one device to another: first those that [Connect] tries by itself, best
// first, then those that it takes only where they are forced.
type PeerPath uint8

const (
	SameDevice       PeerPath = iota // both ends are one Device
	SharedAllocation                 // one allocation opened on two logical devices of the same physical device
	DriverCopy                       // exchange memory of both devices, copied by another driver; see [PeerExchange]
	ImportedHost                     // host memory that both devices have imported: the host copies nothing
	HostStaged                       // host memory of each device; the host copies from one to the other
	DMABuf                           // one allocation, exported as a dma-buf and opened on both devices
	PeerPaths                        // number of paths
)

var peerPathNames = [PeerPaths]string{"same device", "shared allocation", "driver copy", "imported host", "host staged",
	"dma-buf"}

func (p PeerPath) String() string { return peerPathNames[p] }

// ByDefault reports whether Connect tries a path that is not forced.
func (p PeerPath) ByDefault() bool { return p <= HostStaged }

// ThroughHost reports whether bytes pass through host memory.
func (p PeerPath) ThroughHost() bool { return p == ImportedHost || p == HostStaged }

// ParsePeerPath returns the path of a name, in which "-" and a space are the same.
func ParsePeerPath(name string) (PeerPath, error) {
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", " ") }
	i := slices.IndexFunc(peerPathNames[:], func(known string) bool { return plain(known) == plain(name) })
	if i < 0 {
		return 0, &OpError{Op: "connect", Err: ErrInvalidInput,
			Detail: fmt.Sprintf("no path %q; there are %q", name, peerPathNames)}
	}
	return PeerPath(i), nil
}

// linkShape is how the memory between two devices is divided.
type linkShape struct {
	chunkBytes uint64 // of one slot
	slots      int
}

// A chunk is large enough that its copies take longer than a host that waits for one needs to wake up, and there are
// enough slots that each stage has a chunk while another is waited for.
var linkShapes = [PeerPaths]linkShape{
	SharedAllocation: {16 << 20, 6},
	DriverCopy:       {16 << 20, 6},
	ImportedHost:     {8 << 20, 5},
	HostStaged:       {16 << 20, 4},
	DMABuf:           {16 << 20, 6},
}

// coreChunkBytes is the size of a chunk where an end is the host's cores. With less, lavapipe takes longer to begin a
// copy than to make it: 64 MiB take three times as long in chunks of 256 KiB.
const coreChunkBytes = 1 << 20

// linkShare is the share of the device memory under the cap, as its inverse, that the exchange memory of a link may
// have beyond it, if that is at least [LeastChunkBytes] for each slot.
const linkShare = 16

// LeastChunkBytes is the size of the chunks of a link below which no cap brings them.
const LeastChunkBytes = 64 << 10

// PeerLink copies from one device to another through exchange memory, chunk by chunk: while one chunk is read, others
// are passed on and written. Safe for concurrent use; copies of one link run one after the other, in the order in which
// they were started. It uses the download queue of From and the upload queue of To, or where that is much faster and
// nothing goes through the host, their deliver and ingest queues. So the two links of a pair run at the same time.
// Owned by whoever connected it.
//
// With [DriverCopy], what lies in memory that the driver reaches on both devices, see [Join], is copied without
// exchange memory and queues. The host then waits for work with the two ranges before and for the copy after that.
//
// Exchange memory is not under the caps of the devices, except that of HostStaged: a query that needs a link may have
// all memory under the cap. A link has at most 96 MiB of it on each device, or 64 MiB on the host for each, and no more
// than a sixteenth of the lower cap, but at least 64 KiB for each of its 4 to 6 chunks. While it is connected, it takes
// as much again.
type PeerLink struct {
	From, To *Device
	Path     PeerPath
	// ChunkBytes is the size of the pieces in which copies are made; 0 for SameDevice.
	ChunkBytes uint64
	// BytesPerSecond is the rate of a copy of a few chunks, measured when the link was created.
	BytesPerSecond float64
	// Indirect is why copies with [DriverCopy] go through exchange memory; nil where they do not, and on other paths.
	Indirect error

	turns   turns
	running sync.WaitGroup // of Start

	// What follows belongs to the copy whose turn it is.
	lane               lane
	slots              []linkSlot
	carrier            carrier        // of chunks to the other end; nil where both ends see the same memory
	direct             DirectExchange // copies between buffers that it reaches; nil where that is not possible
	next               int            // slot of the next chunk
	laneBytesPerSecond float64        // through exchange memory
	failed             error          // sticky: the exchange memory cannot be used again, or the link is closed
}

// linkSlot is room for one chunk, and the last uses of it.
type linkSlot struct {
	near, far     *Buffer // as From and as To see it
	read, written Point
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

// Connect creates a link between two devices on the first of paths that works, or without paths on the best of those
// that are tried by default. A path is used only if a random pattern written on one device is read back correctly on
// the other from all exchange memory: some drivers accept an import but map other memory. The error joins those of all
// paths that were tried.
func Connect(ctx context.Context, from, to *Device, paths ...PeerPath) (*PeerLink, error) {
	if len(paths) == 0 {
		paths = []PeerPath{SharedAllocation, DriverCopy, ImportedHost, HostStaged}
		if from == to {
			paths = []PeerPath{SameDevice}
		}
	}
	var tried []error
	for _, path := range paths {
		link, err := connect(ctx, from, to, path, linkShapes)
		if err == nil {
			return link, nil
		}
		tried = append(tried, fmt.Errorf("%s: %w", path, err))
		if ctx.Err() != nil {
			tried = append(tried, ContextError(ctx))
			break
		}
	}
	return nil, fmt.Errorf("connect %s to %s: %w", from.info.Name, to.info.Name, errors.Join(tried...))
}

func connect(ctx context.Context, from, to *Device, path PeerPath, shapes [PeerPaths]linkShape) (*PeerLink, error) {
	if path >= PeerPaths {
		return nil, &OpError{Op: "connect", Device: from.info.Name, Err: ErrInvalidInput,
			Detail: fmt.Sprintf("path %d", path)}
	}
	shape := shapes[path]
	if from.info.CPULike() || to.info.CPULike() {
		shape.chunkBytes = min(shape.chunkBytes, coreChunkBytes)
	}
	for _, end := range []*Device{from, to} {
		if asked := end.options.LinkChunkBytes; asked > 0 {
			shape.chunkBytes = min(shape.chunkBytes, asked)
		}
	}
	// Memory beyond the caps is to be little beside that under them.
	capBytes := min(from.options.DeviceMemoryBytes, to.options.DeviceMemoryBytes)
	most := max(capBytes/linkShare/uint64(max(shape.slots, 1))/LeastChunkBytes, 1) * LeastChunkBytes
	shape.chunkBytes = min(shape.chunkBytes, most)
	l := &PeerLink{From: from, To: to, Path: path, ChunkBytes: shape.chunkBytes, lane: transferLane,
		slots: make([]linkSlot, shape.slots)}
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
func (l *PeerLink) open(ctx context.Context) error {
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

func (l *PeerLink) unsupported(format string, a ...any) error {
	return &OpError{Op: "connect", Device: l.From.info.Name, Err: ErrUnsupported, Detail: fmt.Sprintf(format, a...)}
}

func (l *PeerLink) label(slot int) string { return fmt.Sprintf("link, %s %d", l.Path, slot) }

func (l *PeerLink) labels() (labels []string) {
	for i := range l.slots {
		labels = append(labels, l.label(i))
	}
	return labels
}

// Close waits for copies in progress and releases the exchange memory. ErrTimedOut if a driver does not finish with it;
// it is then left to the process.
func (l *PeerLink) Close() error {
	l.running.Wait()
	<-l.turns.enter()
	defer l.turns.leave()
	slots, carrier := l.slots, l.carrier
	if carrier != nil && l.failed == nil {
		if err := l.awaitQueues(); err != nil {
			l.giveUp(err)
		}
	}
	l.slots, l.carrier = nil, nil
	l.failed = &OpError{Op: "peer copy", Device: l.From.info.Name, Err: ErrInvalidInput, Detail: "the link was closed"}
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
func (l *PeerLink) awaitQueues() error {
	for i := range l.slots {
		for _, p := range []Point{l.slots[i].read, l.slots[i].written} {
			if err := p.Wait(context.Background()); err != nil {
				return err
			}
		}
	}
	return nil
}

// adopt makes buffers of equal size of a block that came from elsewhere, one for each label. The last release frees the
// block.
func (d *Device) adopt(block Block, labels ...string) []*Buffer {
	d.mu.Lock()
	defer d.mu.Unlock()
	buffers, sizeBytes := make([]*Buffer, len(labels)), block.SizeBytes()/uint64(len(labels))/4*4
	lease := d.leaseOf(block, labels[0])
	lease.owners = len(labels)
	for i, label := range labels {
		buffers[i] = &Buffer{device: d, label: label, sizeBytes: sizeBytes, memory: Imported, block: block,
			offsetBytes: uint64(i) * sizeBytes, lease: lease}
		d.live[buffers[i]] = struct{}{}
	}
	return buffers
}
