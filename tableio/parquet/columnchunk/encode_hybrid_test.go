package columnchunk

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decodeHybrid is the simplest decoder of the hybrid of runs and bit-packed groups. It fails if bytes are left.
func decodeHybrid(in []byte, n, width int) (out []uint16, err error) {
	for len(in) > 0 {
		header, length := binary.Uvarint(in)
		in = in[length:]
		count := int(header >> 1)
		if header&1 == 0 {
			value := uint16(0)
			for i := range (width + 7) / 8 {
				value |= uint16(in[i]) << (8 * i)
			}
			in = in[(width+7)/8:]
			for range count {
				out = append(out, value)
			}
			continue
		}
		for i := range count * 8 {
			value := uint16(0)
			for bit := range width {
				at := i*width + bit
				value |= uint16(in[at/8]>>(at%8)&1) << bit
			}
			out = append(out, value)
		}
		in = in[count*width:]
	}
	if len(out) < n || len(out) >= n+8 {
		return nil, fmt.Errorf("%d values instead of %d", len(out), n)
	}
	return out[:n], nil
}

func drawIndices(t *rapid.T, width int) (indices []uint16) {
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		first := rapid.Uint16().Draw(t, "first")
		step := rapid.SampledFrom([]uint16{0, 0, 1, 77}).Draw(t, "step")
		for i := range rapid.IntRange(0, 70).Draw(t, "length") {
			indices = append(indices, (first+uint16(i)*step)&uint16(1<<width-1))
		}
	}
	return indices
}

func TestHybrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 16).Draw(t, "width")
		indices := drawIndices(t, width)
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")
		out := appendHybrid(before[:len(before):len(before)], indices, width)
		require.Equal(t, before, out[:len(before)])
		got, err := decodeHybrid(out[len(before):], len(indices), width)
		require.NoError(t, err)
		require.Equal(t, indices, got[:len(indices):len(indices)])
		require.LessOrEqual(t, len(out)-len(before), (len(indices)+7)/8*width+4+len(indices)/8)
	})
}

func TestHybridOfRunsIsShort(t *testing.T) {
	require.Len(t, appendHybrid(nil, make([]uint16, 100_000), 9), 5)
	require.Len(t, appendLevels(nil, &source{rows: 100_000}, 0, 100_000), 8)
}

func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := drawIndices(t, 1)
		rows := source{rows: len(bits), valid: make([]uint64, len(bits)/64+2)}
		for i, bit := range bits {
			orBits(rows.valid, i, uint64(bit))
			rows.nulls += 1 - int(bit)
		}
		begin := rapid.IntRange(0, len(bits)).Draw(t, "begin")
		end := rapid.IntRange(begin, len(bits)).Draw(t, "end")
		out := appendLevels(nil, &rows, begin, end)
		require.Len(t, out, 4+int(binary.LittleEndian.Uint32(out)))
		got, err := decodeHybrid(out[4:], end-begin, 1)
		require.NoError(t, err)
		require.Equal(t, append([]uint16{}, bits[begin:end]...), append([]uint16{}, got...))

		values := 0
		for _, bit := range bits[begin:] {
			values += int(bit)
		}
		limit := rapid.IntRange(1, 200).Draw(t, "limit")
		for at, left := begin, values; at < len(bits); {
			next, n := rows.advance(at, 150, limit)
			require.Greater(t, next, at)
			require.LessOrEqual(t, next, at+150)
			require.LessOrEqual(t, n, limit)
			count := 0
			for _, bit := range bits[at:next] {
				count += int(bit)
			}
			require.Equal(t, count, n)
			at, left = next, left-n
			require.True(t, at < len(bits) || left == 0)
		}
	})
}

func TestCompactAndCopyBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := drawIndices(t, 1)
		var bitmap []byte
		for i, bit := range bits {
			if i%8 == 0 {
				bitmap = append(bitmap, 0)
			}
			bitmap[i/8] |= byte(bit) << (i % 8)
		}
		begin := rapid.IntRange(0, len(bits)).Draw(t, "begin")
		at := rapid.IntRange(0, 130).Draw(t, "at")
		words := make([]uint64, (at+len(bits))/64+2)
		copyBits(words, at, bitmap, begin, len(bits)-begin)
		values, want := []int{}, []int{}
		for i, bit := range bits[begin:] {
			require.Equal(t, uint64(bit), words[(at+i)/64]>>((at+i)%64)&1)
			values = append(values, i)
			if bit == 1 {
				want = append(want, i)
			}
		}
		to := make([]int, len(values))
		require.Equal(t, want, to[:compact(to, values, words, at)])
		require.Equal(t, want, values[:compact(values, values, words, at)])
	})
}
