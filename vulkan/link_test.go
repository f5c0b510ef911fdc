package vulkan_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func isNVIDIA(info *backend.DeviceInfo) bool { return info.Driver == "NVIDIA" }

// TestHostOrderedLinks: copies of the CUDA driver are also right without semaphores. TestConformance has them with.
func TestHostOrderedLinks(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		if !isNVIDIA(&info) {
			t.Skip("CUDA copies only between devices of NVIDIA's driver")
		}
		backendtest.RunLinks(t, func(t *testing.T) backend.Driver {
			return openWith(t, info.ID, vulkan.Options{CacheDir: "off", HostOrderedCopies: true})
		}, backendtest.Options{Paths: []link.Path{link.DriverCopy}})
	}
}

// TestExchange: the CUDA driver copies between devices of NVIDIA's driver and no others, and its copies are ordered as
// the options say.
func TestExchange(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		for _, byHost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s byHost=%t", info.Name, byHost), func(t *testing.T) {
				options := vulkan.Options{CacheDir: "off", HostOrderedCopies: byHost}
				a, b := openWith(t, info.ID, options), openWith(t, info.ID, options)
				_, err := a.(backend.PeerExchange).OpenExchange(nil, 1, 1<<20)
				require.ErrorIs(t, err, backend.ErrUnsupported)
				exchange, err := a.(backend.PeerExchange).OpenExchange(b, 2, 1<<20)
				if !isNVIDIA(&info) {
					require.ErrorIs(t, err, backend.ErrUnsupported)
					return
				}
				require.NoError(t, err)
				_, _, semaphores := exchange.Semaphores()
				require.Equal(t, !byHost, semaphores)
				require.NoError(t, exchange.Close())
				for pair := range 2 {
					near, far := exchange.Pair(pair)
					require.NoError(t, near.Free())
					require.NoError(t, far.Free())
				}
				require.NoError(t, a.Close())
				require.NoError(t, b.Close())
			})
		}
	}
}

// TestForeignSemaphores: a batch may use only semaphores of its own device.
func TestForeignSemaphores(t *testing.T) {
	for _, d := range vulkantest.Open(t) {
		for _, batch := range []*backend.Batch{
			{Signal: 1, Awaits: []backend.SemaphoreValue{{Semaphore: "no semaphore", Value: 1}}},
			{Signal: 1, Raises: []backend.SemaphoreValue{{Semaphore: "no semaphore", Value: 1}}},
			{Signal: 1, Raises: make([]backend.SemaphoreValue, 20)},
		} {
			require.ErrorIs(t, d.Submit(batch), backend.ErrInvalidInput)
		}
		require.NoError(t, d.Submit(&backend.Batch{Signal: 1}), "a batch that fails leaves the timeline as it was")
	}
}

// TestLargeLink copies more than 4 GiB, from and to offsets beyond 4 GiB, on every path.
func TestLargeLink(t *testing.T) {
	ctx := context.Background()
	for _, info := range vulkantest.Devices(t) {
		if info.Type == backend.Software {
			t.Skip("needs gigabytes of device memory")
		}
		a, b := openDevice(t, info.ID), openDevice(t, info.ID)
		const sizeBytes, piece = 9<<29 + 12, 1 << 28
		src, err := a.Allocate(ctx, backend.DeviceLocal, sizeBytes+8, "source")
		require.NoError(t, err)
		defer src.Release()
		dst, err := b.Allocate(ctx, backend.DeviceLocal, sizeBytes+8, "destination")
		require.NoError(t, err)
		defer dst.Release()
		var list backend.List
		for at := uint64(0); at < sizeBytes; at += piece {
			list.Fill(src.Range(4+at, min(piece, sizeBytes-at)), uint32(at/piece)+1)
		}
		require.NoError(t, a.Run(ctx, &list))
		for path := link.SharedAllocation; path < link.Paths; path++ {
			var clear backend.List
			clear.Fill(dst.All(), 0xdead)
			require.NoError(t, b.Run(ctx, &clear))
			l, err := link.Connect(ctx, a, b, path)
			if err != nil {
				require.ErrorIs(t, err, backend.ErrUnsupported)
				continue
			}
			require.NoError(t, l.Copy(ctx, dst.Range(8, sizeBytes), src.Range(4, sizeBytes)))
			require.NoError(t, l.Close())
			for at := uint64(0); at < sizeBytes; at += piece {
				for _, edge := range []uint64{at, at + min(piece, sizeBytes-at) - 4} {
					word := make([]byte, 4)
					require.NoError(t, b.Download(ctx, word, dst.Range(8+edge, 4)))
					assert.Equal(t, uint32(at/piece)+1, backend.Words(word)[0], "%v at %d", path, edge)
				}
			}
			word := make([]byte, 8)
			require.NoError(t, b.Download(ctx, word, dst.Range(0, 8)))
			assert.Equal(t, []uint32{0xdead, 0xdead}, backend.Words(word), "in front of it")
		}
	}
}

func openDevice(t testing.TB, id string) *backend.Device {
	t.Helper()
	device := backend.NewDevice(vulkantest.OpenDevice(t, id), backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// TestLinkOfALostDevice loses the near device before a copy and in the middle of one. The far device goes on.
func TestLinkOfALostDevice(t *testing.T) {
	ctx := context.Background()
	for _, info := range vulkantest.Devices(t) {
		for path := link.SharedAllocation; path < link.Paths; path++ {
			for _, chunks := range []int32{1, 5} {
				t.Run(fmt.Sprintf("%s %v after=%d", info.Name, path, chunks), func(t *testing.T) {
					options := vulkan.Options{CacheDir: "off"}
					a := backend.NewDevice(openWith(t, info.ID, options), backend.DeviceOptions{})
					b := backend.NewDevice(openWith(t, info.ID, options), backend.DeviceOptions{})
					l, err := link.Connect(ctx, a, b, path)
					if err != nil {
						require.ErrorIs(t, err, backend.ErrUnsupported)
						t.Skip(err)
					}
					src, err := a.Allocate(ctx, backend.DeviceLocal, 12*l.ChunkBytes, "source")
					require.NoError(t, err)
					dst, err := b.Allocate(ctx, backend.DeviceLocal, 12*l.ChunkBytes, "destination")
					require.NoError(t, err)
					var submitted atomic.Int32
					b.Observe(func(e backend.Event) {
						if e.Kind == backend.Submitted && submitted.Add(1) == chunks {
							_ = vulkan.Lose(a.Driver())
						}
					})
					require.ErrorIs(t, l.Copy(ctx, dst.All(), src.All()), backend.ErrDeviceLost)
					require.ErrorIs(t, l.Copy(ctx, dst.All(), src.All()), backend.ErrDeviceLost, "it stays lost")
					var list backend.List
					list.Fill(dst.All(), 1)
					require.NoError(t, b.Run(ctx, &list), "the far device goes on")
					require.NoError(t, l.Close())
					src.Release()
					dst.Release()
					require.NoError(t, b.Close())
					require.NotErrorIs(t, a.Close(), backend.ErrInvalidInput, "a leak")
				})
			}
		}
	}
}
