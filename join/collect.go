package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// collector reads the build side of a stream.
type collector struct {
	flow     *exec.Flow
	sources  [2]Source
	needed   [2][]string
	grant    *exec.Grant // for what was read; nil without a limit
	capBytes uint64      // exec.Unlimited without a limit
	opening
	progress *exec.Progress

	// boundBytes is what may be gathered, beyond which the error is errDivide.
	boundBytes uint64
	// spareBytes is what a plan must leave for parts of the probe side, or else both sides are to be divided.
	spareBytes uint64

	sides    [2]*reading
	gathered [2]gathered
}

// errDivide is the error of a build side that is to be divided.
var errDivide = errors.New("the build side is to be divided")

// release releases what was gathered.
func (c *collector) release() {
	c.gathered[0].release()
	c.gathered[1].release()
}

// heldBytes is the memory of what was gathered or waits to be gathered again.
func (c *collector) heldBytes() (sizeBytes uint64) {
	for side := range c.sides {
		sizeBytes += c.gathered[side].bytes + c.sides[side].waitingBytes()
	}
	return sizeBytes
}

func (c *collector) beginBoth() error {
	return cmp.Or(c.begin(relation.Left), c.begin(relation.Right))
}

// begin begins to read a side.
func (c *collector) begin(side relation.Side) (err error) {
	if c.sides[side] == nil {
		c.sides[side], err = read(c.flow, side, c.sources[side], c.needed[side])
		if err == nil {
			c.gathered[side].schema = c.sides[side].schema
		}
	}
	return err
}

// rows is the number of rows of both sources together; 0 if one of them does not know it.
func (c *collector) rows() uint64 {
	if min(c.sources[0].Rows, c.sources[1].Rows) < 0 {
		return 0
	}
	return uint64(c.sources[0].Rows + c.sources[1].Rows)
}

// take adds a slice to what is gathered of a side, and waits for its memory.
func (c *collector) take(ctx context.Context, side relation.Side, s slice) error {
	c.gathered[side].add(s)
	c.progress.Done(c.gathered[0].rows + c.gathered[1].rows)
	sizeBytes := c.gathered[0].bytes + c.gathered[1].bytes
	if sizeBytes > c.boundBytes {
		return errDivide
	}
	if sizeBytes > c.capBytes {
		return &backend.OpError{Op: "read build side", Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
			"the %s side takes more than %s; raise memory_limit, or make the other one the build side", side,
			text.Limit(c.capBytes-c.gathered[1-side].bytes))}
	}
	if c.grant == nil {
		return nil
	}
	return c.grant.Await(ctx, exec.Need{Host: sizeBytes})
}

// build collects the given side, and begins to read the other one. The caller owns the table.
func (c *collector) build(ctx context.Context, side relation.Side) (table arrow.Table, probe *reading, err error) {
	if table = c.sources[side].table; table != nil {
		table.Retain()
	} else if table, err = c.whole(ctx, side); err != nil {
		return nil, nil, err
	}
	if err := c.begin(1 - side); err != nil {
		table.Release()
		return nil, nil, err
	}
	c.back(1 - side)
	c.gathered[side].release() // the table has it
	return table, c.sides[1-side], nil
}

// back has what was gathered of a side gathered again, before what comes.
func (c *collector) back(side relation.Side) {
	var waiting []slice
	for _, s := range c.gathered[side].slices {
		s.divide(func(s slice, _ error) bool {
			waiting = append(waiting, s)
			return true
		})
	}
	c.sides[side].waiting = append(waiting, c.sides[side].waiting...)
	c.gathered[side] = gathered{schema: c.gathered[side].schema}
}

// backTable has the rows of a table gathered again, before what comes.
func (c *collector) backTable(ctx context.Context, side relation.Side, table arrow.Table) error {
	g := gathered{schema: c.sides[side].schema}
	source := FromTable(table)
	for s, err := range source.slices(ctx, side, g.schema) {
		if err != nil {
			g.release()
			return err
		}
		g.add(s)
	}
	c.gathered[side] = g
	c.back(side)
	return nil
}

// drain takes all slices of both sides, in the order of each, as they come: take owns them.
func (c *collector) drain(ctx context.Context, take func(relation.Side, slice) error) error {
	open := []relation.Side{relation.Left, relation.Right}
	for _, side := range open {
		c.back(side)
		for len(c.sides[side].waiting) > 0 {
			s, _, _ := c.sides[side].next(ctx)
			if err := take(side, s); err != nil {
				return err
			}
		}
	}
	for len(open) > 0 {
		pipes := [2]*exec.Pipe[slice]{c.sides[open[0]].slices, c.sides[open[len(open)-1]].slices}
		s, of, some, err := exec.TakeAny(ctx, pipes)
		if err != nil {
			return err
		}
		side := open[of%len(open)]
		if !some {
			open = slices.DeleteFunc(open, func(s relation.Side) bool { return s == side })
		} else if err := take(side, s); err != nil {
			return err
		}
	}
	return nil
}

// partShare is the share of memory of the smaller side of a part.
const partShare = 16

// partsNumber is into how many parts both sides are divided, so that a part of the smaller one is a small share of
// memory. If the length of a source is unknown, it may have several times the rows that were gathered.
func (c *collector) partsNumber(e *Engine) int {
	const least, most, guess = 8, 512, 8
	smaller := float64(exec.Unlimited)
	for side := range c.sides {
		g := &c.gathered[side]
		rowBytes, rows := guessedRowBytes(g.schema), float64(c.sources[side].Rows)
		if g.rows > 0 {
			rowBytes = float64(g.bytes) / float64(g.rows)
		}
		if rows < 0 {
			rows = guess * max(float64(g.rows), float64(mostBlockBytes)/rowBytes)
		}
		smaller = min(smaller, rowBytes*rows)
	}
	room := float64(min(c.capBytes, e.DeviceCapBytes())) / partShare
	return int(min(max(math.Ceil(smaller/room), least), most))
}

// whole collects the rest of a side.
func (c *collector) whole(ctx context.Context, side relation.Side) (arrow.Table, error) {
	if err := c.begin(side); err != nil {
		return nil, err
	}
	for {
		s, some, err := c.sides[side].next(ctx)
		if err != nil {
			return nil, err
		}
		if !some {
			return c.gathered[side].table(), nil
		}
		if err := c.take(ctx, side, s); err != nil {
			return nil, err
		}
	}
}

// shorter reads both sides at once until one has ended, which it returns: the shorter one, if both are read about as
// fast. A side that keeps silent does not hold up the other. As soon as both together take a quarter of the memory, it
// returns the left one, or errDivide if both can be divided.
func (c *collector) shorter(ctx context.Context) (relation.Side, error) {
	if err := c.beginBoth(); err != nil {
		return 0, err
	}
	for c.gathered[0].bytes+c.gathered[1].bytes <= c.capBytes/4 {
		s, side, some, err := exec.TakeAny(ctx, [2]*exec.Pipe[slice]{c.sides[0].slices, c.sides[1].slices})
		if err != nil {
			return 0, err
		}
		if !some {
			return relation.Side(side), nil
		}
		if err := c.take(ctx, relation.Side(side), s); err != nil {
			return 0, err
		}
	}
	if c.boundBytes != exec.Unlimited {
		return relation.Left, errDivide
	}
	return relation.Left, nil
}
