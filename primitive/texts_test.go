package primitive_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Hashes of texts, some of several pieces, equal the host's. Only pairs with equal texts stay, and their rows are
// marked.
func TestTexts(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(15, 16))
		for _, rows := range r.sizesAround("texts") {
			texts, starts := make([]string, rows), []uint32{0}
			for i := range texts {
				size := random.IntN(40)
				if i%1000 == 7 {
					size = 3*kernel.TextPiece - 20 + random.IntN(40)
				}
				texts[i] = strings.Repeat(string(rune('a'+random.IntN(3))), size)
				starts = append(starts, starts[i]+uint32(size))
			}
			all := []byte(strings.Join(texts, "") + strings.Repeat("#", kernel.TextPadding+3))
			bytes := column(r, backend.Words(append(make([]byte, 0, len(all)), all[:len(all)&^3]...)))
			on := primitive.Texts{Bytes: bytes.All(), Starts: column(r, starts).All(), Longest: 3*kernel.TextPiece + 20}
			hashes, states := r.empty(uint64(rows+1)*8), r.empty(uint64(rows+1)*8)
			ids, others, want := make([]uint32, rows), make([]uint32, rows), make([]uint64, rows)
			keep, marks := make([]uint32, (rows+31)/32), make([]uint32, (rows+31)/32)
			for i := range ids {
				ids[i], others[i] = uint32(random.IntN(rows)), uint32(random.IntN(rows))
				if i%3 == 0 {
					others[i] = ids[i]
				}
				want[i] = kernel.HashText(texts[i])
				if texts[ids[i]] == texts[others[i]] {
					keep[i/32] |= 1 << (i % 32)
					marks[others[i]/32] |= 1 << (others[i] % 32)
				}
			}
			left := primitive.TextRows{Texts: &on, IDs: column(r, ids).All()}
			right := primitive.TextRows{Texts: &on, IDs: column(r, others).All()}
			kept, marked := r.empty(uint64(len(keep)+1)*4), r.empty(uint64(len(marks)+1)*4)
			r.run(func(list *backend.List) error {
				to := primitive.TextHashes{Hashes: hashes.All(), States: states.All(), Kept: math.MaxUint64}
				if err := r.ops.HashTexts(list, &on, to, uint64(rows)); err != nil {
					return err
				}
				list.Fill(kept.All(), math.MaxUint32)
				list.Fill(marked.All(), 0)
				if err := r.ops.CompareTexts(list, left, right, kept.All(), uint64(rows)); err != nil {
					return err
				}
				return r.ops.MarkKept(list, kept.All(), right.IDs, marked.All(), uint64(rows))
			})
			require.Equal(r, want, values[uint64](r, hashes.All(), rows))
			got := values[uint32](r, kept.All(), len(keep))
			if rows%32 > 0 {
				got[len(got)-1] &= 1<<(rows%32) - 1
			}
			require.Equal(r, keep, got)
			require.Equal(r, marks, values[uint32](r, marked.All(), len(marks)))
		}
	})
}
