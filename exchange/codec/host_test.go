package codec_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/kernel"
)

// columns are what layers suit, and what breaks them.
var columns = map[string]func(r *rand.Rand, row uint64) uint64{
	"equal":       func(_ *rand.Rand, _ uint64) uint64 { return 77 },
	"distinct":    func(_ *rand.Rand, row uint64) uint64 { return row },
	"random":      func(r *rand.Rand, _ uint64) uint64 { return r.Uint64() },
	"alternating": func(_ *rand.Rand, row uint64) uint64 { return -(row % 2) },
	"extremes": func(_ *rand.Rand, row uint64) uint64 {
		return [4]uint64{0, 1 << 63, math.MaxInt64, math.MaxUint64}[row%4]
	},
	"wrapping":   func(_ *rand.Rand, row uint64) uint64 { return row * 0x9e3779b97f4a7c15 },
	"descending": func(_ *rand.Rand, row uint64) uint64 { return -row * 3 },
	"runs":       func(_ *rand.Rand, row uint64) uint64 { return row / 4 * 1000 },
	"long runs":  func(_ *rand.Rand, row uint64) uint64 { return row / 1500 },
	"few":        func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(5) },
}

func columnOf(name string, valueBytes int, rows uint32) codec.Column {
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	values := make([]byte, int(rows)*valueBytes)
	for row := range uint64(rows) {
		if value := columns[name](r, row); valueBytes == 8 {
			backend.Longs(values)[row] = value
		} else {
			backend.Words(values)[row] = uint32(value)
		}
	}
	return codec.Column{Values: values, ValueBytes: valueBytes}
}

// encoded returns the messages of all destinations.
func encoded(t testing.TB, column codec.Column, starts []uint32, scheme kernel.CascadeScheme) (messages [][]byte) {
	e, err := codec.Encode(t.Context(), column, starts, scheme)
	require.NoError(t, err)
	for destination := range len(starts) - 1 {
		message := make([]byte, e.MessageBytes(destination))
		e.Put(message, destination)
		messages = append(messages, message)
	}
	return messages
}

func TestRoundTrip(t *testing.T) {
	const most = 200_000
	for name, starts := range map[string][]uint32{
		"none":             {0},
		"no rows":          {0, 0, 0},
		"one":              {0, most},
		"short last block": {0, 1, 1024, 2049, 2049, 2049, 5000},
		"empty at ends":    {0, 0, 130_000, 130_000},
		"many":             {0, 1000, 66_000, 66_001, 140_000, most},
	} {
		for kind := range columns {
			for _, valueBytes := range []int{4, 8} {
				column := columnOf(kind, valueBytes, starts[len(starts)-1])
				for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
					var messages []codec.Message
					for i, message := range encoded(t, column, starts, scheme) {
						rows := starts[i+1] - starts[i]
						require.LessOrEqual(t, len(message), 20+int(rows)*valueBytes+8*codec.Blocks(rows))
						m, err := codec.Open(message)
						require.NoError(t, err)
						messages = append(messages, m)
					}
					decoded := codec.Column{Values: make([]byte, len(column.Values)), ValueBytes: valueBytes}
					require.NoError(t, codec.Decode(t.Context(), decoded, messages))
					require.True(t, slices.Equal(column.Values, decoded.Values), "%s, %s, %d bytes, %v", name, kind,
						valueBytes, scheme)
				}
			}
		}
	}
}

// The example of docs/codec.md.
func TestExampleOfTheDocs(t *testing.T) {
	values := []uint64{70, 70, 70, 74, 74, 75}
	block := make([]uint32, kernel.CascadeBlockWords(6, 8))
	size := kernel.EncodeCascade(block, values, kernel.CascadeRLE|kernel.CascadeDelta|kernel.CascadePack)
	require.Equal(t, []uint32{7 | 2<<3 | 2<<10 | 2<<14, 70, 0, 1, 0, 0b0011, 0b000110}, block[:size])
}

// A message of a partition takes the sizes that a sample of all its blocks predicts.
func TestSampleIsExact(t *testing.T) {
	for kind := range columns {
		for _, valueBytes := range []int{4, 8} {
			starts := []uint32{0, 3000, 3000, 20_001}
			column := columnOf(kind, valueBytes, 20_001)
			sizes := codec.Sample(column, starts) // fewer blocks than a sample may have
			require.EqualValues(t, len(column.Values), sizes.RawBytes)
			for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
				payload := uint64(0)
				for i, message := range encoded(t, column, starts, scheme) {
					payload += uint64(len(codec.PayloadOf(message, starts[i+1]-starts[i])))
				}
				require.Equal(t, payload, sizes.Bytes[scheme], "%s, %d bytes, %v", kind, valueBytes, scheme)
			}
		}
	}
}

func TestSampleRowsAreSpread(t *testing.T) {
	blocks := codec.SampleRows([]uint32{0, 1 << 20, 1<<20 + 1, 1<<20 + 1})
	require.Len(t, blocks, 2*codec.SampleBlocks)
	for i := range codec.SampleBlocks {
		require.EqualValues(t, 16*1024+i*32*1024, blocks[2*i])
	}
	require.Empty(t, codec.SampleRows([]uint32{0, 0}))
	require.Equal(t, []uint32{0, 5, 5, 7}, codec.SampleRows([]uint32{0, 5, 12}))
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	column := columnOf("runs", 8, 100_000)
	_, err := codec.Encode(ctx, column, []uint32{0, 100_000}, 7)
	require.ErrorIs(t, err, backend.ErrCancelled)
	message, err := codec.Open(encoded(t, column, []uint32{0, 100_000}, 7)[0])
	require.NoError(t, err)
	require.ErrorIs(t, codec.Decode(ctx, column, []codec.Message{message}), backend.ErrCancelled)
}

func BenchmarkHost(b *testing.B) {
	const rows = 1 << 22
	for _, kind := range []string{"runs", "distinct", "few", "random"} {
		column := columnOf(kind, 8, rows)
		for _, scheme := range []kernel.CascadeScheme{4, 6, 7} {
			name := fmt.Sprintf("column=%s/scheme=%v", kind, scheme)
			message := encoded(b, column, []uint32{0, rows}, scheme)[0]
			b.Run(name+"/encode", func(b *testing.B) {
				b.SetBytes(int64(len(column.Values)))
				for b.Loop() {
					e, err := codec.Encode(b.Context(), column, []uint32{0, rows}, scheme)
					require.NoError(b, err)
					e.Put(message, 0)
				}
				b.ReportMetric(float64(len(column.Values))/float64(len(message)), "ratio")
			})
			m, err := codec.Open(message)
			require.NoError(b, err)
			decoded := codec.Column{Values: make([]byte, len(column.Values)), ValueBytes: 8}
			b.Run(name+"/decode", func(b *testing.B) {
				b.SetBytes(int64(len(column.Values)))
				for b.Loop() {
					require.NoError(b, codec.Decode(b.Context(), decoded, []codec.Message{m}))
				}
			})
		}
	}
}
