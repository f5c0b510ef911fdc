package engine_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/source"
)

// times are those that the rates of a device predict, which change when they are measured anew.
var times = regexp.MustCompile(`\b\d+(\.\d+)? (ns|us|ms|s)\b`)

// TestExplain holds the texts of plans in testdata/explain.
func TestExplain(t *testing.T) {
	devicetest.HostTest(t)
	const leftRows, rightRows = 20_000, 160_000
	left, right := keyed(t, "k", leftRows, primary), keyed(t, "k", rightRows, mostlyNull(1, foreign(leftRows+1000)))
	nulls := keyed(t, "k", 1200, mostlyNull(3, primary))
	few := keyed(t, "k", 30, primary)
	explain := func(capBytes uint64, joins func(*engine.Engine), plan func(*engine.Engine) (*engine.Plan, error)) string {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		e := engine.NewEngine(ops, memory.DefaultAllocator, 0)
		joins(e)
		p, err := plan(e)
		require.NoError(t, err)
		explained := times.ReplaceAllString(strings.ReplaceAll(p.String(), device.Info().Name, "DEVICE"), "TIME")
		require.NoError(t, done())
		return explained
	}
	none := func(*engine.Engine) {}
	ctx := context.Background()
	golden.Require(t, "explain/inner.txt", explain(1<<30, none, func(e *engine.Engine) (*engine.Plan, error) {
		return e.Plan(ctx, left, right, join.Spec{On: onK, Validate: join.OneToMany})
	}))
	golden.Require(t, "explain/left.txt", explain(1<<30, func(e *engine.Engine) {
		e.GranuleRows, e.WindowRows = 7000, 1<<13
	}, func(e *engine.Engine) (*engine.Plan, error) {
		return e.Plan(ctx, left, nulls, join.Spec{On: onK, How: join.Left, Algorithm: "smj-um", BatchRows: 1 << 14,
			BuildSide: join.BuildRight})
	}))
	golden.Require(t, "explain/tiny.txt", explain(5<<20, none, func(e *engine.Engine) (*engine.Plan, error) {
		return e.Plan(ctx, nulls, right, join.Spec{On: onK, How: join.Full, Algorithm: "smj-um", BatchRows: 1 << 14})
	}))
	golden.Require(t, "explain/semi.txt", explain(1<<30, none, func(e *engine.Engine) (*engine.Plan, error) {
		return e.Plan(ctx, nulls, left, join.Spec{On: onK, How: join.Semi, Algorithm: "hj", Order: join.LeftOrder})
	}))
	golden.Require(t, "explain/cross.txt", explain(1<<30, none, func(e *engine.Engine) (*engine.Plan, error) {
		return e.Plan(ctx, few, nulls, join.Spec{How: join.Cross, Algorithm: "smj-om", Columns: []string{"a", "d_right"}})
	}))
	golden.Require(t, "explain/pairs.txt", explain(1<<30, none, func(e *engine.Engine) (*engine.Plan, error) {
		return e.Plan(ctx, few, right, join.Spec{On: onK, Output: join.Pairs, Algorithm: "hj"})
	}))
}

// TestExplainAfterRun: what was measured stands beside what was predicted, stage by stage, and adds up.
func TestExplainAfterRun(t *testing.T) {
	left, right := tables(t, 1000, 9000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, algorithm := range algorithms {
			spec := onKeys
			spec.Algorithm, spec.How = algorithm, join.Left
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			result, err := plan.Run(context.Background())
			require.NoError(t, err)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				batch.Release()
			}
			explained, stats := result.Explain(), result.Stats()
			result.Close()
			require.True(t, strings.HasPrefix(explained, plan.String()), explained)
			measured := 0.0
			for _, stage := range stats.Prediction {
				require.Regexp(t, fmt.Sprintf(`(?m)^  %s +\S+ \S+ predicted, +\S+( \S+)? measured$`, stage.Stage), explained)
				require.Positive(t, stage.PredictedSeconds, stage.Stage)
				measured += stage.ActualSeconds
			}
			all := 0.0
			for _, seconds := range stats.StageSeconds {
				all += seconds
			}
			require.GreaterOrEqual(t, measured+1e-9, all, "each stage of the device belongs to one of the plan: %v", stats)
			require.Contains(t, explained, text.Count(result.Rows())+" in fact")
			require.EqualValues(t, 1000, stats.LeftRows)
			require.EqualValues(t, 9000, stats.RightRows)
			require.Equal(t, stats.Algorithm, stats.Alternatives[0].Algorithm)
		}
	})
}

// TestExplainOfBuilt: a join with a build side that stays explains itself too, and says in how many parts its table came.
func TestExplainOfBuilt(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 1000, 9000)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	built, err := smallEngine(t, device).Build(context.Background(), left, right.Schema(), 3000, onKeys)
	require.NoError(t, err)
	probe := func(result *engine.Result, err error) {
		require.NoError(t, err)
		defer result.Close()
		for batch, err := range result.Batches(context.Background()) {
			require.NoError(t, err)
			batch.Release()
		}
		explained, stats := result.Explain(), result.Stats()
		require.Contains(t, explained, "inner join of 1,000 x ")
		require.Contains(t, explained, "9,000 in fact")
		require.Greater(t, stats.Granules, uint64(2))
		require.EqualValues(t, 9000, stats.RightRows)
		require.Equal(t, stats.Algorithm, stats.Alternatives[0].Algorithm)
	}
	probe(built.Join(context.Background(), right))
	probe(built.JoinStream(context.Background(), source.FromTable(right)))
	built.Close()
	require.NoError(t, done())
}
