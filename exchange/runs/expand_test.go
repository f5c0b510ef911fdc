package runs

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
)

// simplestPairs is the pairs of ranges, in their order.
func simplestPairs(m Matches[uint32]) (probe, other []uint32) {
	for i, n := range m.Counts {
		for j := range n {
			probe, other = append(probe, m.Rows[i]), append(other, m.Others[m.Begins[i]+j])
		}
	}
	return probe, other
}

// TestExpand writes the pairs of random ranges in batches of one size.
func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		rows := rapid.SampledFrom([]int{0, 1, 5, blockRows - 1, blockRows, 3*blockRows + 7, 9 * blockRows}).
			Draw(t, "rows")
		m := Matches[uint32]{make([]uint32, rows), make([]uint32, rows), make([]uint32, rows), make([]uint32, 100_000)}
		for i := range m.Others {
			m.Others[i] = random.Uint32()
		}
		share := rapid.SampledFrom([]int{0, 1, 50, 100}).Draw(t, "percent of rows with pairs")
		for i := range m.Rows {
			m.Rows[i] = random.Uint32()
			if random.IntN(100) < share {
				m.Counts[i] = 1 + random.Uint32N(3)
			}
			m.Begins[i] = random.Uint32N(uint32(len(m.Others)) - m.Counts[i])
		}
		if rows > 4 { // hot rows whose pairs several goroutines write
			m.Begins[1], m.Counts[1] = 0, 70_000
			m.Begins[rows-1], m.Counts[rows-1] = 17, 40_000
		}
		wantProbe, wantOther := simplestPairs(m)
		pairs, err := m.Expand(context.Background(), 2)
		require.NoError(t, err)
		checkPairs(t, pairs, wantProbe, wantOther, rapid.SampledFrom([]int{1 << 15, 100_003, 1 << 20}).Draw(t, "batch"))
	})
}

func TestProduct(t *testing.T) {
	for _, p := range []Product[uint32]{{}, {Rows: []uint32{1}}, {Others: []uint32{1}}, {[]uint32{1}, []uint32{2}},
		{[]uint32{9, 8, 7}, make([]uint32, 70_000)}, {make([]uint32, 70_000), []uint32{5, 6, 7}}} {
		var wantProbe, wantOther []uint32
		for _, row := range p.Rows {
			for _, other := range p.Others {
				wantProbe, wantOther = append(wantProbe, row), append(wantOther, other)
			}
		}
		checkPairs(t, p, wantProbe, wantOther, 50_001)
	}
}

func checkPairs(t require.TestingT, pairs Pairs[uint32], wantProbe, wantOther []uint32, batch int) {
	require.EqualValues(t, len(wantProbe), pairs.Len())
	for _, cores := range []int{1, 3} {
		var gotProbe, gotOther []uint32
		for first := 0; first < len(wantProbe); first += batch {
			n := min(batch, len(wantProbe)-first)
			probe, other := make([]uint32, n), make([]uint32, n)
			require.NoError(t, pairs.Write(context.Background(), uint64(first), probe, other, cores))
			gotProbe, gotOther = append(gotProbe, probe...), append(gotOther, other...)
		}
		require.True(t, slices.Equal(wantProbe, gotProbe), "probe rows")
		require.True(t, slices.Equal(wantOther, gotOther), "other rows")
	}
}

// TestExpandCountsIn64Bits: the number of pairs exceeds 32 bits, and the last of them are written without the others.
func TestExpandCountsIn64Bits(t *testing.T) {
	const rows = 1 << 17
	m := Matches[uint32]{make([]uint32, rows), make([]uint32, rows), make([]uint32, rows), make([]uint32, rows)}
	for i := range m.Rows {
		m.Rows[i], m.Others[i], m.Counts[i] = uint32(i), uint32(i), rows
	}
	pairs, err := m.Expand(t.Context(), 2)
	require.NoError(t, err)
	for _, p := range []Pairs[uint32]{pairs, Product[uint32]{m.Rows, m.Others}} {
		require.EqualValues(t, uint64(1)<<34, p.Len())
		probe, other := make([]uint32, rows+1), make([]uint32, rows+1)
		require.NoError(t, p.Write(t.Context(), p.Len()-rows-1, probe, other, 2))
		require.EqualValues(t, rows-2, probe[0])
		require.EqualValues(t, rows-1, other[0])
		require.EqualValues(t, rows-1, probe[1])
		require.EqualValues(t, 0, other[1])
		require.EqualValues(t, rows-1, other[rows])
	}
}

func TestExpandErrors(t *testing.T) {
	m := Matches[uint32]{Rows: []uint32{1}, Begins: []uint32{0}}
	_, err := m.Expand(t.Context(), 1)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	p := Product[uint32]{[]uint32{1}, []uint32{2}}
	room := make([]uint32, 2)
	require.ErrorIs(t, p.Write(t.Context(), 0, room, room, 1), backend.ErrInvalidInput)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Write(ctx, 0, room[:1], room[:1], 1), backend.ErrCancelled)
}
