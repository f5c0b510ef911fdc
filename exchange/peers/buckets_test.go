package peers

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// host is a radix sort of keys of ranks without a device: Measure counts on the host.
func divideOnHost(keys [][]uint64, weights []uint32, whole bool) (x *radix, rounds int, err error) {
	x = &radix{size: len(keys), weights: weightsOf(len(keys), weights), whole: whole, chunks: make([]*Held, 1)}
	said := make([][]byte, len(keys))
	for rank, of := range keys {
		and, or := ^uint64(0), uint64(0)
		for _, key := range of {
			and, or = and&key, or|key
		}
		said[rank] = putNumbers(uint64(rank%2*100), uint64(len(of)), or&^and, and&or)
	}
	again, err := x.Decide(said)
	for ; again && err == nil; rounds++ {
		for rank, of := range keys {
			var counts []uint64
			for _, number := range x.divided.spanning {
				b := &x.buckets[number]
				d, _ := b.nextDigit(x.varying)
				rows := make([]uint64, 1<<d.bits)
				for _, key := range of {
					if b.low == 64 || key>>b.low == b.least>>b.low {
						rows[key>>d.shift&(1<<d.bits-1)]++
					}
				}
				counts = append(counts, rows...)
			}
			said[rank] = putNumbers(counts...)
		}
		again, err = x.Decide(said)
	}
	return x, rounds, err
}

// TestDivide: buckets are in order and have all rows, ranks have their shares within the padding, passes end, and
// groups differ in no more bits than they say.
func TestDivide(t *testing.T) {
	devicetest.HostTest(t)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 8).Draw(t, "size")
		mask := rapid.SampledFrom([]uint64{0, 1, 0xff, 0xffff0000, 0xf0f0f0f0f0f0f0f0, ^uint64(0)}).Draw(t, "mask")
		constant := rapid.Uint64().Draw(t, "constant") &^ mask
		keys, all := make([][]uint64, size), []uint64(nil)
		for rank := range keys {
			for range rapid.IntRange(0, 400).Draw(t, "rows") {
				keys[rank] = append(keys[rank], rapid.Uint64().Draw(t, "key")&mask|constant)
			}
			all = append(all, keys[rank]...)
		}
		slices.Sort(all)
		var weights []uint32
		if rapid.Bool().Draw(t, "weighted") {
			weights = rapid.SliceOfN(rapid.Uint32Range(0, 4), size, size).Draw(t, "weights")
			weights[0]++
		}
		x, rounds, err := divideOnHost(keys, weights, false)
		if err != nil || rounds > 9 {
			t.Fatalf("%d rounds: %v", rounds, err)
		}
		delivered := x.deliver(false)
		rows, owner, at := make([]uint64, size), 0, 0
		for _, p := range delivered.pieces {
			if p.owner < owner {
				t.Fatal("owners are not in order")
			}
			owner = p.owner
			sum := uint64(0)
			for _, n := range p.rows[0] {
				sum += n
			}
			if sum != p.total {
				t.Fatalf("a piece of %d rows has %d", p.total, sum)
			}
			rows[owner] += sum
			for range sum {
				if b := x.buckets[p.bucket]; b.low < 64 && all[at]>>b.low != b.least>>b.low {
					t.Fatalf("key %x in bucket %x, %d", all[at], b.least, b.low)
				}
				at++
			}
		}
		if at != len(all) {
			t.Fatalf("%d of %d rows", at, len(all))
		}
		ends := targets(uint64(len(all)), weightsOf(size, weights))
		for rank, n := range rows {
			if distance(n, ends[rank+1]-ends[rank]) > 2*(x.share*paddingThousandths/2000) {
				t.Fatalf("rank %d has %d rows of %d", rank, n, ends[rank+1]-ends[rank])
			}
		}
		at = 0
		for i, g := range delivered.groups {
			differing := uint64(0)
			for row := at; row < at+int(g.total); row++ {
				differing |= all[row] ^ all[at]
			}
			if differing&^g.differing != 0 || g.first != 0 && delivered.groups[i-1].end != g.first {
				t.Fatalf("group %+v differs in %x", g, differing)
			}
			at += int(g.total)
		}
	})
}

// TestFuse: small neighbours are sorted together, others only if that takes no more time.
func TestFuse(t *testing.T) {
	devicetest.HostTest(t)
	buckets := make([]bucket, 256)
	for i := range buckets {
		buckets[i] = newBucket(uint64(i)<<24, 24, [][]uint64{{100, 100}})
	}
	d := divide(buckets, targets(51_200, weightsOf(2, nil)), 0xffffffff, 100, false)
	require.Equal(t, []boundary{{bucket: 128}}, d.boundaries)
	pieces := d.pieces(buckets)
	require.Len(t, fuse(pieces, buckets, 0xffffffff, 100, 0), 256)
	require.Len(t, fuse(pieces, buckets, 0xffffffff, 400, 0), 128)
	require.Len(t, fuse(pieces, buckets, 0xfffff, 100, 0), 2, "as many passes as one by one")
	require.Len(t, fuse(pieces, buckets, 0xffffffff, 100, 50), 256, "3 passes of 200 rows, twice, or 4 of 400")
	require.Len(t, fuse(pieces, buckets, 0xffffffff, 100, 250), 2, "dispatches take more than a further pass")
	for _, g := range fuse(pieces, buckets, 0xffffffff, 400, 0) {
		require.Equal(t, 25, bits.Len64(g.differing))
	}
	require.Equal(t, 4, passes(0xffffffff))
	require.Equal(t, 2, passes(0x1_80000000), "no digit lies in both words")
	require.Equal(t, 1, passes(0xff0000))
}
