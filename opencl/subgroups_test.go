//go:build opencl && linux

package opencl

import (
	"errors"
	"testing"

	"github.com/jgillich/go-opencl/cl"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// TestProof: results of subgroups of several sizes pass, and any wrong one is found.
func TestProof(t *testing.T) {
	for _, size := range []uint32{4, 32, 64} {
		got := proofResultsOf(size)
		require.NoError(t, checkProof(got, 4, 64))
		require.ErrorContains(t, checkProof(got, 2*size, 128), "invocations, not")
		for _, at := range []int{5, 19, len(got)/2 + 7, len(got) - 1} {
			got[at] ^= 1 << 30
			require.ErrorContains(t, checkProof(got, 4, 64), "of the proof is", at)
			got[at] ^= 1 << 30
		}
	}
}

// proofResultsOf computes each result of subgroup_proof.cl by itself.
func proofResultsOf(size uint32) (results []uint32) {
	one := func(set bool) uint32 {
		if set {
			return 1
		}
		return 0
	}
	valueOf := func(id, round uint32) uint32 {
		value := id * 2654435769
		for range round * (id % size % 7) {
			value = value*1664525 + 1013904223
		}
		return value
	}
	for id := range uint32(proofWorkgroup * proofWorkgroups) {
		for round := range uint32(2) {
			lane := id % size
			at := func(other uint32) uint32 { return valueOf(id-lane+other, round) }
			set := func(other uint32) bool { return at(other)>>27&3 == 1 }
			r := [proofResults]uint32{size, lane, id % proofWorkgroup / size, proofWorkgroup / size, one(lane == 0)}
			r[6] = 1
			for other := range size {
				if at(other) == 0 {
					r[5], r[6] = 1, 0
				}
				if set(other) {
					r[7] |= one(other < 32) << (other % 32)
					r[8]++
					r[9] += one(other < lane)
					r[11] = other
				}
				r[12] |= one(other < lane && other < 32) << (other % 32)
				r[16] += at(other)
				r[18] = max(r[18], at(other))
				if other < lane {
					r[17] += at(other)
					r[19] = max(r[19], at(other))
				}
			}
			for other := size; other > 0; other-- {
				if set(other - 1) {
					r[10] = other - 1
				}
			}
			r[13], r[14], r[15] = at((lane*5+3)%size), at(lane^2), at(1)
			results = append(results, r[:]...)
		}
	}
	return results
}

// singles are subgroups of one invocation.
const singles = `
#define subgroup_size() 1u
#define subgroup_local_id() 0u
#define subgroup_id() ((uint)get_local_id(0))
#define subgroup_count() WORKGROUP
#define subgroup_barrier()
#define subgroup_elect() true
#define subgroup_any(a) (a)
#define subgroup_all(a) (a)
#define subgroup_ballot(a) ((uint4)((a), 0u, 0u, 0u))
#define subgroup_ballot_bit_count(a) (a).x
#define subgroup_ballot_exclusive_bit_count(a) 0u
#define subgroup_ballot_find_lsb(a) 0u
#define subgroup_ballot_find_msb(a) 0u
#define subgroup_lt_mask() ((uint4)0u)
#define subgroup_shuffle(a, lane) (a)
#define subgroup_shuffle_xor(a, mask) (a)
#define subgroup_broadcast(a, lane) (a)
#define subgroup_add(a) (a)
#define subgroup_exclusive_add(a) 0u
#define subgroup_max(a) (a)
#define subgroup_exclusive_max(a) 0u
`

// TestWrongSubgroups: a device whose subgroup operations fail the proof is used without them.
func TestWrongSubgroups(t *testing.T) {
	for want, prelude := range map[string]string{
		"wrong subgroup operations: subgroups have 1 invocations, not 4 to 4": singles,
		"wrong subgroup operations: CL_BUILD_PROGRAM_FAILURE":                 "#error none\n",
	} {
		b, err := New(Options{CacheDir: "off"})
		if errors.Is(err, backend.ErrNoDevice) {
			t.Skip(err)
		}
		require.NoError(t, err)
		p := b.found[0]
		p.prelude, p.language = prelude, "CL1.2"
		p.info.Subgroups, p.info.MinSubgroupSize, p.info.MaxSubgroupSize = true, 4, 4
		d, err := b.Open(p.info.ID)
		require.NoError(t, err)
		require.False(t, d.Info().Subgroups)
		require.EqualValues(t, 1, d.Info().SubgroupSize)
		require.Contains(t, d.Info().Features[len(d.Info().Features)-1], want)
		config, err := kernel.Defaults(kernel.ScanTiles.KernelSpec, backend.Config{"in_bits": 32, "sum_bits": 32,
			"serial": 0, "shared": 1})
		require.NoError(t, err)
		_, err = d.Compile(kernel.ScanTiles.KernelSpec, config)
		require.NoError(t, err)
		config["shared"] = 0
		_, err = d.Compile(kernel.ScanTiles.KernelSpec, config)
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, "scan_tiles: this variant needs subgroups") // the log of the build
		var failed *backend.OpError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "scan_tiles", failed.Kernel)
		require.NoError(t, d.Close())
		require.NoError(t, b.Close())
	}
}

// TestInPlace: a device that uses memory of the host in place proves it, and one that has a copy is found out.
func TestInPlace(t *testing.T) {
	b, err := New(Options{CacheDir: "off"})
	if errors.Is(err, backend.ErrNoDevice) {
		t.Skip(err)
	}
	require.NoError(t, err)
	p := b.found[len(b.found)-1]
	if p.info.Type != backend.Software {
		t.Skip("no software driver")
	}
	open := func() *driver {
		d, err := b.Open(p.info.ID)
		require.NoError(t, err)
		return d.(*driver)
	}
	d := open()
	require.NoError(t, d.proveInPlace(cl.MemUseHostPtr))
	require.ErrorContains(t, d.proveInPlace(cl.MemCopyHostPtr), "word 0 is 0x0, not 0x1")
	require.NoError(t, d.Close())

	p.info.Type = backend.Integrated
	d = open()
	require.True(t, d.Info().Unified, "proved")
	require.NoError(t, d.Close())
	p.direct, p.copies = false, errors.New("planted")
	d = open()
	require.False(t, d.Info().Unified)
	require.Zero(t, d.Info().Limits.ImportAlignment)
	require.Contains(t, d.Info().Features, "no memory of the host in place: planted")
	block, err := d.AllocateBlock(1<<20, backend.DeviceLocal)
	require.NoError(t, err)
	require.Nil(t, block.Bytes())
	require.NoError(t, block.Free())
	require.NoError(t, d.Close())
	require.NoError(t, b.Close())
}
