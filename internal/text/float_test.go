package text

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAppendFloat(t *testing.T) {
	for v, want := range map[float64]string{
		1250000.75: "1250000.75", 12345678: "12345678.0", 0.1: "0.1", -2.5: "-2.5", 123456789012345.67: "123456789012345.67",
		1e14: "100000000000000.0", 1e15: "1e+15", 1234567890123456789: "1.2345678901234568e+18", 0: "0.0",
		math.Copysign(0, -1): "-0.0", 0.0001: "0.0001", 1e-5: "0.00001", -0.0000123: "-0.0000123", 1e-6: "1e-06", 9.9e-6: "9.9e-06",
		math.Inf(1): "Inf", math.Inf(-1): "-Inf", 1e300: "1e+300", math.SmallestNonzeroFloat64: "5e-324",
	} {
		require.Equal(t, want, string(AppendFloat(nil, v, 64)))
	}
	require.Equal(t, "x NaN", string(AppendFloat([]byte("x "), math.NaN(), 64)))
	for v, want := range map[float32]string{0.1: "0.1", 1250000.75: "1250000.8", 16777216: "16777216.0", 1e-5: "0.00001",
		3e-6: "3e-06", 3e20: "3e+20"} {
		require.Equal(t, want, string(AppendFloat(nil, float64(v), 32)))
	}
}

func TestAppendFloatIsReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v, narrow := rapid.Float64().Draw(rt, "v"), rapid.Float32().Draw(rt, "narrow")
		back, err := strconv.ParseFloat(string(AppendFloat(nil, v, 64)), 64)
		require.NoError(rt, err)
		require.Equal(rt, math.Float64bits(v), math.Float64bits(back))
		back, err = strconv.ParseFloat(string(AppendFloat(nil, float64(narrow), 32)), 32)
		require.NoError(rt, err)
		require.Equal(rt, math.Float32bits(narrow), math.Float32bits(float32(back)))
	})
}
