package joins

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
)

// Cell is a workload: a point of a figure. It is R joined with S as the specification says, or one of the two below.
type Cell struct {
	Spec workload.PKFKSpec
	// Dimensions above 0 are tables like R, with unique keys and a payload column, that S is joined with one after the
	// other, all values of 4 bytes (GFTR 5.2.7): each join returns what the next one needs and all payload so far.
	Dimensions int
	// Query is a join of TPC-H, made of the files in Folder (workload.TPCHJoin): of the specification only KeyBytes
	// counts then. Without a folder it is made by the specification.
	Query, Folder string
	// Crossed, if it has hot keys, is what R and S are instead; its Rows are RRows of the specification.
	Crossed workload.CrossedSpec
	How     string // of [Hows]; "" is inner
	// Granule is the number of probe rows at a time, a multiple of 64, and Window the number of output rows that there
	// is room for at a time. 0 means all of them.
	Granule, Window uint64
}

// granuleRows is what granules are multiples of, so that their columns are aligned.
const granuleRows = backend.PlanAlignment / 4

// String returns the workload in one line, without its folder.
func (c Cell) String() string {
	text := c.workload()
	if c.How != "" && c.How != "inner" {
		text += " how=" + c.How
	}
	if c.Granule > 0 {
		text += fmt.Sprintf(" granule=%d", c.Granule)
	}
	if c.Window > 0 {
		text += fmt.Sprintf(" window=%d", c.Window)
	}
	return text
}

func (c Cell) workload() string {
	switch {
	case c.Dimensions > 0:
		return fmt.Sprintf("star r=%d s=%d dimensions=%d seed=%d", c.Spec.RRows, c.Spec.SRows, c.Dimensions, c.Spec.Seed)
	case c.Crossed.Hot > 0:
		return c.crossed().String()
	case c.Folder != "":
		return fmt.Sprintf("tpch join=%s key-bytes=%d", c.Query, c.Spec.KeyBytes)
	}
	return c.Spec.String()
}

func (c Cell) crossed() workload.CrossedSpec {
	c.Crossed.Rows = c.Spec.RRows
	return c.Crossed
}

// Kind returns pkfk, star, crossed or tpch.
func (c Cell) Kind() string {
	switch {
	case c.Crossed.Hot > 0:
		return "crossed"
	case c.Dimensions > 0:
		return "star"
	case c.Folder != "":
		return "tpch"
	}
	return "pkfk"
}

// Scaled returns the cell with rows divided by a power of 2, at least one row. The rows of files are not scaled.
func (c Cell) Scaled(log2 int) Cell {
	if c.Folder == "" {
		c.Spec.RRows, c.Spec.SRows = max(c.Spec.RRows>>log2, 1), max(c.Spec.SRows>>log2, 1)
	}
	return c
}

// Validate returns an error for a cell that cannot be generated.
func (c Cell) Validate() error {
	want, err := Want(c.How)
	if err != nil {
		return err
	}
	if c.Granule%granuleRows != 0 {
		return fmt.Errorf("%w: granules of %d rows, must be multiples of %d", workload.ErrSpec, c.Granule, granuleRows)
	}
	if c.Crossed.Hot > 0 {
		return c.crossed().Validate()
	}
	if c.Dimensions > 0 {
		if want != hows[0].want {
			return fmt.Errorf("%w: a sequence of %s joins", workload.ErrSpec, c.How)
		}
		return c.star().Validate()
	}
	return c.Spec.Validate()
}

// unique says that no key is twice on the side with fewer rows, the left one of two that are equal.
func (c Cell) unique(leftRows, rightRows uint64) bool {
	return c.Spec.Multiplicity == (workload.Multiplicity{}) && c.Spec.Distinct == 0 && !c.Spec.Skewed() &&
		c.Crossed.Hot == 0 && c.Query != "JO3" &&
		(leftRows <= rightRows || c.Spec.SelfJoin)
}

func (c Cell) star() workload.StarSpec {
	return workload.StarSpec{FactRows: c.Spec.SRows, DimensionRows: c.Spec.RRows, Dimensions: c.Dimensions,
		Seed: c.Spec.Seed}
}

// tables are what is joined: right with the first of lefts, the output with the next, by the next column of
// foreign.
type tables struct {
	lefts          []arrow.Table
	right, foreign arrow.Table // foreign is nil for one join
	last           arrow.Table // what the last join has on the right
}

func (t *tables) release() {
	for _, table := range append(t.lefts, t.right, t.foreign, t.last) {
		if table != nil {
			table.Release()
		}
	}
}

func (c Cell) make(ctx context.Context) (*tables, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Dimensions > 0 {
		star, err := workload.MakeStar(ctx, c.star())
		return &tables{star.Dimensions, star.Facts, star.Foreign, star.Last}, err
	}
	var left, right arrow.Table
	var err error
	if c.Crossed.Hot > 0 {
		left, right, err = workload.Crossed(ctx, c.crossed())
	} else if c.Folder != "" {
		left, right, err = workload.TPCHJoin(ctx, c.Folder, c.Query, c.Spec.KeyBytes)
	} else {
		left, right, err = workload.PKFK(ctx, c.Spec)
	}
	if err != nil {
		return nil, err
	}
	right.Retain()
	return &tables{lefts: []arrow.Table{left}, right: right, last: right}, nil
}
