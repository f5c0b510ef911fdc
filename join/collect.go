package join

import (
	"context"
	"fmt"

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
	progress *exec.Progress

	sides    [2]*reading
	gathered [2]gathered
}

// release releases what was gathered.
func (c *collector) release() {
	c.gathered[0].release()
	c.gathered[1].release()
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

// take adds a slice to what is gathered of a side, and waits for its memory.
func (c *collector) take(ctx context.Context, side relation.Side, s slice) error {
	c.gathered[side].add(s)
	c.progress.Done(c.gathered[0].rows + c.gathered[1].rows)
	sizeBytes := c.gathered[0].bytes + c.gathered[1].bytes
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
	probe = c.sides[1-side]
	for _, s := range c.gathered[1-side].slices {
		s.divide(func(s slice, _ error) bool {
			probe.waiting = append(probe.waiting, s)
			return true
		})
	}
	c.gathered[1-side].slices = nil
	return table, probe, nil
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
// returns the left one.
func (c *collector) shorter(ctx context.Context) (relation.Side, error) {
	for side := range c.sides {
		if err := c.begin(relation.Side(side)); err != nil {
			return 0, err
		}
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
	return relation.Left, nil
}
