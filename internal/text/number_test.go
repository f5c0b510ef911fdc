package text

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 1<<20 - 1: "1.0 MiB",
		25_165_824_000: "23.4 GiB", 1<<64 - 1: "16384.0 PiB",
	} {
		require.Equal(t, want, Bytes(n))
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 6_001_215: "6,001,215", -100: "-100", -1000: "-1,000",
	} {
		require.Equal(t, want, Count(n))
	}
}

func TestRate(t *testing.T) {
	for want, v := range map[string]float64{
		"0.00 /s": 0, "999 /s": 999, "1.00 k/s": 999.6,
		"27.1 G/s": 27.1e9, "1234 T/s": 1.234e15, "100 M/s": 99.97e6,
	} {
		require.Equal(t, want, Rate(v, ""))
	}
	require.Equal(t, "3.90 TB/s", Rate(3.9e12, "B"))
}

func TestLimit(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0KiB", 1: "1KiB", 1 << 10: "1KiB", 1<<10 + 1: "2KiB", 1023 << 10: "1023KiB", 1023<<10 + 1: "1MiB",
		1 << 20: "1MiB", 1<<20 + 1: "2MiB", 1<<64 - 1: "17592186044416MiB",
	} {
		require.Equal(t, want, Limit(n))
	}
}

func TestPlural(t *testing.T) {
	require.Equal(t, "1 row", Plural(1, "row"))
	require.Equal(t, "0 rows", Plural(0, "row"))
	require.Equal(t, "2,000 rows", Plural(uint64(2000), "row"))
	require.Equal(t, "3 batches", Plural(3, "batch"))
	require.Equal(t, "1 pass", Plural(1, "pass"))
	require.Equal(t, "3 passes", Plural(3, "pass"))
}

func TestRows(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 512: "512", 1 << 10: "2^10", 1<<10 + 1: "1025", 1 << 63: "2^63"} {
		require.Equal(t, want, Rows(n))
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.00 us", 999: "1.00 us", 12_340: "12.3 us", 123_456: "123 us", 1_234_000: "1.23 ms", 99_960_000: "100 ms",
		time.Second: "1.00 s", 90 * time.Minute: "5400.00 s",
	} {
		require.Equal(t, want, Duration(d))
	}
}

func TestOneLine(t *testing.T) {
	require.Equal(t, "a; b·c", OneLine("a\r\nb\x1bc\n"))
}
