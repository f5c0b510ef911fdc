package keys

import (
	"context"
	"math"
	"math/bits"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/relation"
)

// TestWidened: the range has the sample and what is added at its ends, and is at most four times as large as it needs
// to be; codes from 0 on stay so.
func TestWidened(t *testing.T) {
	for _, c := range []struct {
		domain         domain
		min, max       int64
		least, most, n int64
	}{
		{domainSigned, 340, 249_999_700, 0, 1<<28 - 1, 28},
		{domainSigned, 1, 1 << 27, 0, 1<<28 - 1, 28},
		{domainSigned, 0, 0, 0, 1, 1},
		{domainSigned, -5, 10, -16, 15, 5},
		{domainSigned, math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64, 64},
		{domainSigned, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64 - 3, math.MaxInt64, 2},
		{domainUnsigned, 7, 8, 6, 9, 2},
	} {
		e := extent{min: uint64(c.min), max: uint64(c.max), some: true}.widened(c.domain)
		require.Equal(t, extent{min: uint64(c.least), max: uint64(c.most), some: true}, e, "%v", c)
		require.EqualValues(t, c.n, e.bits())
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]domain{domainSigned, domainUnsigned}).Draw(t, "domain")
		e := extent{min: rapid.Uint64().Draw(t, "a"), max: rapid.Uint64().Draw(t, "b"), some: true}
		if d.less(e.max, e.min) {
			e.min, e.max = e.max, e.min
		}
		wide := e.widened(d)
		both := wide
		both.include(d, e)
		require.Equal(t, wide, both)
		require.LessOrEqual(t, wide.bits(), min(64, bits.Len64(e.max-e.min)+3))
	})
}

// TestGuess: a plan with a guessed range has the keys that the sample has, and Check finds those that are outside.
func TestGuess(t *testing.T) {
	ctx, rows, on := context.Background(), 1<<17, keyNames(1)
	cells := make([]cell, rows)
	for i := range cells {
		cells[i] = cell{raw: uint64(i * 7919 % rows)}
	}
	i64 := arrow.PrimitiveTypes.Int64
	plan := func(build arrow.Table, guess bool) (open, built *Plan) {
		open, err := PlanOpen(ctx, build, single(i64, cells[:10]...), on, on, relation.Right, guess)
		require.NoError(t, err)
		keys, err := PlanBuild(ctx, build, build.Schema(), on, on, relation.Left, guess)
		require.NoError(t, err)
		return open, keys.Plan
	}
	open, built := plan(single(i64, cells...), true)
	for _, p := range []*Plan{open, built} {
		require.True(t, p.Guessed())
		require.Equal(t, 18+1, p.KeyBits()) // and a mark
		within, err := p.Check(ctx)
		require.NoError(t, err)
		require.True(t, within)
	}
	outside := 0
	for _, at := range []int{0, rows / 3, rows - 2} {
		kept := cells[at]
		cells[at] = cell{raw: uint64(1 << 40)}
		open, _ = plan(single(i64, cells...), true)
		within, err := open.Check(ctx)
		require.NoError(t, err)
		require.Equal(t, open.KeyBits() > 40, within, "sampled or not")
		if !within {
			outside++
		}
		cells[at] = kept
	}
	require.Positive(t, outside)
	open, built = plan(single(i64, cells...), false)
	require.False(t, open.Guessed() || built.Guessed())
	cells[3], cells[4] = cell{raw: 0}, cell{raw: 3 << 30}
	open, built = plan(single(i64, cells[3:5]...), true)
	require.False(t, open.Guessed() || built.Guessed(), "a mark would make codes of 8 bytes")
	cells[5] = cell{null: true}
	open, built = plan(single(i64, cells...), true)
	require.False(t, open.Guessed() || built.Guessed(), "rows are left out")
}
