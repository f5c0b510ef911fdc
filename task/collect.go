package task

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
	"github.com/spirjoin/spirjoin/source"
)

// Collector reads the build side of a stream, and keeps what it read of both sides until a table or a division has it.
// Memory is acquired as rows come.
type Collector struct {
	flow     *exec.Flow
	sources  [2]source.Source
	needed   [2][]string
	grant    *exec.Grant // for what was read; nil without a limit
	capBytes uint64      // exec.Unlimited without a limit
	progress *exec.Progress

	// boundBytes is what may be gathered, beyond which the error is ErrDivide.
	boundBytes uint64
	// SpareBytes is what a plan must leave for parts of the probe side, or else both sides are to be divided.
	SpareBytes uint64

	sides    [2]*source.Reading
	gathered [2]source.Gathered
}

// ErrDivide says that both sides are to be divided, because the build side takes too much memory.
var ErrDivide = errors.New("the build side is to be divided")

// NewCollector returns a collector of the sources of a task, whose flow reads. grant is open, or nil if host memory has
// no limit.
func NewCollector(flow *exec.Flow, m *Means, of *Task, grant *exec.Grant) *Collector {
	c := &Collector{flow: flow, sources: of.Sources, needed: of.Layout.Needed, grant: grant, capBytes: m.HostCapBytes(),
		boundBytes: exec.Unlimited, progress: of.Progress}
	switch {
	case m.Whole(of) != "":
	case m.DivideBytes > 0:
		c.boundBytes = m.DivideBytes
	case c.capBytes != exec.Unlimited:
		c.boundBytes, c.SpareBytes = c.capBytes/2, c.capBytes/16
	}
	return c
}

// Release releases what was gathered.
func (c *Collector) Release() {
	c.gathered[0].Release()
	c.gathered[1].Release()
}

// heldBytes is the memory of what was gathered or waits to be gathered again.
func (c *Collector) heldBytes() (sizeBytes uint64) {
	for side := range c.sides {
		sizeBytes += c.gathered[side].Bytes + c.sides[side].WaitingBytes()
	}
	return sizeBytes
}

func (c *Collector) beginBoth() error {
	return cmp.Or(c.begin(relation.Left), c.begin(relation.Right))
}

// begin begins to read a side.
func (c *Collector) begin(side relation.Side) (err error) {
	if c.sides[side] == nil {
		c.sides[side], err = source.Read(c.flow, side, c.sources[side], c.needed[side])
		if err == nil {
			c.gathered[side].Schema = c.sides[side].Schema
		}
	}
	return err
}

// rows is the number of rows of both sources together; 0 if one of them does not know it.
func (c *Collector) rows() uint64 {
	if min(c.sources[0].Rows, c.sources[1].Rows) < 0 {
		return 0
	}
	return uint64(c.sources[0].Rows + c.sources[1].Rows)
}

// take adds a slice to what is gathered of a side, and waits for its memory.
func (c *Collector) take(ctx context.Context, side relation.Side, s source.Slice) error {
	c.gathered[side].Add(s)
	c.progress.Done(c.gathered[0].Rows + c.gathered[1].Rows)
	sizeBytes := c.gathered[0].Bytes + c.gathered[1].Bytes
	if sizeBytes > c.boundBytes {
		return ErrDivide
	}
	if sizeBytes > c.capBytes {
		return &backend.OpError{Op: "read build side", Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
			"the %s side takes more than %s; raise memory_limit, or make the other one the build side", side,
			text.Limit(c.capBytes-c.gathered[1-side].Bytes))}
	}
	if c.grant == nil {
		return nil
	}
	return c.grant.Await(ctx, exec.Need{Host: sizeBytes})
}

// Collect collects the given side, and begins to read the other one. The caller owns the table.
func (c *Collector) Collect(ctx context.Context, side relation.Side) (
	table arrow.Table, probe *source.Reading, err error) {
	if table = c.sources[side].Table(); table != nil {
		table.Retain()
	} else if table, err = c.whole(ctx, side); err != nil {
		return nil, nil, err
	}
	if err := c.begin(1 - side); err != nil {
		table.Release()
		return nil, nil, err
	}
	c.sides[1-side].Back(&c.gathered[1-side])
	c.gathered[side].Release() // the table has it
	return table, c.sides[1-side], nil
}

// BackTable gives the rows of a table back to a side: they are read again, before the rows that follow.
func (c *Collector) BackTable(ctx context.Context, side relation.Side, table arrow.Table) error {
	if err := c.begin(side); err != nil {
		return err
	}
	g := source.Gathered{Schema: c.sides[side].Schema}
	for s, err := range source.FromTable(table).Slices(ctx, side, g.Schema) {
		if err != nil {
			g.Release()
			return err
		}
		g.Add(s)
	}
	c.sides[side].Back(&g)
	return nil
}

// drain calls take with all slices of both sides as they come, the slices of each side in order. take owns them.
func (c *Collector) drain(ctx context.Context, take func(relation.Side, source.Slice) error) error {
	open := []relation.Side{relation.Left, relation.Right}
	for _, side := range open {
		c.sides[side].Back(&c.gathered[side])
		for c.sides[side].Waits() {
			s, _, _ := c.sides[side].Next(ctx)
			if err := take(side, s); err != nil {
				return err
			}
		}
	}
	for len(open) > 0 {
		pipes := [2]*exec.Pipe[source.Slice]{c.sides[open[0]].Slices, c.sides[open[len(open)-1]].Slices}
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

// partsNumber returns the number of parts into which sides of these sizes are divided, so that a part of the smaller
// one takes a small share of this memory.
func partsNumber(leftBytes, rightBytes float64, capBytes uint64) int {
	const least, most = 8, 512
	return int(min(max(math.Ceil(min(leftBytes, rightBytes)/(float64(capBytes)/partShare)), least), most))
}

// estimateBytes is the size of a side of which g was gathered; rows are all of it, negative if that is unknown. It is
// then assumed to have several times the rows that were gathered.
func estimateBytes(rows int64, g *source.Gathered) float64 {
	const guess = 8
	rowBytes := float64(relation.RowBytes(g.Schema.Fields()...))
	if g.Rows > 0 {
		rowBytes = float64(g.Bytes) / float64(g.Rows)
	}
	if rows < 0 {
		return guess * max(float64(g.Rows)*rowBytes, float64(mostBlockBytes))
	}
	return rowBytes * float64(rows)
}

// whole collects the rest of a side.
func (c *Collector) whole(ctx context.Context, side relation.Side) (arrow.Table, error) {
	if err := c.begin(side); err != nil {
		return nil, err
	}
	for {
		s, some, err := c.sides[side].Next(ctx)
		if err != nil {
			return nil, err
		}
		if !some {
			return c.gathered[side].Table(), nil
		}
		if err := c.take(ctx, side, s); err != nil {
			return nil, err
		}
	}
}

// Shorter reads both sides at once until one has ended, which it returns: the shorter one, if both are read about as
// fast. A side that keeps silent does not hold up the other. As soon as both together take a quarter of the memory, it
// returns the left one, or ErrDivide if both can be divided.
func (c *Collector) Shorter(ctx context.Context) (relation.Side, error) {
	if err := c.beginBoth(); err != nil {
		return 0, err
	}
	for c.gathered[0].Bytes+c.gathered[1].Bytes <= c.capBytes/4 {
		s, side, some, err := exec.TakeAny(ctx, [2]*exec.Pipe[source.Slice]{c.sides[0].Slices, c.sides[1].Slices})
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
		return relation.Left, ErrDivide
	}
	return relation.Left, nil
}
