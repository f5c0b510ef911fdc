package keys

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// TestRepeats finds the first row with the same key as an earlier one, by the values of texts and numbers, with NULLs,
// whatever rows were added before.
func TestRepeats(t *testing.T) {
	devicetest.SkipRace(t)
	random := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		rows, few := 1+random.IntN(700), []string{"", "a", "ab", "b", "bc", "null"}
		texts, numbers, keys := make([]string, rows), make([]uint64, rows), make([]string, rows)
		spread := 1 + random.Uint64N(1<<20)
		for i := range rows {
			texts[i], numbers[i] = few[random.IntN(len(few))], random.Uint64N(spread)
			if keys[i] = fmt.Sprint(texts[i] == "null", numbers[i]); texts[i] != "null" {
				keys[i] += texts[i]
			}
		}
		table := tableOf([]arrow.Array{textsOf(arrow.BinaryTypes.String, texts, 2),
			columnOf(arrow.PrimitiveTypes.Int64, ints(numbers...), 1), textsOf(arrow.BinaryTypes.StringView, texts, 0)},
			[][]int{{rows / 2}, nil, {rows / 3}})
		p, err := PlanJoin(context.Background(), table, table, keyNames(3), keyNames(3), true, false, true)
		require.NoError(t, err)

		all := make([]uint32, rows)
		for i := range all {
			all[i] = uint32(i)
		}
		random.Shuffle(rows, func(i, j int) { all[i], all[j] = all[j], all[i] })
		var want [2]uint32
		before := map[string]uint32{}
		for _, row := range all {
			if first, found := before[keys[row]]; found {
				want = [2]uint32{first, row}
				break
			}
			before[keys[row]] = row
		}
		cut, repeats := random.IntN(rows), p.Repeats(relation.Right)
		first, second, found := repeats.Add(all[:cut])
		if !found {
			require.Equal(t, cut, repeats.Rows())
			first, second, found = repeats.Add(all[cut:])
		}
		require.Equal(t, want != [2]uint32{}, found)
		require.Equal(t, want, [2]uint32{first, second})
	}
}
