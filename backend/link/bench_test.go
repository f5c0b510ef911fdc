package link_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// benchedShapes are chunk sizes, in MiB, and numbers of slots; the first of a path is its default.
var benchedShapes = map[link.Path][][2]int{
	link.SameDevice:       {{0, 0}},
	link.SharedAllocation: {{16, 6}, {4, 6}, {64, 4}},
	link.DriverCopy:       {{16, 6}, {4, 8}, {32, 4}},
	link.ImportedHost:     {{8, 5}, {2, 8}, {4, 6}, {16, 5}},
	link.HostStaged:       {{16, 4}, {8, 4}, {16, 6}, {32, 4}},
	link.DMABuf:           {{16, 6}, {4, 6}, {64, 4}},
}

// BenchmarkLink copies between two logical devices of each device, in one direction and in both at once. Copies of the
// CUDA driver are ordered by semaphores, and in a second run by the host.
func BenchmarkLink(b *testing.B) {
	for _, info := range vulkantest.Devices(b) {
		for _, byHost := range []bool{false, true} {
			ends := [2]*backend.Device{openDevice(b, info.ID, byHost), openDevice(b, info.ID, byHost)}
			for path := link.SameDevice; path < link.Paths; path++ {
				devices := ends
				if path == link.SameDevice {
					devices[1] = ends[0]
				}
				for i, shape := range benchedShapes[path] {
					if byHost && path != link.DriverCopy {
						continue
					}
					sizes := []uint64{256 << 20}
					if i == 0 {
						sizes = []uint64{4 << 10, 1 << 20, 16 << 20, 256 << 20, 2 << 30}
					}
					if info.Type == backend.Software {
						sizes = []uint64{4 << 10, 64 << 20}
					}
					links, err := connectPair(b, devices, path, uint64(shape[0])<<20, shape[1])
					if err != nil {
						b.Log(err)
						break
					}
					for _, laneName := range lanesOf(path) {
						for _, l := range links {
							l.UseLane(laneName.lane, copierOf(b, l.From), copierOf(b, l.To))
						}
						for _, sizeBytes := range sizes {
							for _, ways := range []int{1, 2} {
								b.Run(fmt.Sprintf("path=%v/byhost=%t/lane=%s/chunk=%d/slots=%d/bytes=%d/ways=%d", path,
									byHost, laneName.name, links[0].ChunkBytes, shape[1], sizeBytes, ways),
									func(b *testing.B) { benchmarkLinks(b, links[:ways], sizeBytes) })
							}
						}
					}
					for _, l := range links {
						require.NoError(b, l.Close())
					}
				}
			}
		}
	}
}

type namedLane struct {
	name string
	lane int
}

func lanesOf(path link.Path) []namedLane {
	if path.ThroughHost() {
		return []namedLane{{"transfer", link.TransferQueues}}
	}
	return []namedLane{{"transfer", link.TransferQueues}, {"compute", link.KernelQueues},
		{"kernel", link.Kernels}}
}

func copierOf(b *testing.B, device *backend.Device) link.Copier {
	b.Helper()
	ops, err := primitive.New(device, nil)
	require.NoError(b, err)
	return ops.Copy
}

// connectPair makes the links of both directions.
func connectPair(b *testing.B, devices [2]*backend.Device, path link.Path, chunkBytes uint64,
	slots int) (links []*link.Link, err error) {
	b.Helper()
	for i := range devices {
		l, err := link.ConnectWith(context.Background(), devices[i], devices[1-i], path, chunkBytes, slots)
		if err != nil {
			for _, l := range links {
				require.NoError(b, l.Close())
			}
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

func benchmarkLinks(b *testing.B, links []*link.Link, sizeBytes uint64) {
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
		var copies errgroup.Group
		for i, l := range links {
			copies.Go(func() error { return l.Copy(ctx, dst[i], src[i]) })
		}
		require.NoError(b, copies.Wait())
	}
}

func openDevice(b *testing.B, id string, byHost bool) *backend.Device {
	b.Helper()
	v, err := vulkan.New(vulkan.Options{CacheDir: "off", HostOrderedCopies: byHost})
	require.NoError(b, err)
	driver, err := v.Open(id)
	require.NoError(b, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	b.Cleanup(func() {
		require.NoError(b, device.Close())
		require.NoError(b, v.Close())
	})
	return device
}

// BenchmarkConnect makes and closes links, each of which is verified.
func BenchmarkConnect(b *testing.B) {
	for _, info := range vulkantest.Devices(b) {
		from, to := openDevice(b, info.ID, false), openDevice(b, info.ID, false)
		for path := link.SharedAllocation; path < link.Paths; path++ {
			b.Run("path="+path.String(), func(b *testing.B) {
				for b.Loop() {
					l, err := link.Connect(context.Background(), from, to, path)
					if err != nil {
						b.Skip(err)
					}
					require.NoError(b, l.Close())
				}
			})
		}
	}
}
