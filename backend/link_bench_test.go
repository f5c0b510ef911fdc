package backend_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// benchedShapes are chunk sizes, in MiB, and numbers of slots; the first of a path is its default.
var benchedShapes = map[backend.PeerPath][][2]int{
	backend.SharedAllocation: {{16, 6}, {4, 6}, {64, 4}},
	backend.DriverCopy:       {{16, 6}, {4, 8}, {32, 4}},
	backend.ImportedHost:     {{8, 5}, {2, 8}, {4, 6}, {16, 5}},
	backend.HostStaged:       {{16, 4}, {8, 4}, {16, 6}, {32, 4}},
}

// BenchmarkLink copies between two logical devices of each device, in one direction and in both at once.
func BenchmarkLink(b *testing.B) {
	ctx := context.Background()
	for _, info := range vulkantest.Devices(b) {
		devices := [2]*backend.Device{openDevice(b, info.ID), openDevice(b, info.ID)}
		for path := backend.SharedAllocation; path < backend.PeerPaths; path++ {
			for i, shape := range benchedShapes[path] {
				sizes := []uint64{256 << 20}
				if i == 0 {
					sizes = []uint64{4 << 10, 1 << 20, 16 << 20, 256 << 20, 2 << 30}
				}
				if info.Type == backend.Software {
					sizes = []uint64{4 << 10, 64 << 20}
				}
				var links [2]*backend.PeerLink
				var err error
				for j := range links {
					links[j], err = backend.ConnectWith(ctx, devices[j], devices[1-j], path, uint64(shape[0])<<20, shape[1])
					if err != nil {
						b.Log(err)
						break
					}
					defer func() { require.NoError(b, links[j].Close()) }()
				}
				if err != nil {
					break
				}
				for _, sizeBytes := range sizes {
					for _, ways := range []int{1, 2} {
						b.Run(fmt.Sprintf("path=%v/chunk=%d/slots=%d/bytes=%d/ways=%d", path, links[0].ChunkBytes, shape[1],
							sizeBytes, ways), func(b *testing.B) { benchmarkLinks(b, links[:ways], sizeBytes) })
					}
				}
			}
		}
	}
}

func benchmarkLinks(b *testing.B, links []*backend.PeerLink, sizeBytes uint64) {
	ctx := context.Background()
	var dst, src []backend.Range
	for _, l := range links {
		from, err := l.From.Allocate(ctx, backend.DeviceLocal, sizeBytes, "source")
		require.NoError(b, err)
		defer from.Release()
		to, err := l.To.Allocate(ctx, backend.DeviceLocal, sizeBytes, "destination")
		require.NoError(b, err)
		defer to.Release()
		require.NoError(b, l.Copy(ctx, to.All(), from.All()))
		dst, src = append(dst, to.All()), append(src, from.All())
	}
	b.SetBytes(int64(sizeBytes) * int64(len(links)))
	for b.Loop() {
		var copies []*backend.PeerCopy
		for i, l := range links {
			copies = append(copies, l.Start(ctx, dst[i], src[i]))
		}
		for _, c := range copies {
			require.NoError(b, c.Wait(ctx))
		}
	}
}

func openDevice(b *testing.B, id string) *backend.Device {
	b.Helper()
	device := backend.NewDevice(vulkantest.OpenDevice(b, id), backend.DeviceOptions{})
	b.Cleanup(func() { require.NoError(b, device.Close()) })
	return device
}
