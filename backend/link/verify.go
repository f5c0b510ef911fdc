package link

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// verify proves the path and chooses the faster lane. Where cores are the device, all queues are those cores.
func (l *Link) verify(ctx context.Context) error {
	return l.between(ctx, l.patternBytes(), func(dst, src *backend.Buffer) (err error) {
		if err = l.prove(ctx, dst, src); err != nil {
			return err
		}
		if l.laneBytesPerSecond, err = l.rate(ctx, dst, src); err != nil {
			return err
		}
		if !l.Path.ThroughHost() && !l.From.Info().CPULike() && !l.To.Info().CPULike() {
			if err = l.tryLane(ctx, kernelLane, dst, src); err != nil {
				return err
			}
		}
		l.BytesPerSecond = l.laneBytesPerSecond
		return l.tryDirect(ctx, dst, src)
	})
}

// patternBytes is the size of the pattern: all slots, and one word again in the first.
func (l *Link) patternBytes() uint64 {
	switch {
	case l.Path != SameDevice:
		return uint64(len(l.slots))*l.ChunkBytes + 4
	case l.From.Info().CPULike():
		return 4 << 20
	}
	return 64 << 20
}

// prove copies a random pattern and compares what arrived. The pattern is new each time: memory that was never written
// must not hold it.
func (l *Link) prove(ctx context.Context, dst, src *backend.Buffer) error {
	pattern, arrived := newPattern(src.SizeBytes()), make([]byte, src.SizeBytes())
	point, err := l.From.Upload(ctx, src.All(), pattern)
	if err == nil {
		err = point.Wait(ctx)
	}
	if err == nil {
		err = l.Copy(ctx, dst.All(), src.All())
	}
	if err == nil {
		err = l.To.Download(ctx, arrived, dst.All())
	}
	if err == nil && !bytes.Equal(pattern, arrived) {
		err = &backend.OpError{Op: "verify link", Device: l.To.Info().Name, Err: backend.ErrUnsupported,
			Detail: "the pattern did not arrive"}
	}
	return err
}

// newPattern returns random bytes, a multiple of 4, whose words do not repeat within a pattern or between calls.
func newPattern(sizeBytes uint64) []byte {
	b := make([]byte, (sizeBytes+7)/8*8)
	for i, seed := 0, rand.Uint64(); i < len(b); i += 8 {
		seed += 0x9e3779b97f4a7c15
		x := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		binary.LittleEndian.PutUint64(b[i:], x^x>>27)
	}
	return b[:sizeBytes]
}

// rate copies once.
func (l *Link) rate(ctx context.Context, dst, src *backend.Buffer) (bytesPerSecond float64, err error) {
	start := time.Now()
	err = l.Copy(ctx, dst.All(), src.All())
	return float64(src.SizeBytes()) / time.Since(start).Seconds(), err
}

// between runs f with a buffer on each device, in memory beyond the cap.
func (l *Link) between(ctx context.Context, sizeBytes uint64, f func(dst, src *backend.Buffer) error) error {
	src, err := l.From.AllocateApart(sizeBytes, "link pattern")
	if err != nil {
		return err
	}
	defer src.Release()
	dst, err := l.To.AllocateApart(sizeBytes, "link pattern")
	if err != nil {
		return err
	}
	defer dst.Release()
	return f(dst, src)
}

// Measure returns the rate of copies of sizeBytes, a multiple of 4, in bytes per second: the best of several, after
// others that warm up both devices. It allocates sizeBytes on each device, beyond the cap.
func (l *Link) Measure(ctx context.Context, sizeBytes uint64) (bytesPerSecond float64, err error) {
	err = l.between(ctx, sizeBytes, func(dst, src *backend.Buffer) error {
		const warm, measured = 2, 5
		for i := range warm + measured {
			rate, err := l.rate(ctx, dst, src)
			if err != nil {
				return err
			}
			if i >= warm {
				bytesPerSecond = max(bytesPerSecond, rate)
			}
		}
		return nil
	})
	return bytesPerSecond, err
}
