package deliver

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// BenchmarkDeliver brings columns of a window to pinned memory in pieces, beside a copy of as many bytes. The rate
// counts the bytes in Arrow's buffers.
func BenchmarkDeliver(b *testing.B) {
	p := arrow.PrimitiveTypes
	field := func(dt arrow.DataType, nullable bool) arrow.Field { return arrow.Field{Type: dt, Nullable: nullable} }
	devicetest.Bench(b, func(device *backend.Device, name string) {
		rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<24)
		ops, err := primitive.New(device, nil)
		require.NoError(b, err)
		for _, c := range []struct {
			name   string
			fields []arrow.Field
			bits   int // of a row
		}{
			{"two int64", []arrow.Field{field(p.Int64, false), field(p.Int64, false)}, 128},
			{"int64, int32 with NULL, int16, bool", []arrow.Field{field(p.Int64, false), field(p.Int32, true),
				field(p.Int16, false), field(arrow.FixedWidthTypes.Boolean, false)}, 114},
			{"decimal128", []arrow.Field{field(&arrow.Decimal128Type{Precision: 38}, false)}, 128},
		} {
			b.Run(fmt.Sprintf("%s/columns=%s/rows=%d", name, c.name, rows), func(b *testing.B) {
				flow := exec.NewFlow(b.Context())
				defer flow.Stop()
				lane := exec.NewLane(flow.Context(), ops, nil)
				defer lane.Memory.ReleaseAll()
				words, none := relation.PlanWords(c.fields), relation.PlanWords(nil)
				window := operator.NewWindow(b.Context(), lane, uint64(rows))
				window.Of = [2]bool{true, false}
				for _, bytes := range words.Bytes {
					window.Payload[0] = append(window.Payload[0], lane.Memory.New(uint64(rows*bytes), "column"))
				}
				pins := relation.NewPinnedAllocator(device, 1<<40)
				defer pins.Close()
				var columns []Column
				for i, f := range c.fields {
					columns = append(columns, Column{Type: f.Type, Of: [2]*Value{{Words: &words.Columns[i]}}})
				}
				outputBytes := int64(rows) * int64(c.bits) / 8
				all := lane.Memory.New(uint64(outputBytes+3)&^3, "copy")
				require.NoError(b, lane.Memory.Err())
				b.Run("copy", func(b *testing.B) {
					b.SetBytes(outputBytes)
					to := pins.Allocate(int(all.SizeBytes()))
					for b.Loop() {
						require.NoError(b, device.Download(b.Context(), to, all.All()))
					}
					pins.Free(to)
				})
				for _, piece := range []int{1 << 18, 1 << 20, 1 << 22} {
					b.Run(fmt.Sprintf("pieces=%d", piece), func(b *testing.B) {
						b.SetBytes(outputBytes)
						out := exec.NewPipe[*Piece](flow, 0)
						flow.Go("take", func(ctx context.Context) error {
							for {
								p, some, err := out.Take(ctx)
								if err != nil || !some {
									return err
								}
								p.Release()
							}
						})
						defer out.End()
						r := Rows{Room: Room{Lane: lane.On(flow.Context(), backend.Deliver)},
							Format: Format{Sides: [2]relation.Side{relation.Left, relation.Right}, Columns: columns,
								Words: [2]*relation.Words{&words, &none}, Numbers: [2]int{-1, -1}},
							Flow: flow, Allocator: pins, PieceRows: uint64(piece), Out: out, Time: new(atomic.Int64)}
						defer r.Close()
						for b.Loop() {
							require.NoError(b, r.deliver(flow.Context(), &r.Format, window))
						}
					})
				}
			})
		}
	})
}
