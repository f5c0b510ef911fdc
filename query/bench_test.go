package query

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// BenchmarkLoad loads tables onto devices, with key codes made by the host and by the device, and compares with a plain
// copy of the key columns. It reports rows per second, and bytes of the key columns in Arrow's buffers per second.
// Columns are in Go's memory and in pinned memory.
func BenchmarkLoad(b *testing.B) {
	int32s, int64s := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	devicetest.Bench(b, func(device *backend.Device, name string) {
		rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<24)
		ops, err := primitive.New(device, nil)
		require.NoError(b, err)
		for _, c := range []struct {
			name     string
			types    []arrow.DataType
			nulls    int // percent
			bits     int // bits of the values of each column
			payload  []int
			rowBytes int
		}{
			{"int32", []arrow.DataType{int32s}, 0, 26, nil, 4},
			{"int64", []arrow.DataType{int64s}, 0, 26, nil, 8},
			{"int64 of 8 bytes", []arrow.DataType{int64s}, 0, 40, nil, 8},
			{"int64, payload too", []arrow.DataType{int64s}, 0, 26, []int{0}, 8},
			{"int64, some NULL", []arrow.DataType{int64s}, 10, 26, nil, 8},
			{"float64", []arrow.DataType{arrow.PrimitiveTypes.Float64}, 0, 26, nil, 8},
			{"int64 and int32", []arrow.DataType{int64s, int32s}, 0, 16, nil, 12},
			{"int64 and int32, payload too", []arrow.DataType{int64s, int32s}, 0, 16, []int{0, 1}, 12},
		} {
			b.Run(fmt.Sprintf("%s/keys=%s/rows=%d", name, c.name, rows), func(b *testing.B) {
				d := keyTable{Rand: rand.New(rand.NewPCG(1, 2)), rows: rows}
				for cut := 1 << 20; cut < rows; cut += 1 << 20 {
					d.cuts = append(d.cuts, cut)
				}
				var columns []*arrow.Chunked
				var on []string
				for k, dt := range c.types {
					columns, on = append(columns, d.column(dt, c.bits, c.nulls)), append(on, fmt.Sprint("k", k))
				}
				pins := relation.NewPinnedAllocator(device, 1<<40)
				defer pins.Close()
				var pinned []*arrow.Chunked
				for _, column := range columns {
					pinned = append(pinned, copied(column, pins))
				}
				for i, table := range []arrow.Table{tableOf(columns...), tableOf(pinned...)} {
					from := []string{"heap", "pinned"}[i]
					plan, err := keys.PlanJoin(b.Context(), table, table, on, on)
					require.NoError(b, err)
					s := scanOf(plan, table, c.payload...)
					for _, place := range []string{"copy", "host", "device"} {
						b.Run(from+"/on="+place, func(b *testing.B) {
							lane := exec.NewLane(b.Context(), ops, nil)
							b.SetBytes(int64(rows) * int64(c.rowBytes))
							for b.Loop() {
								var brought []relation.Values
								if place == "copy" {
									brought = uploaded(b, lane, table)
								} else {
									s.Encodes = place == "device"
									chunk, err := s.load(b.Context(), lane, lane.Memory, 0, rows, nil)
									require.NoError(b, err)
									brought = append(chunk.Payload, chunk.Keys)
								}
								for _, column := range brought {
									require.NoError(b, device.WaitBuffer(b.Context(), column.Data.Buffer))
								}
								lane.Memory.ReleaseAll()
							}
							b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
						})
					}
				}
			})
		}
	})
}

// uploaded uploads the columns of a table unchanged.
func uploaded(b *testing.B, lane *exec.Lane, table arrow.Table) (columns []relation.Values) {
	rows := int(table.NumRows())
	for i := range int(table.NumCols()) {
		column := table.Column(i).Data()
		rowBytes := relation.WordBits(column.DataType()) / 8
		to := lane.Memory.New(uint64(rows*rowBytes), "column").All()
		require.NoError(b, lane.Memory.Err())
		transfers, err := relation.Transfers(column, 0, rows, to)
		require.NoError(b, err)
		_, err = lane.Device().UploadAll(b.Context(), transfers)
		require.NoError(b, err)
		columns = append(columns, relation.Values{Data: to, Bytes: rowBytes})
	}
	return columns
}

// copied returns a copy of a column in memory of an allocator.
func copied(column *arrow.Chunked, allocator memory.Allocator) *arrow.Chunked {
	var chunks []arrow.Array
	for _, chunk := range column.Chunks() {
		data := chunk.Data()
		var buffers []*memory.Buffer
		for _, buffer := range data.Buffers() {
			if buffer == nil {
				buffers = append(buffers, nil)
				continue
			}
			again := memory.NewResizableBuffer(allocator)
			again.Resize(buffer.Len())
			copy(again.Bytes(), buffer.Bytes())
			buffers = append(buffers, again)
		}
		chunks = append(chunks, array.MakeFromData(
			array.NewData(data.DataType(), data.Len(), buffers, nil, data.NullN(), data.Offset())))
	}
	return arrow.NewChunked(column.DataType(), chunks)
}
