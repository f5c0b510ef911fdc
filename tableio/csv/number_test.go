package csv

import (
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawNumber draws what looks like a number, and what almost does.
func drawNumber(t *rapid.T) []byte {
	pattern := rapid.SampledFrom([]string{
		`-?[0-9]{1,8}`, `-?[0-9]{1,20}`, `-?[0-9]{1,6}\.[0-9]{0,4}`, `-?[0-9]{0,16}\.[0-9]{0,16}`, `[-+]?[0-9.]{0,20}`,
		`-?[0-9]{1,3}(\.[0-9]+)?[eE][-+]?[0-9]{1,3}`, `[0-9/:.\-+eE_xXnNaif]{0,9}`,
		`-?(9223372036854775807|18446744073709551615|0)`,
	}).Draw(t, "pattern")
	text := rapid.StringMatching(pattern).Draw(t, "text")
	if rapid.Bool().Draw(t, "padded") { // as in a block, where a word can be read
		return append([]byte(text), "\n\n\n\n\n\n\n\n"...)[:len(text)]
	}
	return []byte(text)[:len(text):len(text)]
}

// The parsers accept what strconv accepts and give the same values.
func TestNumbersAreReadAsStrconvDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := drawNumber(rt)
		signed, err := strconv.ParseInt(string(text), 10, 64)
		gotSigned, ok := parseInt(text)
		require.Equal(rt, err == nil, ok, "%q", text)
		if ok {
			require.Equal(rt, signed, gotSigned, "%q", text)
		}
		unsigned, err := strconv.ParseUint(string(text), 10, 64)
		gotUnsigned, ok := parseUint(text)
		require.Equal(rt, err == nil, ok, "%q", text)
		if ok {
			require.Equal(rt, unsigned, gotUnsigned, "%q", text)
		}
		float, err := strconv.ParseFloat(string(text), 64)
		gotFloat, ok := parseFloat64(text)
		require.Equal(rt, err == nil, ok, "%q", text)
		if ok {
			require.Equal(rt, math.Float64bits(float), math.Float64bits(gotFloat), "%q", text)
		}
	})
}

// The short way of reading decimals gives what the long one gives.
func TestShortDecimals(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := drawNumber(rt)
		scale := rapid.IntRange(0, 20).Draw(rt, "scale")
		if short, ok := parseShortDecimal(text, scale); ok {
			long, ok := parseLongDecimal(text, int32(scale))
			require.True(rt, ok, "%q with scale %d", text, scale)
			require.Equal(rt, long, decimal128.FromI64(short), "%q with scale %d", text, scale)
		}
	})
	v, ok := parseShortDecimal([]byte("-12.5"), 2)
	require.True(t, ok)
	require.Equal(t, int64(-1250), v)
}

// What the cheap tests accept, all candidates hold.
func TestCheapTestsOfInference(t *testing.T) {
	sets := []kindSet{kindsAll, kindFloat64, kindInt64 | kindUint64 | kindFloat64, kindInt64 | kindFloat64,
		kindDate | kindTimestampMicro | kindTimestampNano, kindTimestampMicro | kindTimestampNano, kindTimestampMicro}
	accepted := map[kindSet]int{}
	property := func(rt *rapid.T) {
		text := drawNumber(rt)
		if rapid.Bool().Draw(rt, "date") {
			text = []byte(rapid.StringMatching(`(1[6-9]|2[0-2])[0-9]{2}-0[1-9]-[0-2][0-9]`).Draw(rt, "text"))
		}
		for _, candidates := range sets {
			if holdsAll(candidates)(text) {
				accepted[candidates]++
				require.Equal(rt, candidates, kindsOf(text, candidates), "%q", text)
			}
		}
	}
	for _, text := range []string{"--0", "--1.5", "-", "-.", "+1", ""} {
		require.False(t, isShortNumber([]byte(text)), "%q", text)
	}
	for range 5 { // a fifth of the draws under go test -short would not find all of them
		rapid.Check(t, property)
	}
	require.Len(t, accepted, len(sets)-1, "the set of all types has no cheap test, all others have")
}
