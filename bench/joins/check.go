package joins

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/relation"
)

// checker knows how many rows the join of two tables has, and a checksum of them. A row of the output weighs the
// product of two odd hashes, one of its key and the payload of the left side, one of its key and the payload of the
// right side; the checksum is the sum of all weights modulo 2^64. By the distributive law no join is needed to know it:
// for each row on the right, its hash times the sum of the hashes of the left rows that have its key. A missing row, a
// duplicate row, a changed value and swapped halves of two rows all change it.
type checker struct {
	rows, sum uint64
	bytes     [2][]int // of the columns of both sides, the key first
}

// mostKeys bounds the memory of a checker: keys on the left are below it.
const mostKeys = 1 << 32

// newChecker reads both tables, whose first column is the key.
func newChecker(ctx context.Context, left, right arrow.Table) (*checker, error) {
	var greatest atomic.Uint64
	err := eachBlock(ctx, left, func(columns []hostColumn, start, end int) {
		block := uint64(0)
		for row := start; row < end; row++ {
			block = max(block, columns[0].at(row))
		}
		for old := greatest.Load(); block > old && !greatest.CompareAndSwap(old, block); old = greatest.Load() {
		}
	})
	if err != nil {
		return nil, err
	}
	if greatest.Load() >= mostKeys {
		return nil, fmt.Errorf("%w: the check of a join takes keys below %d", backend.ErrLimit, uint64(mostKeys))
	}
	// sums over the left rows of a key, side by side: one cache miss
	keys := make([]struct{ hash, rows uint64 }, greatest.Load()+1)
	err = eachBlock(ctx, left, func(columns []hostColumn, start, end int) {
		for i, h := range hashRows(relation.Left, columns, start, end) {
			key := &keys[columns[0].at(start+i)]
			atomic.AddUint64(&key.hash, h)
			atomic.AddUint64(&key.rows, 1)
		}
	})
	if err != nil {
		return nil, err
	}
	var rows, sum atomic.Uint64
	err = eachBlock(ctx, right, func(columns []hostColumn, start, end int) {
		blockRows, blockSum := uint64(0), uint64(0)
		for i, h := range hashRows(relation.Right, columns, start, end) {
			if key := columns[0].at(start + i); key < uint64(len(keys)) {
				blockRows += keys[key].rows
				blockSum += h * keys[key].hash
			}
		}
		rows.Add(blockRows)
		sum.Add(blockSum)
	})
	return &checker{rows.Load(), sum.Load(), [2][]int{columnBytes(left), columnBytes(right)}}, err
}

// pieceRows of a result are downloaded at a time, while those before them are checked. Tests take fewer.
var pieceRows uint64 = 1 << 22

// verify downloads a result and checks it; ErrWrong.
func (c *checker) verify(ctx context.Context, device *backend.Device, out *resident.Result) error {
	if out.Rows != c.rows {
		return measure.Wrongf("%d rows, not %d", out.Rows, c.rows)
	}
	type column struct {
		from  *backend.Buffer
		bytes int
		host  [2][]byte // two pieces
	}
	columns := []column{{from: out.Keys, bytes: c.bytes[relation.Left][0]}}
	for side, bytes := range c.bytes {
		if len(out.Payload[side]) != len(bytes)-1 {
			return measure.Wrongf("%d payload columns on side %d, not %d", len(out.Payload[side]), side, len(bytes)-1)
		}
		for p, buffer := range out.Payload[side] {
			columns = append(columns, column{from: buffer, bytes: bytes[1+p]})
		}
	}
	for i := range columns {
		for piece := range columns[i].host {
			columns[i].host[piece] = make([]byte, min(pieceRows, out.Rows)*uint64(columns[i].bytes))
		}
	}
	rights := len(c.bytes[relation.Left]) // here the payload of the right side begins
	var sum atomic.Uint64
	var checking errgroup.Group
	for piece := uint64(0); piece*pieceRows < out.Rows; piece++ {
		rows := min(pieceRows, out.Rows-piece*pieceRows)
		host := make([]hostColumn, len(columns))
		for i, c := range columns {
			data := c.host[piece%2][:rows*uint64(c.bytes)]
			if err := device.Download(ctx, data,
				c.from.Range(piece*pieceRows*uint64(c.bytes), uint64(len(data)))); err != nil {
				return errors.Join(err, checking.Wait())
			}
			host[i] = hostColumnOf(data, c.bytes)
		}
		if err := checking.Wait(); err != nil {
			return err
		}
		checking.Go(func() error {
			return workload.ForBlocks(ctx, int64(rows), func(start, end int64) {
				left := hashRows(relation.Left, host[:rights], int(start), int(end))
				right := hashRows(relation.Right, append(host[:1:1], host[rights:]...), int(start), int(end))
				block := uint64(0)
				for i, h := range left {
					block += h * right[i]
				}
				sum.Add(block)
			})
		})
	}
	if err := checking.Wait(); err != nil {
		return err
	}
	if sum.Load() != c.sum {
		return measure.Wrongf("the rows of the output are not those of the join")
	}
	return nil
}

// hashRows returns an odd hash of each row of a side, whose first column is the key.
func hashRows(side relation.Side, columns []hostColumn, start, end int) []uint64 {
	hashes := make([]uint64, end-start)
	for i := range hashes {
		hashes[i] = uint64(side) << 40
	}
	for _, c := range columns {
		c.fold(hashes, start)
	}
	for i := range hashes {
		hashes[i] |= 1
	}
	return hashes
}

// hostColumn is a column in host memory, of values of 4 or 8 bytes.
type hostColumn struct {
	words []uint32
	longs []uint64
}

func hostColumnOf(data []byte, bytes int) hostColumn {
	if bytes == 8 {
		return hostColumn{longs: backend.Longs(data)}
	}
	return hostColumn{words: backend.Words(data)}
}

func (c hostColumn) at(row int) uint64 {
	if c.longs != nil {
		return c.longs[row]
	}
	return uint64(c.words[row])
}

// fold brings the values from row start on into hashes.
func (c hostColumn) fold(hashes []uint64, start int) {
	if c.longs != nil {
		for i, v := range c.longs[start : start+len(hashes)] {
			hashes[i] = fold(hashes[i], v)
		}
		return
	}
	for i, v := range c.words[start : start+len(hashes)] {
		hashes[i] = fold(hashes[i], uint64(v))
	}
}

func fold(hash, v uint64) uint64 {
	hi, lo := bits.Mul64(hash^v+0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	return hi ^ lo
}

// eachBlock calls work for blocks of the rows of a table, on all cores. Columns share their chunks, whose rows start to
// end are meant.
func eachBlock(ctx context.Context, table arrow.Table, work func(columns []hostColumn, start, end int)) error {
	for i := range table.Column(0).Data().Chunks() {
		columns := make([]hostColumn, table.NumCols())
		for c := range columns {
			columns[c] = hostColumnOf(chunkData(table, c, i))
		}
		rows := table.Column(0).Data().Chunk(i).Len()
		if err := workload.ForBlocks(ctx, int64(rows),
			func(start, end int64) { work(columns, int(start), int(end)) }); err != nil {
			return err
		}
	}
	return nil
}

// chunkData is the memory of a chunk of a column, and the bytes of a value.
func chunkData(table arrow.Table, column, chunk int) (data []byte, bytes int) {
	values := table.Column(column).Data().Chunk(chunk)
	bytes = values.DataType().(arrow.FixedWidthDataType).Bytes()
	return values.Data().Buffers()[1].Bytes()[:values.Len()*bytes], bytes
}

func columnBytes(table arrow.Table) (bytes []int) {
	for _, field := range table.Schema().Fields() {
		bytes = append(bytes, field.Type.(arrow.FixedWidthDataType).Bytes())
	}
	return bytes
}
