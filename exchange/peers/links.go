package peers

import (
	"context"
	"errors"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
)

// Link copies from one device to another. [link.Link] is one.
type Link interface {
	// Copy returns when the copy is complete. Both ranges have the same size, a multiple of 4 bytes. Several goroutines
	// may copy at once.
	Copy(ctx context.Context, dst, src backend.Range) error
	Close() error
}

// Connect makes the link of a pair of devices.
type Connect func(ctx context.Context, from, to *backend.Device) (Link, error)

// Links are the links between devices: each is made when it is first needed, and kept. Safe for concurrent use. The
// owner closes them before the devices.
type Links struct {
	connect Connect

	mu   sync.Mutex // guards open, and the links of pairs
	open map[[2]*backend.Device]*pair
}

// pair is the link of two devices.
type pair struct {
	turn chan struct{} // holds one token while the link is made or looked up, so that it is made once
	link Link          // nil until it is made
}

// NewLinks returns links that connect makes, [link.Connect] if it is nil.
func NewLinks(connect Connect) *Links {
	if connect == nil {
		connect = func(ctx context.Context, from, to *backend.Device) (Link, error) {
			return link.Connect(ctx, from, to)
		}
	}
	return &Links{connect: connect, open: make(map[[2]*backend.Device]*pair)}
}

func (l *Links) copy(ctx context.Context, from, to *backend.Device, dst, src backend.Range) error {
	link, err := l.link(ctx, from, to)
	if err != nil {
		return err
	}
	return link.Copy(ctx, dst, src)
}

// Rate returns the rate of the link from a device to another, measured when it was made, and whether bytes take a way
// that is not one through host memory; 0 and false if the link is not there yet, or is being made. It takes up to a
// second to make one between GPUs.
func (l *Links) Rate(from, to *backend.Device) (bytesPerSecond float64, direct bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.open[[2]*backend.Device{from, to}]
	if p == nil {
		return 0, false
	}
	peer, made := p.link.(*link.Link)
	if !made {
		return 0, false
	}
	return peer.BytesPerSecond, !peer.Path.ThroughHost()
}

// Make makes the links between all given devices, in both directions. Errors: as for Connect; ErrCancelled.
func (l *Links) Make(ctx context.Context, devices []*backend.Device) error {
	for _, from := range devices {
		for _, to := range devices {
			if from == to {
				continue
			}
			if _, err := l.link(ctx, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// link returns the link of two devices, which it makes if there is none.
func (l *Links) link(ctx context.Context, from, to *backend.Device) (Link, error) {
	l.mu.Lock()
	p := l.open[[2]*backend.Device{from, to}]
	if p == nil {
		p = &pair{turn: make(chan struct{}, 1)}
		l.open[[2]*backend.Device{from, to}] = p
	}
	l.mu.Unlock()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, backend.ContextError(ctx)
	}
	if p.link == nil {
		link, err := l.connect(ctx, from, to)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		p.link = link
	}
	return p.link, nil
}

// Close closes all links. They must not be used afterwards.
func (l *Links) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, p := range l.open {
		if p.link != nil {
			errs = append(errs, p.link.Close())
		}
	}
	clear(l.open)
	return errors.Join(errs...)
}
