package distributed

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranks"
)

func forEngine(t *testing.T, test func(t *testing.T, e *engine.Engine)) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		e := engine.NewEngine(ops, &offheap.Shared, 0)
		defer e.Close()
		test(t, e)
	})
}

// Joins of each case on 2 to 8 ranks send the messages and bytes that were forecast.
func TestLocalCases(t *testing.T) {
	forEngine(t, func(t *testing.T, e *engine.Engine) {
		for i := range localCases {
			c := localCases[i]
			c.knobs.BlockBytes = 64 << 10
			for _, size := range []int{2, 5, 8} {
				r, err := c.run(t.Context(), e, size, 20000, 1)
				require.NoError(t, err)
				require.NoError(t, r.check())
				require.Positive(t, total(r.counts).Messages)
				require.Equal(t, c.small, r.way == ranks.RightToAll, c.name)
				require.Equal(t, c.hot > 0, r.hotKeys > 0, c.name)
				r.forecast[1][0].Bytes++
				require.ErrorIs(t, r.check(), measure.ErrWrong)
			}
		}
	})
}

// Nodes of one GPU are ranks: the model has the bodies of all messages within 2%, which the hashes of keys decide, and
// the number of messages of one block. A message of the model is a column of one of ours.
func TestModelOfRanks(t *testing.T) {
	forEngine(t, func(t *testing.T, e *engine.Engine) {
		const rows, keys, size = 40000, 10000, 4
		c := localCases[slices.IndexFunc(localCases, func(c localCase) bool { return c.name == "uniform" })]
		c.knobs.BlockBytes = 1 << 30
		r, err := c.run(t.Context(), e, size, rows, 1)
		require.NoError(t, err)
		fixed := []Column{{Name: "k", Bytes: 8}, {Name: "n", Bytes: 4}, {Name: "offsets of t", Bytes: 4}}
		cluster := Cluster{Nodes: size, GPUs: 1, Network: 1, Node: 1, Partition: 1, Join: 1}
		p := cluster.Predict([2]Table{{rows / size, fixed}, {keys / size, fixed}}, OneLevel)
		texts := 0
		for seed, rows := range map[uint64]int64{1: rows, 11: keys} {
			table := c.table(seed, rows, keys, 0)
			texts += len(table.Column(2).Data().Chunk(0).(*array.String).ValueBytes())
			table.Release()
		}
		bytes := size*p.NetworkBytes + float64(texts)*(size-1)/size
		require.InEpsilon(t, bytes, total(r.counts).Bytes, 0.02)
		require.EqualValues(t, size*p.NetworkMessages, 3*total(r.counts).Messages)
	})
}

func TestSweep(t *testing.T) {
	var text strings.Builder
	s := Sweep{Figures: Figures(), NetworkMessage: NetworkMessage, Seed: 1}
	require.NoError(t, s.Predict(t.Context(), measure.Output{Writer: &text, Phase: func(string, uint64, uint64) {}}))
	for line := range strings.Lines(text.String()) {
		require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 100, line)
	}
	cells := 0
	for _, f := range Figures() {
		require.Contains(t, text.String(), f.Name+": "+f.Title+"\n")
		cells += f.Heading().Cells
	}
	lines := regexp.MustCompile(`(?m)^(GPUs=|rows=|[ol]_order| +(64|256|1024) )`).FindAllString(text.String(), -1)
	require.Len(t, lines, cells)
	require.Contains(t, text.String(), "both take equally long with 20.5 M rows")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Predict(ctx, measure.Output{Writer: &text, Phase: func(string, uint64, uint64) {}}),
		backend.ErrCancelled)
}
