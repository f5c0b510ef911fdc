package backend

import "context"

// ConnectWith is Connect on one path with slots of another size and number than by default.
func ConnectWith(ctx context.Context, from, to *Device, path PeerPath, chunkBytes uint64, slots int) (*PeerLink, error) {
	shapes := linkShapes
	shapes[path] = linkShape{chunkBytes, slots}
	return connect(ctx, from, to, path, shapes)
}
