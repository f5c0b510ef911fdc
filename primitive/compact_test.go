package primitive_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// bitmap draws rows bits of which about permille in a thousand are set; those behind the last row are set or not.
func bitmap(random *rand.Rand, rows, permille int) (bits []bool, words []uint32) {
	bits, words = make([]bool, rows), make([]uint32, (rows+31)/32)
	for i := range len(words) * 32 {
		set := random.IntN(1000) < permille
		if i >= rows {
			set = i%2 == 0
		}
		if set {
			words[i/32] |= 1 << (i % 32)
		}
		if i < rows {
			bits[i] = set
		}
	}
	return bits, words
}

func TestCompact(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(11, 12))
		sizes := r.sizesAround("compact")
		if tile := int(kernel.TileRows(kernel.Named(r.ops.Tuning().Config("compact", nil)))); tile <= 256 {
			sizes = append(sizes, tile*tile+1) // more than one level of sums
		}
		for _, rows := range sizes {
			for _, permille := range []int{0, 5, 500, 1000} {
				bits, words := bitmap(random, rows, permille)
				p, err := primitive.PlanCompact(r.ops.Tuning(), uint64(rows))
				require.NoError(r, err)
				p.Inverted = random.IntN(2) == 0
				in32, in64 := make([]uint32, rows), make([]uint64, rows)
				want32, want64, wantIDs, wantKeys := []uint32{}, []uint64{}, []uint32{}, []uint64{}
				for i, set := range bits {
					in32[i], in64[i] = random.Uint32(), random.Uint64()
					if set != p.Inverted {
						want32, want64, wantIDs = append(want32, in32[i]), append(want64, in64[i]),
							append(wantIDs, uint32(i))
						wantKeys = append(wantKeys, kernel.Unmix(in64[i], 5))
					}
				}
				n := len(wantIDs)
				bitmap, c32, c64, scratch := column(r, words), column(r, in32), column(r, in64), r.empty(p.ScratchBytes)
				out32, out64, outIDs := r.empty(uint64(n+4)*4), r.empty(uint64(n+4)*8), r.empty(uint64(n+4)*4)
				outKeys := r.empty(uint64(n+4) * 8)
				r.run(func(list *backend.List) error {
					for _, err := range []error{
						r.ops.CompactOffsets(list, p, bitmap.All(), scratch.All()),
						r.ops.Compact(list, p, 4, bitmap.All(), c32.All(), out32.All(), scratch.All()),
						r.ops.Compact(list, p, 8, bitmap.All(), c64.All(), out64.All(), scratch.All()),
						r.ops.Compact(list, p, 4, bitmap.All(), backend.Range{}, outIDs.All(), scratch.All()),
						r.ops.CompactMixed(list, p, 8, 5, bitmap.All(), c64.All(), outKeys.All(), scratch.All()),
					} {
						if err != nil {
							return err
						}
					}
					return nil
				})
				require.Equal(r, []uint64{uint64(n)}, values[uint64](r, scratch.Range(p.CountOffset, 8), 1),
					"%d rows, %d permille, inverted %t", rows, permille, p.Inverted)
				counting, err := primitive.PlanCountBits(r.ops.Tuning(), uint64(rows))
				require.NoError(r, err)
				counting.Inverted = p.Inverted
				sums := r.empty(counting.ScratchBytes)
				r.run(func(list *backend.List) error {
					return r.ops.CountBits(list, counting, bitmap.All(), sums.All())
				})
				require.Equal(r, []uint64{uint64(n)}, values[uint64](r, sums.Range(counting.CountOffset, 8), 1),
					"%d rows, %d permille, inverted %t", rows, permille, p.Inverted)
				const marker = 0xdeadbeef // nothing is written behind the last row kept
				require.Equal(r, append(want32, marker), values[uint32](r, out32.All(), n+1))
				require.Equal(r, append(want64, marker<<32|marker), values[uint64](r, out64.All(), n+1))
				require.Equal(r, append(wantKeys, marker<<32|marker), values[uint64](r, outKeys.All(), n+1))
				require.Equal(r, append(wantIDs, marker), values[uint32](r, outIDs.All(), n+1))
			}
		}
	})
}

func TestTuningRefused(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for name, c := range map[string]backend.Config{
			"scan":    {"workgroup": 1, "items": 1, "serial": 0},
			"reduce":  {"workgroup": 8, "items": 1, "serial": 1},
			"compact": {"workgroup": 0, "items": 1},
		} {
			_, err := primitive.New(device, primitive.Override(c, name))
			require.ErrorIs(t, err, backend.ErrInvalidInput, name)
		}
		for name, c := range map[string]backend.Config{
			"copy":    {"workgroup": 2, "items": 1},
			"scan":    {"workgroup": 64, "items": 33, "serial": 0},
			"compact": {"workgroup": 64, "items": 33, "serial": 0},
		} {
			_, err := primitive.New(device, primitive.Override(c, name))
			if device.Info().Type == backend.Host {
				require.NoError(t, err, name)
			} else {
				require.ErrorIs(t, err, backend.ErrInvalidInput, name)
			}
		}
	})
}

func TestPlansRefuse(t *testing.T) {
	tuning := primitive.Override(backend.Config{"serial": 1, "workgroup": 8, "items": 32})
	const rows = primitive.MaxRows + 1
	_, err := primitive.PlanCompact(tuning, rows)
	require.ErrorIs(t, err, backend.ErrLimit)
	_, err = primitive.PlanCountBits(tuning, rows)
	require.ErrorIs(t, err, backend.ErrLimit)
}
