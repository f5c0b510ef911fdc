package primitive_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

func TestCopy(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(7, 8))
		for _, words := range r.sizesAround("copy") {
			source := make([]uint32, words+200)
			for i := range source {
				source[i] = random.Uint32()
			}
			from := column(r, source)
			for _, offsets := range [][2]uint64{{0, 0}, {4, 8}, {65, 129}, {3, 64}, {100, 101}} { // in words
				to := r.empty(uint64(len(source)) * 4)
				size := uint64(words) * 4
				r.run(func(list *backend.List) error {
					return r.ops.Copy(list, to.Range(offsets[1]*4, size), from.Range(offsets[0]*4, size))
				})
				want := slices.Repeat([]uint32{0xdeadbeef}, len(source))
				copy(want[offsets[1]:], source[offsets[0]:int(offsets[0])+words])
				require.Equal(r, want, values[uint32](r, to.All(), len(source)), "%d words from %d to %d", words,
					offsets[0], offsets[1])
			}
		}
	})
}

// A copy of more than 4 GiB: every byte belongs to exactly one dispatch, and a dispatch counts in 32 bits.
func TestCopyInPieces(t *testing.T) {
	forEach(t, func(r rig) {
		const size, first = 9<<30 + 20, 1<<40 + 8 // the ranges have no memory: the list is not run
		ops, err := primitive.New(r.device,
			primitive.Override(backend.Config{"engine": 0, "workgroup": 64, "items": 32}, "copy"))
		require.NoError(r, err)
		var list backend.List
		require.NoError(r, ops.Copy(&list, backend.Range{OffsetBytes: first, SizeBytes: size},
			backend.Range{OffsetBytes: 12, SizeBytes: size}))
		var done uint64
		for _, c := range list.Commands {
			require.Equal(r, 12+done, c.Args[0].OffsetBytes+uint64(c.Params[1])*4)
			require.Equal(r, first+done, c.Args[1].OffsetBytes+uint64(c.Params[2])*4)
			require.Zero(r, (c.Args[0].OffsetBytes|c.Args[1].OffsetBytes)%backend.PlanAlignment)
			sizeBytes := uint64(c.Params[0]) * 4
			require.Equal(r, sizeBytes, c.Args[1].SizeBytes-uint64(c.Params[2])*4)
			require.GreaterOrEqual(r, uint64(c.EndGroup)*64*32*4, sizeBytes)
			done += sizeBytes
		}
		require.Equal(r, uint64(size), done)
	})
}

func TestCopyRefuses(t *testing.T) {
	forEach(t, func(r rig) {
		b := r.empty(1024)
		for name, ranges := range map[string][2]backend.Range{
			"sizes":    {b.Range(0, 256), b.Range(512, 260)},
			"no words": {b.Range(0, 255), b.Range(512, 255)},
			"offset":   {b.Range(2, 256), b.Range(512, 256)},
			"overlap":  {b.Range(0, 256), b.Range(252, 256)},
		} {
			var list backend.List
			require.ErrorIs(r, r.ops.Copy(&list, ranges[0], ranges[1]), backend.ErrInvalidInput, name)
			require.Empty(r, list.Commands)
		}
	})
}
