package primitive_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// cascadeStarts are parts of a column: one, none, empty ones, short last blocks, more blocks than slots.
var cascadeStarts = [][]uint32{{0}, {0, 0}, {0, 1}, {0, 1024}, {0, 0, 1025, 1025, 7000}, {0, 5000, 5001, 20_000},
	manyParts()}

// manyParts are more parts than a subgroup has invocations, some of them empty.
func manyParts() (starts []uint32) {
	for i := range uint32(150) {
		starts = append(starts, 7*(i/3))
	}
	return append(starts, 2000, 2000, 5000)
}

// cascadeValues are runs of ascending values, and random ones between them.
func cascadeValues[V uint32 | uint64](random *rand.Rand, rows uint32) []V {
	column, value := make([]V, rows), V(random.Uint64())
	for i := range column {
		if random.IntN(4) == 0 {
			value += V(random.IntN(100))
		}
		if column[i] = value; i/2048%3 == 2 {
			column[i] = V(random.Uint64())
		}
	}
	return column
}

func TestCascade(t *testing.T) {
	forEach(t, func(r rig) {
		few, err := primitive.New(r.ops.Device(), primitive.Override(
			withSettings(r.ops.Tuning().Config("cascade", nil), backend.Config{"slots": 3}), "cascade"))
		require.NoError(r, err)
		random := rand.New(rand.NewPCG(21, 22))
		for i, starts := range cascadeStarts {
			for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
				if !devicetest.Full() && scheme != 7 && scheme != kernel.CascadeScheme(1+i) {
					continue // each scheme is a pipeline
				}
				testCascade[uint32](r, few, random, starts, scheme)
				testCascade[uint64](r, r.ops, random, starts, scheme)
			}
		}
	})
}

func withSettings(a, b backend.Config) backend.Config {
	merged := backend.Config{}
	for _, config := range []backend.Config{a, b} {
		for name, value := range config {
			merged[name] = value
		}
	}
	return merged
}

func testCascade[V uint32 | uint64](r rig, ops *primitive.Ops, random *rand.Rand, starts []uint32,
	scheme kernel.CascadeScheme) {
	rows := starts[len(starts)-1]
	in := cascadeValues[V](random, rows)
	width := len(backend.AsBytes([]V{0}))
	p, err := primitive.PlanCascadeEncode(ops.Tuning(), starts, width, scheme)
	require.NoError(r, err)

	// What the blocks are, one by one.
	wantPayload, wantDirectory, wantSizes := []uint32{}, []uint32{0}, []uint32{}
	var blocks []uint32
	for block := range p.Blocks {
		first, count := kernel.CascadeRows(p.Parts, block)
		slot := make([]uint32, kernel.CascadeSlotWords(uint32(width)))
		size := kernel.EncodeCascade(slot, in[first:first+count], scheme)
		wantPayload = append(wantPayload, slot[:size]...)
		wantDirectory = append(wantDirectory, uint32(len(wantPayload)))
		sizes := kernel.SizeCascade(in[first : first+count])
		blocks, wantSizes = append(blocks, first, count), append(wantSizes, sizes[:]...)
	}

	const marker = 0xdeadbeef
	source, parts := column(r, append(slices.Clone(in), 0)), column(r, p.Parts)
	payload, directory := r.empty(p.PayloadBytes+8), r.empty(p.DirectoryBytes+4)
	scratch, sizes := r.empty(p.ScratchBytes+4), r.empty(uint64(4*len(wantSizes)+4))
	sampled := column(r, append(blocks, 0))
	r.run(func(list *backend.List) error {
		if err := ops.CascadeSizes(list, width, source.All(), sampled.All(), sizes.All(), p.Blocks); err != nil {
			return err
		}
		return ops.CascadeEncode(list, &p, &primitive.CascadeBuffers{Values: source.All(), Parts: parts.All(),
			Directory: directory.All(), Payload: payload.All(), Scratch: scratch.All()})
	})
	require.Equal(r, append(wantSizes, marker), values[uint32](r, sizes.All(), len(wantSizes)+1))
	require.Equal(r, append(wantDirectory, marker), values[uint32](r, directory.All(), len(wantDirectory)+1))
	got := values[uint32](r, payload.All(), int(p.PayloadBytes/4)+1)
	require.Equal(r, append(wantPayload, marker), got[:len(wantPayload)+1], "%v", scheme)

	decoding, err := primitive.PlanCascadeDecode(ops.Tuning(), starts, width, uint64(4*len(wantPayload)))
	require.NoError(r, err)
	decoded, status := r.empty(uint64(rows)*uint64(width)+8), r.empty(4)
	decode := func(payload backend.Range) {
		r.run(func(list *backend.List) error {
			return ops.CascadeDecode(list, &decoding, &primitive.CascadeBuffers{Values: decoded.All(),
				Parts: parts.All(), Directory: directory.All(), Payload: payload, Status: status.All()})
		})
	}
	decode(payload.All())
	require.Equal(r, in, values[V](r, decoded.All(), int(rows)), "%v", scheme)
	require.Equal(r, []uint32{marker}, values[uint32](r, decoded.Range(uint64(rows)*uint64(width), 4), 1))
	require.Equal(r, []uint32{0}, values[uint32](r, status.All(), 1))
	if p.Blocks == 0 {
		return
	}
	wrong := random.Uint32N(p.Blocks)
	wantPayload[wantDirectory[wrong]] |= 127 << 3 // a width that no value has
	decode(column(r, wantPayload).All())
	require.Equal(r, []uint32{wrong + 1}, values[uint32](r, status.All(), 1))
}

func TestPlanCascadeLimits(t *testing.T) {
	_, err := primitive.PlanCascadeEncode(nil, []uint32{0, math.MaxUint32 - 1}, 8, 7)
	require.ErrorIs(t, err, backend.ErrLimit)
	_, err = primitive.PlanCascadeDecode(nil, []uint32{0, 5}, 8, 1<<34)
	require.ErrorIs(t, err, backend.ErrLimit)
	p, err := primitive.PlanCascadeEncode(nil, []uint32{0, 1 << 30}, 8, 7)
	require.NoError(t, err)
	require.Less(t, p.ScratchBytes, uint64(130<<20))
	require.EqualValues(t, 8<<30+4<<20, p.PayloadBytes)
}
