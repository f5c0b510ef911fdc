package vulkan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// TestDirectLinks: links are also right between devices whose blocks CUDA allocates. Other drivers refuse to be joined.
func TestDirectLinks(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		if !isNVIDIA(&info) {
			d := vulkantest.OpenDevice(t, info.ID)
			require.ErrorIs(t, d.(backend.PeerMemory).JoinPeers(nil), backend.ErrUnsupported)
			require.NoError(t, d.Close())
			continue
		}
		backendtest.RunLinks(t, func(t *testing.T) backend.Driver {
			d := openWith(t, info.ID, vulkan.Options{CacheDir: "off"})
			require.NoError(t, d.(backend.PeerMemory).JoinPeers(nil))
			return d
		}, backendtest.Options{Paths: []link.Path{link.DriverCopy}})
	}
}

// TestJoinedGPUs copies between different GPUs, in one direction and in both at once, also from and to blocks of
// several allocations.
func TestJoinedGPUs(t *testing.T) {
	ctx := context.Background()
	infos := vulkantest.Devices(t)
	if len(infos) < 2 || !isNVIDIA(&infos[0]) || !isNVIDIA(&infos[1]) {
		t.Skip("needs two NVIDIA GPUs")
	}
	ends := [2]*backend.Device{openDevice(t, infos[0].ID), openDevice(t, infos[1].ID)}
	link.Join(ends[:]...)
	var links [2]*link.Link
	for i := range links {
		var err error
		links[i], err = link.Connect(ctx, ends[i], ends[1-i])
		require.NoError(t, err)
		defer func() { assert.NoError(t, links[i].Close()) }()
		require.Equal(t, link.DriverCopy, links[i].Path)
		t.Logf("link %d: %.1f GB/s when it was made", i, links[i].BytesPerSecond/1e9)
	}
	for _, sizeBytes := range []uint64{4 << 10, 1 << 20, 64 << 20, 1<<30 + 4, 5<<30 + 8} {
		t.Run(fmt.Sprintf("bytes=%d", sizeBytes), func(t *testing.T) {
			var src, dst [2]*backend.Buffer
			for i := range links {
				src[i], dst[i] = allocateOn(t, ends[i], sizeBytes), allocateOn(t, ends[1-i], sizeBytes)
			}
			for _, ways := range []int{1, 2} {
				best := time.Duration(1 << 62)
				for round := range uint32(6) {
					for i := range ways {
						fillPieces(t, ends[i], src[i], round*8+uint32(i))
					}
					start := time.Now()
					var copies errgroup.Group
					for i := range ways {
						copies.Go(func() error { return links[i].Copy(ctx, dst[i].All(), src[i].All()) })
					}
					require.NoError(t, copies.Wait())
					best = min(best, time.Since(start))
					for i := range ways {
						checkPieces(t, ends[1-i], dst[i], round*8+uint32(i))
					}
				}
				t.Logf("%d ways: %v, %.1f GB/s out of each", ways, best, float64(sizeBytes)/best.Seconds()/1e9)
			}
		})
	}
}

func allocateOn(t *testing.T, d *backend.Device, sizeBytes uint64) *backend.Buffer {
	t.Helper()
	b, err := d.Allocate(context.Background(), backend.DeviceLocal, sizeBytes, "joined")
	require.NoError(t, err)
	t.Cleanup(b.Release)
	return b
}

const joinedPiece = 8 << 20

// fillPieces gives each piece of a buffer its own value.
func fillPieces(t *testing.T, d *backend.Device, b *backend.Buffer, seed uint32) {
	t.Helper()
	var list backend.List
	for at := uint64(0); at < b.SizeBytes(); at += joinedPiece {
		list.Fill(b.Range(at, min(joinedPiece, b.SizeBytes()-at)), seed<<16+uint32(at/joinedPiece))
	}
	require.NoError(t, d.Run(context.Background(), &list))
}

// checkPieces reads the edges of some pieces, and of the first and last.
func checkPieces(t *testing.T, d *backend.Device, b *backend.Buffer, seed uint32) {
	t.Helper()
	pieces := (b.SizeBytes() + joinedPiece - 1) / joinedPiece
	for _, p := range []uint64{0, rand.Uint64N(pieces), rand.Uint64N(pieces), rand.Uint64N(pieces), pieces - 1} {
		for _, at := range []uint64{p * joinedPiece, min((p+1)*joinedPiece, b.SizeBytes()) - 4} {
			word := make([]byte, 4)
			require.NoError(t, d.Download(context.Background(), word, b.Range(at, 4)))
			require.Equal(t, seed<<16+uint32(p), backend.Words(word)[0], "at %d", at)
		}
	}
}

// BenchmarkJoinedGPUs copies between two GPUs, through exchange memory and directly.
func BenchmarkJoinedGPUs(b *testing.B) {
	infos := vulkantest.Devices(b)
	if len(infos) < 2 || !isNVIDIA(&infos[0]) || !isNVIDIA(&infos[1]) {
		b.Skip("needs two NVIDIA GPUs")
	}
	for _, join := range []bool{false, true} {
		ends := [2]*backend.Device{openDevice(b, infos[0].ID), openDevice(b, infos[1].ID)}
		if join {
			link.Join(ends[:]...)
		}
		l, err := link.Connect(context.Background(), ends[0], ends[1], link.DriverCopy)
		require.NoError(b, err)
		for _, sizeBytes := range []uint64{4 << 10, 1 << 20, 16 << 20, 256 << 20, 2 << 30} {
			b.Run(fmt.Sprintf("joined=%t/bytes=%d", join, sizeBytes), func(b *testing.B) {
				src, err := ends[0].Allocate(context.Background(), backend.DeviceLocal, sizeBytes, "source")
				require.NoError(b, err)
				defer src.Release()
				dst, err := ends[1].Allocate(context.Background(), backend.DeviceLocal, sizeBytes, "destination")
				require.NoError(b, err)
				defer dst.Release()
				b.SetBytes(int64(sizeBytes))
				for b.Loop() {
					require.NoError(b, l.Copy(context.Background(), dst.All(), src.All()))
				}
			})
		}
		require.NoError(b, l.Close())
	}
}
