package deliver_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// TestFilter filters pairs by a predicate over the row numbers of both tables. The build side is the right table, and
// windows have room for few rows.
func TestFilter(t *testing.T) {
	const rows = 5000
	predicates := map[string]func(left, right uint32) bool{
		"all":  func(uint32, uint32) bool { return true },
		"none": func(uint32, uint32) bool { return false },
		"some": func(left, right uint32) bool { return (left+right)%3 == 0 },
		"one":  func(left, _ uint32) bool { return left == 4711 },
		"but":  func(left, _ uint32) bool { return left != 4711 },
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		ctx := context.Background()
		for name, keeps := range predicates {
			for _, most := range []uint64{0, 2100} {
				for _, pass := range []bool{true, false} {
					lane := exec.NewLane(ctx, ops, nil)
					sink := &operator.Collector{Lane: lane, Most: most}
					var time atomic.Int64
					room := deliver.Room{Lane: lane, PlannedRows: rows, Reserve: func(uint64) uint64 { return 0 }}
					f := &deliver.Filter{Sink: sink, Room: room, Time: &time,
						Sides:   [2]relation.Side{relation.Right, relation.Left},
						Numbers: [2]int{1, 0}, Payload: [2][]int{{8, 4}, {4}},
						Want: operator.Want{Rest: [2]bool{true, true}}}
					f.Want.Pairs, f.Want.Matched[operator.Probe] = pass, !pass
					f.Keep = func(_ context.Context, of [2][]uint32, keep []uint64) error {
						for i := range of[relation.Left] {
							if !keeps(of[relation.Left][i], of[relation.Right][i]) {
								keep[i/64] &^= 1 << (i % 64)
							}
						}
						return nil
					}
					f.Open(operator.Build, rows)
					f.Open(operator.Probe, rows+70)
					var numbers [2][]uint32 // rows of the build side and of the probe side
					var wide []uint64
					for i := range uint32(rows) {
						numbers[0], numbers[1] = append(numbers[0], i*7%rows), append(numbers[1], i)
						wide = append(wide, uint64(i*7%rows)<<33)
					}
					column := func(bytes int, data []byte) relation.Values {
						b := lane.Memory.New(uint64(len(data)), "column")
						_, err := device.Upload(ctx, b.All(), data)
						require.NoError(t, err)
						return relation.Values{Data: b.All(), Bytes: bytes}
					}
					build := []relation.Values{column(8, backend.AsBytes(wide)), column(4, backend.AsBytes(numbers[0]))}
					probe := []relation.Values{column(4, backend.AsBytes(numbers[1]))}
					pairs := operator.Pairs{Lane: lane,
						Chunks: [2]*relation.Chunk{{Rows: rows, Payload: build}, {Rows: rows, Payload: probe}}}
					same := column(4, backend.AsBytes(numbers[1])) // pair i is row i of both chunks
					for first := uint64(0); first < rows; {
						w, err := f.Window(ctx, rows-first)
						require.NoError(t, err)
						n := w.Rows
						record := func(list *backend.List, build, probe backend.Range) error {
							list.Copy(build, same.Data.Buffer.Range(first*4, n*4))
							list.Copy(probe, same.Data.Buffer.Range(first*4, n*4))
							return nil
						}
						require.NoError(t, pairs.Write(ctx, f, w, n, record))
						first += n
					}
					var want [2][]uint32
					marked := [2]map[uint32]bool{{}, {}}
					for i := range numbers[0] {
						if build, probe := numbers[0][i], numbers[1][i]; keeps(probe, build) {
							want[0], want[1] = append(want[0], build), append(want[1], probe)
							marked[0][build], marked[1][probe] = true, true
						}
					}
					if !pass {
						want = [2][]uint32{}
					}
					var got [2][]uint32
					for _, w := range sink.Windows {
						require.Equal(t, [2]bool{true, true}, w.Of)
						require.True(t, w.Matched)
						var part [2][]uint32
						values := make([]uint64, w.Rows)
						for side, column := range []int{1, 0} {
							part[side] = make([]uint32, w.Rows)
							from := w.Payload[side][column].Range(0, w.Rows*4)
							require.NoError(t, lane.Download(ctx, backend.AsBytes(part[side]), from))
							got[side] = append(got[side], part[side]...)
						}
						from := w.Payload[0][0].Range(0, w.Rows*8)
						require.NoError(t, lane.Download(ctx, backend.AsBytes(values), from))
						for i, v := range values {
							require.Equal(t, uint64(part[0][i])<<33, v)
						}
					}
					require.Equal(t, want, got, "%s, windows of %d", name, most)
					require.EqualValues(t, len(want[0]), sink.Rows)
					for side, all := range []uint32{rows, rows + 70} {
						rest, err := f.Rows(ctx, side, false)
						require.NoError(t, err)
						require.Len(t, rest, int(all)-len(marked[side]), name)
						for _, row := range rest {
							require.False(t, marked[side][row])
							require.Less(t, row, all)
						}
					}
					matched, err := f.Rows(ctx, operator.Probe, true)
					require.NoError(t, err)
					require.Len(t, matched, len(marked[operator.Probe]))
					sink.Release()
					lane.Memory.ReleaseAll()
				}
			}
		}
	})
}
