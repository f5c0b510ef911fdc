package keys

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBitmaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bitmap := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bitmap")
		offset := rapid.IntRange(0, 8*len(bitmap)).Draw(t, "offset")
		n := rapid.IntRange(0, 8*len(bitmap)-offset).Draw(t, "n")
		at := rapid.IntRange(0, 130).Draw(t, "at")
		words := fullBits(at + n + rapid.IntRange(0, 70).Draw(t, "behind"))
		for i := range len(words) * 64 {
			if i%5 == 3 {
				clearBit(words, i)
			}
		}
		before := append([]uint64(nil), words...)
		andBits(words, at, bitmap, offset, n)
		var set []uint32
		for i := range len(words) * 64 {
			want := hasBit(before, i)
			if i >= at && i < at+n {
				want = want && bitutil.BitIsSet(bitmap, offset+i-at)
			}
			require.Equal(t, want, hasBit(words, i), "bit %d", i)
			if want {
				set = append(set, uint32(i+1000))
			}
		}
		require.Equal(t, len(set), countBits(words))
		listed := make([]uint32, len(set))
		require.Equal(t, len(set), listBits(listed, 1000, words))
		require.Equal(t, append([]uint32{}, set...), listed)
	})
}
