package link

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
)

// ConnectWith is Connect on one path with slots of another size and number than by default.
func ConnectWith(ctx context.Context, from, to *backend.Device, path Path, chunkBytes uint64,
	slots int) (*Link, error) {
	shapes := shapes
	shapes[path] = shape{chunkBytes, slots}
	return connect(ctx, from, to, path, shapes)
}

// Lanes are the ways to copy at the ends of a link.
const (
	TransferQueues = iota
	KernelQueues
	Kernels
)

// UseLane makes a link use a lane whatever its rate.
func (l *Link) UseLane(which int, near, far Copier) {
	l.lane = transferLane
	if which != TransferQueues {
		l.lane = kernelLane
	}
	if which == Kernels {
		l.lane.near, l.lane.far = near, far
	}
}
