package joins

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/operator"
)

// checksum is the number of some rows and the sum of their weights modulo 2^64.
type checksum struct{ rows, sum uint64 }

// checker knows how many rows the join of two tables has, and a checksum of them. A row that has a partner on both
// sides weighs the product of two odd hashes, one of its key and the payload of R, one of its key and the payload of S.
// By the distributive law no join is needed to know the sum: for each row of S, its hash times the sum of the hashes of
// the rows of R that have its key. A missing row, a duplicate row, a changed value and swapped halves of two rows all
// change it. A row of one side weighs its hash.
type checker struct {
	pairs         checksum
	matched, rest [2]checksum // the rows of R and S that have a partner, and those that have none
	greatest      uint64      // key of both sides
	bytes         [2][]int    // of the columns of both sides, the key first
}

// MostKeys is the exclusive upper bound of keys, which bounds the memory of a checker. The high words of 8-byte keys
// are therefore 0.
const MostKeys = 1 << 32

// newChecker reads both tables, whose first column is the key.
func newChecker(ctx context.Context, r, s arrow.Table) (*checker, error) {
	c := &checker{bytes: [2][]int{columnBytes(r), columnBytes(s)}}
	var greatest [2]uint64
	for side, table := range []arrow.Table{r, s} {
		var err error
		if greatest[side], err = greatestKey(ctx, table); err != nil {
			return nil, err
		}
	}
	if c.greatest = max(greatest[sideR], greatest[sideS]); c.greatest >= MostKeys {
		return nil, fmt.Errorf("%w: the check of a join takes keys below %d", backend.ErrLimit, uint64(MostKeys))
	}
	// sums over the rows of R of a key, side by side: one cache miss
	keys := make([]struct {
		hash, rows uint64
		met        atomic.Bool // by a row of S
	}, greatest[sideR]+1)
	var all, matched [2]shared
	err := eachBlock(ctx, r, func(columns []hostColumn, start, end int) {
		var block checksum
		for i, h := range hashRows(sideR, columns, start, end) {
			key := &keys[columns[0].at(start+i)]
			atomic.AddUint64(&key.hash, h)
			atomic.AddUint64(&key.rows, 1)
			block.rows, block.sum = block.rows+1, block.sum+h
		}
		all[sideR].add(block)
	})
	if err != nil {
		return nil, err
	}
	var pairs shared
	err = eachBlock(ctx, s, func(columns []hostColumn, start, end int) {
		var block, found, product checksum
		for i, h := range hashRows(sideS, columns, start, end) {
			block.rows, block.sum = block.rows+1, block.sum+h
			if at := columns[0].at(start + i); at < uint64(len(keys)) && keys[at].rows > 0 {
				key := &keys[at]
				if !key.met.Load() {
					key.met.Store(true)
				}
				found.rows, found.sum = found.rows+1, found.sum+h
				product.rows, product.sum = product.rows+key.rows, product.sum+h*key.hash
			}
		}
		all[sideS].add(block)
		matched[sideS].add(found)
		pairs.add(product)
	})
	if err != nil {
		return nil, err
	}
	err = workload.ForBlocks(ctx, int64(len(keys)), func(start, end int64) {
		var found checksum
		for i := range keys[start:end] {
			if key := &keys[start+int64(i)]; key.met.Load() {
				found.rows, found.sum = found.rows+key.rows, found.sum+key.hash
			}
		}
		matched[sideR].add(found)
	})
	c.pairs = pairs.get()
	for side := range all {
		a, m := all[side].get(), matched[side].get()
		c.matched[side], c.rest[side] = m, checksum{a.rows - m.rows, a.sum - m.sum}
	}
	return c, err
}

// shared is a checksum that several goroutines add to.
type shared struct{ rows, sum atomic.Uint64 }

func (s *shared) add(c checksum) {
	s.rows.Add(c.rows)
	s.sum.Add(c.sum)
}

func (s *shared) get() checksum { return checksum{s.rows.Load(), s.sum.Load()} }

func greatestKey(ctx context.Context, table arrow.Table) (uint64, error) {
	var greatest atomic.Uint64
	err := eachBlock(ctx, table, func(columns []hostColumn, start, end int) {
		block := uint64(0)
		for row := start; row < end; row++ {
			block = max(block, columns[0].at(row))
		}
		for old := greatest.Load(); block > old && !greatest.CompareAndSwap(old, block); old = greatest.Load() {
		}
	})
	return greatest.Load(), err
}

// verify compares what came of a join with what is wanted of R and S; ErrWrong.
func (c *checker) verify(ctx context.Context, device *backend.Device, out *output, want operator.Want) error {
	type class struct {
		of      [2]bool // R and S
		matched bool
	}
	wanted := map[class]checksum{}
	if want.Pairs {
		wanted[class{[2]bool{true, true}, true}] = c.pairs
	}
	for side := range want.Matched {
		of := [2]bool{side == sideR, side == sideS}
		if want.Matched[side] {
			wanted[class{of, true}] = c.matched[side]
		}
		if want.Rest[side] {
			wanted[class{of, false}] = c.rest[side]
		}
	}
	rows := uint64(0)
	for _, sum := range wanted {
		rows += sum.rows
	}
	if out.Rows != rows {
		return measure.Wrongf("%d rows are counted, not %d", out.Rows, rows)
	}
	found := map[class]checksum{}
	for _, w := range out.Windows {
		of := class{[2]bool{w.Of[out.sides[sideR]], w.Of[out.sides[sideS]]}, w.Matched}
		sum, err := c.window(ctx, device, w, out.sides)
		if err != nil {
			return err
		}
		found[of] = checksum{found[of].rows + w.Rows, found[of].sum + sum}
	}
	for of := range found {
		if _, ok := wanted[of]; !ok {
			return measure.Wrongf("there are rows that nobody wants: of R and S %v, with a partner %v", of.of, of.matched)
		}
	}
	for of, sum := range wanted {
		switch got := found[of]; {
		case want.Count && got == checksum{}:
		case got.rows != sum.rows:
			return measure.Wrongf("%d rows, not %d", got.rows, sum.rows)
		case got.sum != sum.sum:
			return measure.Wrongf("the output rows differ from the rows of the join")
		}
	}
	return nil
}

// pieceRows of a window are downloaded at a time, while those before them are checked. Tests take fewer.
var pieceRows uint64 = 1 << 22

// window downloads a window and sums the weights of its rows. sides says which sides of the operator R and S are.
func (c *checker) window(ctx context.Context, device *backend.Device, w *operator.Window,
	sides [2]int) (uint64, error) {
	type column struct {
		from  *backend.Buffer
		bytes int
		host  [2][]byte // two pieces
	}
	columns := []column{{from: w.Keys, bytes: c.bytes[sideR][0]}}
	begins := [2]int{} // where the payload of a side begins
	for side, bytes := range c.bytes {
		payload, expected := w.Payload[sides[side]], bytes[1:]
		if !w.Of[sides[side]] {
			expected = nil
		}
		if len(payload) != len(expected) {
			return 0, measure.Wrongf("%d payload columns of side %d, not %d", len(payload), side, len(expected))
		}
		begins[side] = len(columns)
		for p, buffer := range payload {
			columns = append(columns, column{from: buffer, bytes: expected[p]})
		}
	}
	for i := range columns {
		if columns[i].from == nil {
			return 0, measure.Wrongf("column %d of the output is missing", i)
		}
		for piece := range columns[i].host {
			columns[i].host[piece] = make([]byte, min(pieceRows, w.Rows)*uint64(columns[i].bytes))
		}
	}
	var sum atomic.Uint64
	var checking errgroup.Group
	for piece := uint64(0); piece*pieceRows < w.Rows; piece++ {
		rows := min(pieceRows, w.Rows-piece*pieceRows)
		host := make([]hostColumn, len(columns))
		for i, c := range columns {
			data := c.host[piece%2][:rows*uint64(c.bytes)]
			if err := device.Download(ctx, data,
				c.from.Range(piece*pieceRows*uint64(c.bytes), uint64(len(data)))); err != nil {
				return 0, errors.Join(err, checking.Wait())
			}
			host[i] = hostColumnOf(data, c.bytes)
		}
		if err := checking.Wait(); err != nil {
			return 0, err
		}
		ends := [2]int{sideR: begins[sideS], sideS: len(host)}
		checking.Go(func() error {
			return workload.ForBlocks(ctx, int64(rows), func(start, end int64) {
				weights := slices.Repeat([]uint64{1}, int(end-start))
				for side := range begins {
					if !w.Of[sides[side]] {
						continue
					}
					of := slices.Concat(host[:1], host[begins[side]:ends[side]])
					for i, h := range hashRows(side, of, int(start), int(end)) {
						weights[i] *= h
					}
				}
				block := uint64(0)
				for _, weight := range weights {
					block += weight
				}
				sum.Add(block)
			})
		})
	}
	err := checking.Wait()
	return sum.Load(), err
}

// hashRows returns an odd hash of each row of a side, whose first column is the key.
func hashRows(side int, columns []hostColumn, start, end int) []uint64 {
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
