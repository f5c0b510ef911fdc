package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// levels reads the definition levels of a page, of which there are 0 for a null and 1 for a value, into the bitmap, and
// counts the values. One run of ones, as most pages have it, costs nothing.
func (c *chunkDecoder) levels(in []byte, rows int) (valid int, err error) {
	err = bitRuns(in, rows, func(run bitRun) {
		ones := run.ones()
		valid += ones
		if ones < run.n {
			c.needValidity(c.at + run.at)
		}
		if c.validity != nil {
			run.write(c.validity.Bytes(), c.at)
		}
	})
	return valid, err
}

// packedLevels reads levels that are packed from the highest bit of each byte on, as old programs wrote them.
func (c *chunkDecoder) packedLevels(in []byte, rows int) (valid int, err error) {
	c.plain = append(c.plain[:0], in...)
	for i, b := range c.plain {
		c.plain[i] = bits.Reverse8(b)
	}
	valid = bitutil.CountSetBits(c.plain, 0, rows)
	if valid < rows {
		c.needValidity(c.at)
	}
	if c.validity != nil {
		bitutil.CopyBitmap(c.plain, 0, rows, c.validity.Bytes(), c.at)
	}
	return valid, nil
}

// needValidity makes the bitmap, whose first rows are all valid.
func (c *chunkDecoder) needValidity(validRows int) {
	if c.validity != nil {
		return
	}
	c.validity = memory.NewResizableBuffer(c.mem)
	c.validity.Resize((c.rows + 7) / 8)
	clear(c.validity.Buf())
	bitutil.SetBitsTo(c.validity.Bytes(), 0, int64(validRows), true)
}

// bitRun is a run of bits: n equal ones, or those of packed.
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

// write puts the bits into a bitmap, behind a number of others.
func (r *bitRun) write(bitmap []byte, offset int) {
	if r.packed != nil {
		bitutil.CopyBitmap(r.packed, 0, r.n, bitmap, offset+r.at)
	} else {
		bitutil.SetBitsTo(bitmap, int64(offset+r.at), int64(r.n), r.set)
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
