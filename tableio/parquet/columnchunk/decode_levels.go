package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// readLevels reads the definition levels of a page, of which there are 0 for a null and 1 for a value, and counts the
// values. A page without nulls, whose levels mostly are one run of ones, needs no bits.
func (c *chunkDecoder) readLevels(in []byte, rows int) (valid int, err error) {
	err = bitRuns(in, rows, func(run bitRun) {
		ones := run.ones()
		valid += ones
		if ones < run.n && c.page.levels == nil {
			c.levels = grown(c.levels, (rows+7)/8)
			c.page.levels = c.levels
			bitutil.SetBitsTo(c.levels, 0, int64(run.at), true)
		}
		if c.page.levels != nil {
			run.write(c.page.levels)
		}
	})
	return valid, err
}

// readPackedLevels reads levels that are packed from the highest bit of each byte on, as old programs wrote them.
func (c *chunkDecoder) readPackedLevels(in []byte, rows int) (valid int) {
	c.levels = append(c.levels[:0], in...)
	for i, b := range c.levels {
		c.levels[i] = bits.Reverse8(b)
	}
	c.page.levels = c.levels
	return bitutil.CountSetBits(c.levels, 0, rows)
}

// bitRun is a run of bits: n equal ones, or the bits of packed.
type bitRun struct {
	at, n  int
	packed []byte // nil: every bit is set, or none
	set    bool
}

func (r *bitRun) ones() int {
	switch {
	case r.packed != nil:
		return bitutil.CountSetBits(r.packed, 0, r.n)
	case r.set:
		return r.n
	}
	return 0
}

// write puts the bits into a bitmap.
func (r *bitRun) write(bitmap []byte) {
	if r.packed != nil {
		bitutil.CopyBitmap(r.packed, 0, r.n, bitmap, r.at)
	} else {
		bitutil.SetBitsTo(bitmap, int64(r.at), int64(r.n), r.set)
	}
}

// bitRuns reads n values of one bit in Parquet's hybrid of runs and bit packing.
func bitRuns(in []byte, n int, each func(bitRun)) error {
	for at := 0; at < n; {
		head, k := binary.Uvarint(in)
		if k == 0 {
			return errShort
		}
		if k < 0 {
			return errRun
		}
		in = in[k:]
		if head&1 == 0 {
			if len(in) == 0 {
				return errShort
			}
			if in[0] > 1 {
				return fmt.Errorf("a run of the value %d in one bit", in[0])
			}
			run := bitRun{at: at, n: int(min(head>>1, uint64(n-at))), set: in[0] == 1}
			in = in[1:]
			if run.n > 0 {
				each(run)
			}
			at += run.n
			continue
		}
		groups := int(min(head>>1, uint64(len(in))))
		run := bitRun{at: at, n: min(8*groups, n-at), packed: in[:groups]}
		if groups == 0 && head>>1 > 0 {
			return errShort
		}
		in = in[groups:]
		if run.n > 0 {
			each(run)
		}
		at += run.n
	}
	return nil
}
