package keys

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/kernel"
)

func TestRankOfSpecialFloats(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	require.Equal(t, uint64(1<<63), math.Float64bits(negativeZero), "the fixture must be -0")
	require.Equal(t, uint32(1<<31), math.Float32bits(float32(negativeZero)), "the fixture must be -0")
	for _, c := range []struct {
		bits64 uint64
		bits32 uint32
		rank64 int64
		rank32 int64
	}{
		{0, 0, 0, 0},
		{math.Float64bits(negativeZero), math.Float32bits(float32(negativeZero)), 0, 0},
		{1, 1, 1, 1},                         // smallest subnormal
		{1<<63 | 1, 1<<31 | 1, -1, -1},       // its negative
		{1 << 52, 1 << 23, 1 << 52, 1 << 23}, // smallest normal
		{math.Float64bits(math.MaxFloat64), math.Float32bits(math.MaxFloat32), kernel.Inf64 - 1, kernel.Inf32 - 1},
		{math.Float64bits(math.Inf(1)), math.Float32bits(float32(math.Inf(1))), kernel.Inf64, kernel.Inf32},
		{math.Float64bits(math.Inf(-1)), math.Float32bits(float32(math.Inf(-1))), -kernel.Inf64, -kernel.Inf32},
		{0x7ff8_0000_0000_0000, 0x7fc0_0000, kernel.Inf64 + 1, kernel.Inf32 + 1}, // quiet NaN
		{0x7ff0_0000_0000_0001, 0x7f80_0001, kernel.Inf64 + 1, kernel.Inf32 + 1}, // signalling NaN
		{0xfff8_0000_0000_0123, 0xffc0_0123, kernel.Inf64 + 1, kernel.Inf32 + 1}, // negative NaN with a payload
		{math.MaxUint64, math.MaxUint32, kernel.Inf64 + 1, kernel.Inf32 + 1},
	} {
		assert.Equal(t, c.rank64, kernel.Rank64(c.bits64), "%#x", c.bits64)
		assert.Equal(t, c.rank32, kernel.Rank32(c.bits32), "%#x", c.bits32)
	}
	assert.True(t, math.IsNaN(floatOf64(kernel.Inf64+1)))
	assert.True(t, math.IsNaN(float64(floatOf32(kernel.Inf32+1))))
}

func TestRanksAreTheFloatsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		rank := kernel.Rank64(math.Float64bits(f))
		require.Equal(t, f, floatOf64(rank))
		if f < math.MaxFloat64 {
			require.Equal(t, rank+1, kernel.Rank64(math.Float64bits(math.Nextafter(f, math.Inf(1)))))
		}
		g := rapid.Float32().Draw(t, "g")
		rank = kernel.Rank32(math.Float32bits(g))
		require.Equal(t, g, floatOf32(rank))
		if g < math.MaxFloat32 {
			require.Equal(t, rank+1, kernel.Rank32(math.Float32bits(math.Nextafter32(g, float32(math.Inf(1))))))
		}
	})
}

func TestEveryFloat16Widens(t *testing.T) {
	for bits := range 1 << 16 {
		got, want := math.Float32frombits(kernel.WidenHalf(uint16(bits))), float16Of(uint16(bits))
		switch want.beyond {
		case 2:
			require.True(t, math.IsNaN(float64(got)), "%#x", bits)
		case 0:
			exactly, _ := want.number.Float64()
			require.Equal(t, exactly, float64(got), "%#x", bits)
		default:
			require.True(t, math.IsInf(float64(got), want.beyond), "%#x", bits)
		}
	}
}

func TestIntegralFloats(t *testing.T) {
	for _, c := range []struct {
		f        float64
		domain   domain
		code     uint64
		integral bool
	}{
		{math.Copysign(0, -1), domainSigned, 0, true},
		{-1, domainSigned, math.MaxUint64, true},
		{-1 << 63, domainSigned, 1 << 63, true},
		{1 << 63, domainSigned, 0, false},
		{1 << 63, domainUnsigned, 1 << 63, true},
		{1 << 64, domainUnsigned, 0, false},
		{math.Nextafter(1<<64, 0), domainUnsigned, 1<<64 - 2048, true},
		{-1, domainUnsigned, 0, false},
		{0.5, domainSigned, 0, false},
		{-0.5, domainUnsigned, 0, false},
		{math.Inf(1), domainUnsigned, 0, false},
		{math.Inf(-1), domainSigned, 0, false},
		{math.NaN(), domainSigned, 0, false},
		{math.NaN(), domainUnsigned, 0, false},
	} {
		code, ok := integral(c.f, c.domain)
		assert.Equal(t, c.integral, ok, "%v", c.f)
		if ok {
			assert.Equal(t, c.code, code, "%v", c.f)
		}
	}
}

func TestFloatsMatchAcrossWidths(t *testing.T) {
	f16, f32, f64 := arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	half := single(f16, cell{raw: 0x3c00}, cell{raw: 0x8000}, cell{raw: 0xfe01}, cell{raw: 1}, cell{raw: 0xfc00})
	float := single(f32, cell{raw: uint64(math.Float32bits(1))}, cell{raw: 0}, cell{raw: 0x7f80_0001},
		cell{raw: uint64(math.Float32bits(0x1p-24))},
		cell{raw: uint64(math.Float32bits(0.1))})
	double := single(f64, cell{raw: math.Float64bits(1)}, cell{raw: 1 << 63}, cell{raw: math.Float64bits(math.NaN())},
		cell{raw: math.Float64bits(0x1p-24)},
		cell{raw: math.Float64bits(0.1)})
	for _, pair := range [][2]arrow.Table{{half, float}, {half, double}, {float, double}, {double, half}} {
		require.NoError(t, checkPlan(pair[0], pair[1], keyNames(1)))
	}
}
