package keys

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// FuzzKeyCodes reads two columns of comparable types from bytes and checks their codes against the oracle. A header of
// four bytes holds the group (plus 64: NULL equals NULL, plus 128: a dictionary), the two types, and the number of left
// rows. Values of nine bytes follow: a byte of flags (1: null, 2: wide, 4: end of the chunk) and eight bytes of bits.
func FuzzKeyCodes(f *testing.F) {
	seed := func(header [4]byte, values ...uint64) {
		data := header[:]
		for _, v := range values {
			data = binary.LittleEndian.AppendUint64(append(data, byte(v>>60)&7), v)
		}
		f.Add(data)
	}
	seed([4]byte{0, 3, 7, 2}, math.MaxUint64, 1, math.MaxUint64, 1) // int64, uint64
	seed([4]byte{1, 3, 10, 2},                                      // int64, float64
		1<<53, 1<<53+1, math.Float64bits(1<<53), math.Float64bits(0.5), 1<<63)
	seed([4]byte{1, 8, 9, 3}, 0x8000, 0x3c00, 0xfe01, 0x8000_0000, 0x3f80_0000, 0x7f80_0001) // float16, float32
	seed([4]byte{0, 10, 13, 1}, 1234500, 12345)                                              // decimals
	seed([4]byte{2, 0, 5, 2}, 106751, 106752, 9_223_286_400_000_000_000, math.MaxInt64)      // date32, timestamp[ns]
	seed([4]byte{2 | 128, 1, 2, 1}, 86_400_000, 86_400)                                      // dictionary on the left
	seed([4]byte{2 | 64, 2, 5, 2}, 5, 1<<60|7, 5e9, 1<<60, 5e9+1)                            // timestamp[s, ns], NULLs
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 {
			return
		}
		group := relationtest.KeyTypes[int(data[0]&63)%len(relationtest.KeyTypes)]
		types := [2]arrow.DataType{group[int(data[1])%len(group)], group[int(data[2])%len(group)]}
		if data[0]&128 != 0 {
			types[relation.Left] = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: types[relation.Left]}
		}
		leftRows, nullsEqual := int(data[3]), data[0]&64 != 0
		var cells [2][]cell
		var cuts [2][]int
		for data = data[4:]; len(data) >= 9 && len(cells[relation.Left])+len(cells[relation.Right]) < 200; data = data[9:] {
			side := relation.Right
			if len(cells[relation.Left]) < leftRows {
				side = relation.Left
			}
			cells[side] = append(cells[side], cell{raw: binary.LittleEndian.Uint64(data[1:]), null: data[0]&1 != 0,
				wide: data[0]&2 != 0})
			if data[0]&4 != 0 {
				cuts[side] = append(cuts[side], len(cells[side]))
			}
		}
		left := tableOf([]arrow.Array{columnOf(types[relation.Left], cells[relation.Left], leftRows%11)}, cuts[:1])
		right := tableOf([]arrow.Array{columnOf(types[relation.Right], cells[relation.Right], leftRows%7)}, cuts[1:])
		require.NoError(t, checkPlan(left, right, keyNames(1), nullsEqual))
	})
}
