package jointest

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// nestedLoop finds pairs on the host by comparing each row of a granule with each build row. fault changes them.
type nestedLoop struct {
	fault func(pairs [][2]uint32) [][2]uint32
	want  operator.Want
	lane  *exec.Lane
	build *relation.Chunk
}

func (*nestedLoop) Name() string { return "nested loop" }

func (*nestedLoop) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	return &operator.Plan{Facts: *f, Want: want}, nil
}

func (n *nestedLoop) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return &nestedLoop{fault: n.fault, want: p.Want, lane: lane.Nested(ctx)}
}

func (n *nestedLoop) Build(_ context.Context, build *relation.Chunk) error {
	n.build = build
	return nil
}

func (n *nestedLoop) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	var keys [2][]uint32
	for side, c := range []*relation.Chunk{n.build, probe} {
		keys[side] = make([]uint32, c.Rows)
		if err := lane.Download(ctx, backend.AsBytes(keys[side]), c.Keys.Data); err != nil {
			return err
		}
	}
	var pairs [][2]uint32
	for p, key := range keys[operator.Probe] {
		for b, other := range keys[operator.Build] {
			if key == other {
				pairs = append(pairs, [2]uint32{uint32(b), uint32(p)})
			}
		}
	}
	pairs = n.fault(pairs)
	if err := sink.Count(ctx, uint64(len(pairs))); err != nil {
		return err
	}
	out := operator.Pairs{Lane: n.lane, Chunks: [2]*relation.Chunk{n.build, probe}, Keys: n.want.Keys}
	for len(pairs) > 0 {
		w, err := sink.Window(ctx, uint64(len(pairs)))
		if err != nil {
			return err
		}
		var ids [2][]uint32
		for _, pair := range pairs[:w.Rows] {
			ids[0], ids[1] = append(ids[0], pair[0]), append(ids[1], pair[1])
		}
		err = out.Write(ctx, sink, w, w.Rows, func(_ *backend.List, build, probe backend.Range) error {
			for side, to := range []backend.Range{build, probe} {
				if _, err := lane.Device().Upload(ctx, to, backend.AsBytes(ids[side])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		pairs = pairs[len(ids[0]):]
	}
	return nil
}

func (*nestedLoop) Finish(context.Context, operator.Sink) error { return nil }

func (n *nestedLoop) Close() { n.lane.Memory.ReleaseAll() }

func (n *nestedLoop) Rewind(context.Context) error { return nil }

// TestRun: a correct operator agrees with the oracle for all granules and windows, and each planted fault is found.
func TestRun(t *testing.T) {
	ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		build, probe := Workloads["duplicates"].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{40, 90}, 4,
			[2][]int{{4, 8}, {8}})
		want := operator.Want{Pairs: true, Keys: true}
		right := func(pairs [][2]uint32) [][2]uint32 { return pairs }
		for _, o := range []Options{{}, {Window: 7}, {Granule: 30}, {Granule: 1, Window: 2}} {
			out := CheckRun(t, lane, &nestedLoop{fault: right}, build, probe, want, o, "right")
			require.Greater(t, out.Count, uint64(50))
			require.Equal(t, o.Window == 0 && o.Granule == 0, out.Windows == 1)
		}
		expected := Oracle(build, probe, want)
		for name, fault := range map[string]func(pairs [][2]uint32) [][2]uint32{
			"a pair is missing":       func(pairs [][2]uint32) [][2]uint32 { return pairs[1:] },
			"a pair comes twice":      func(pairs [][2]uint32) [][2]uint32 { return append(pairs, pairs[0]) },
			"a pair takes the place":  func(pairs [][2]uint32) [][2]uint32 { return append(pairs[1:], pairs[1]) },
			"another row of the side": func(pairs [][2]uint32) [][2]uint32 { pairs[0][0] ^= 1; return pairs },
		} {
			got, err := Run(t, lane, &nestedLoop{fault: fault}, build, probe, want, Options{})
			require.NoError(t, err)
			require.NotEmpty(t, Difference(expected, got), name)
		}
	})
}

// TestOracle: the rows of both sides, or all pairs of them, are in the output exactly once.
func TestOracle(t *testing.T) {
	devicetest.HostTest(t)
	for _, name := range slices.Sorted(maps.Keys(Workloads)) {
		build, probe := Workloads[name].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{50, 80}, 8,
			[2][]int{{4}, {8, 4}})
		count := func(want operator.Want) uint64 {
			o := Oracle(build, probe, want)
			require.Len(t, o.Rows, int(o.Count))
			want.Count = true
			require.Equal(t, o.Count, Oracle(build, probe, want).Count)
			return o.Count
		}
		pairs := uint64(0)
		for _, b := range build.Keys {
			for _, p := range probe.Keys {
				if b == p {
					pairs++
				}
			}
		}
		require.Equal(t, pairs, count(Wants["inner"]), name)
		require.EqualValues(t, len(probe.Keys), count(Wants["mark probe"]), name)
		require.EqualValues(t, len(build.Keys), count(Wants["mark build"]), name)
		require.Equal(t, pairs+count(Wants["anti both"]), count(Wants["full"]), name)
		require.EqualValues(t, len(probe.Keys)+len(build.Keys)-int(count(Wants["anti both"])),
			count(Wants["semi both"]), name)
	}
}
