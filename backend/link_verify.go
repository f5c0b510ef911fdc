package backend

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// verify proves the path and chooses the faster lane. Where cores are the device, all queues are those cores.
func (l *PeerLink) verify(ctx context.Context) (err error) {
	l.BytesPerSecond, err = l.prove(ctx)
	if err != nil || !l.inDeviceMemory() || l.From.info.CPULike() || l.To.info.CPULike() {
		return err
	}
	return l.tryLane(ctx, kernelLane, laneGain)
}

// patternBytes is the size of the pattern: all slots, and one word again in the first.
func (l *PeerLink) patternBytes() uint64 {
	switch {
	case l.Path != SameDevice:
		return uint64(len(l.slots))*l.ChunkBytes + 4
	case l.From.info.CPULike():
		return 4 << 20
	}
	return 64 << 20
}

// prove copies a random pattern through all exchange memory, compares what arrived, and returns the rate of a second
// copy. The pattern is new each time: memory that was never written must not hold it.
func (l *PeerLink) prove(ctx context.Context) (bytesPerSecond float64, err error) {
	sizeBytes := l.patternBytes()
	err = l.between(ctx, sizeBytes, func(dst, src *Buffer) error {
		pattern, arrived := make([]byte, sizeBytes), make([]byte, sizeBytes)
		newPattern(pattern)
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
		if err != nil {
			return err
		}
		if !bytes.Equal(pattern, arrived) {
			return &OpError{Op: "verify link", Device: l.To.info.Name, Err: ErrUnsupported,
				Detail: "the pattern did not arrive"}
		}
		start := time.Now()
		err = l.Copy(ctx, dst.All(), src.All())
		bytesPerSecond = float64(sizeBytes) / time.Since(start).Seconds()
		return err
	})
	return bytesPerSecond, err
}

func newPattern(b []byte) {
	var seed [32]byte
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], rand.Uint64())
	}
	_, _ = rand.NewChaCha8(seed).Read(b)
}

// between runs f with a buffer on each device.
func (l *PeerLink) between(ctx context.Context, sizeBytes uint64, f func(dst, src *Buffer) error) error {
	src, err := l.From.Allocate(ctx, DeviceLocal, sizeBytes, "link pattern")
	if err != nil {
		return err
	}
	defer src.Release()
	dst, err := l.To.Allocate(ctx, DeviceLocal, sizeBytes, "link pattern")
	if err != nil {
		return err
	}
	defer dst.Release()
	return f(dst, src)
}

// Measure returns the rate of copies of sizeBytes, a multiple of 4, in bytes per second: the best of several, after
// others that warm up both devices. It allocates sizeBytes on each device.
func (l *PeerLink) Measure(ctx context.Context, sizeBytes uint64) (bytesPerSecond float64, err error) {
	err = l.between(ctx, sizeBytes, func(dst, src *Buffer) error {
		const warm, measured = 2, 5
		for i := range warm + measured {
			start := time.Now()
			if err := l.Copy(ctx, dst.All(), src.All()); err != nil {
				return err
			}
			if rate := float64(sizeBytes) / time.Since(start).Seconds(); i >= warm {
				bytesPerSecond = max(bytesPerSecond, rate)
			}
		}
		return nil
	})
	return bytesPerSecond, err
}
