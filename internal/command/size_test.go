package command

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "1": 1, "4096": 4096, "12B": 12, "512MiB": 512 << 20, "2GiB": 2 << 30, "2gib": 2 << 30,
		"1.5GB": 1_500_000_000, "1.5 GiB": 3 << 29,
		"1_000KB": 1_000_000, "0.1KiB": 102, "8388607TiB": 8388607 << 40, "9223372036854775807": 9223372036854775807,
	} {
		var v Size
		require.NoError(t, v.Set(text), text)
		require.Equal(t, want, uint64(v), text)
	}
	for text, want := range map[string]string{
		"":                     "give a number of bytes, as in 512MiB, 1.5GB or 4096",
		"big":                  "give a number of bytes",
		"-1":                   "give a number of bytes",
		"1.5":                  "give a whole number of bytes",
		"2G":                   `unit "G" can mean two things; write GB (powers of 1000) or GiB (powers of 1024)`,
		"2m":                   `unit "m" can mean two things; write mB (powers of 1000) or miB (powers of 1024)`,
		"2 parsecs":            `unit "parsecs" is unknown`,
		"8388608TiB":           "the number is too large",
		"9223372036854775808":  "the number is too large",
		"99999999999999999999": "the number is too large",
	} {
		var v Size
		require.ErrorContains(t, v.Set(text), want, text)
	}
}

func TestRows(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "5000000": 5_000_000, "10M": 10_000_000, "1.5k": 1500,
		"3G": 3_000_000_000, "1Mi": 1 << 20, "2^0": 1, "2^27": 1 << 27, "2^63": 1 << 63} {
		var v Rows
		require.NoError(t, v.Set(text), text)
		require.Equal(t, want, uint64(v), text)
	}
	for _, text := range []string{"", "2^64", "2^", "2^-1", "1.5", "10MB", "many", "1e6"} {
		var v Rows
		require.Error(t, v.Set(text), text)
	}
}

func TestRowsReadsWhatItWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<62).Draw(t, "rows")
		var v Rows
		require.NoError(t, v.Set(strconv.FormatUint(n, 10)))
		require.Equal(t, n, uint64(v))
		require.Equal(t, fmt.Sprint(n), v.String())
	})
}
