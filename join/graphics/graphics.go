// Package graphics joins by drawing (GARUDA): a hash table is a stack of images, whose pixels are its slots, and rows
// are points that the graphics pipeline of a device puts into pixels. docs/graphics.md is an introduction.
//
//	count_pixels       both sides: how many images each would take as a stack; the one with fewer becomes it
//	build_stack        image after image, each has the rows that found their pixel taken before
//	count_stack        the other side: one vertex per row and image; the partners of each row
//	                   exclusive prefix sum: where the pairs of each row go
//	probe_stack        the same vertices: the pairs, drawn into an image, as many times as it fills
//
// Sides that are too large for an image are partitioned before, and partitions are joined one after the other, each
// with the stack on whichever side takes fewer images (SnakeJoin, 3.4.3). A stack has at most mostLayers images at a
// time; a higher stack is built and matched mostLayers images at a time (3.3.2). A much higher one, because of keys
// with many rows, is flattened into a single image (3.4.4).
package graphics

import (
	"context"
	"math"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Algorithm is the join on the graphics pipeline, named graphics. Payload stays in place and is gathered by row number.
type Algorithm struct {
	// ByImage draws matches as in GARUDA 3.2 and 3.3: an instance of all rows per image of a stack, whose counts are
	// blended. Otherwise a vertex looks at the images of its row one after the other, up to the first one without a
	// row.
	ByImage bool
	// Stack says which side becomes the stack.
	Stack StackOf
	// Unflattened builds stacks of any height in cycles, as GARUDA 3.3.2, and flattens none.
	Unflattened bool

	force force
}

// StackOf says which side of a join becomes a hash stack.
type StackOf uint8

const (
	// LowerStack is the side that takes fewer images, unit by unit (SnakeJoin, GARUDA 3.4.3).
	LowerStack StackOf = iota
	// BuildStack and ProbeStack are the same side for all units, whatever the height (the fixed orders of GARUDA 6.3.3).
	BuildStack
	ProbeStack
)

// force overrides what a plan chooses, to reach its rare paths in tests; 0: it does not.
type force struct {
	bits        int    // that decide the partition
	side        uint64 // of an image in pixels, at most
	unitRows    uint64
	flattenFrom uint32
}

const (
	// mostLayers is the number of images of a stack that exist at a time (SH_limit, GARUDA 5).
	mostLayers = 8
	// flattenFrom is the height of a stack from which on it is flattened: cycles draw all rows of the stack again for
	// each of their images.
	flattenFrom = 2 * mostLayers
	// mostSide is the width and height of an image, whatever a device allows (GARUDA 5).
	mostSide = 4096
	// mostRows is the number of points that may be blended in a draw, so that floats count them exactly.
	mostRows = 1 << 24
	// mostPairs and leastPairs bound the pixels of the result image.
	mostPairs, leastPairs = 1 << 22, 1 << 10
	mostBits              = 16 // of a partition
	partitionSeed         = 0x2545f491
	imageSeed             = 0x7f4a7c15
)

// Name returns "graphics" and what differs from the default, as in "graphics by image".
func (a Algorithm) Name() string {
	name := "graphics"
	if a.ByImage {
		name += " by image"
	}
	if a.Unflattened {
		name += " unflattened"
	}
	return name + [...]string{LowerStack: "", BuildStack: " build stack", ProbeStack: " probe stack"}[a.Stack]
}

// ByName says why the planner never chooses it.
func (a Algorithm) ByName() string {
	return "runs only if asked for, by name; kernels are faster"
}

// shape is how a join is cut into units, and how large its images are. It depends on the plan alone.
type shape struct {
	bits                  int // of the mix that decide the partition; 0: one partition, and nothing moves
	log2Width, log2Height uint32
	unitRows              uint64 // of a side of a unit, at most
	pairs                 uint64 // pixels of the result image, a power of 2
	flattenFrom           uint32 // height of a stack
	byImage               int    // 1: Algorithm.ByImage
	stackOf               StackOf
}

// digit is the one that decides the partition.
func (s *shape) digit() primitive.Partition {
	return primitive.Partition{Bits: s.bits, Mixed: true, Seed: partitionSeed}
}

// pixels is the size of a hash image.
func (s *shape) pixels() uint64 { return 1 << (s.log2Width + s.log2Height) }

// Plan chooses the number of partitions and the size of images. Errors: backend.ErrInvalidInput for invalid facts.
func (a Algorithm) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	if err := f.Check("plan graphics join", &want); err != nil {
		return nil, err
	}
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	switch {
	case f.CannotDraw != nil:
		p.Reject = f.CannotDraw
	case f.Raster.MaxWidth == 0:
		p.Reject = &backend.OpError{Op: "plan graphics join", Err: backend.ErrUnsupported,
			Detail: "no device is known that draws"}
	case max(f.Rows[operator.Build], f.Held(operator.Probe)) >= 1<<31:
		p.Reject = &backend.OpError{Op: "plan graphics join", Err: backend.ErrLimit,
			Detail: "pixels have room for row numbers of 31 bits"}
	}
	if p.Reject != nil {
		return p, nil
	}
	s := a.shape(f)
	p.Detail = s
	return p, s.cost(p)
}

// shape chooses partitions of which an image has 2.8 times as many pixels as rows, as in GARUDA 5: then a fifth of the
// rows find their pixel taken.
func (a Algorithm) shape(f *operator.Facts) (s shape) {
	build, probe := f.Rows[operator.Build], f.Held(operator.Probe)
	side := uint64(min(mostSide, f.Raster.MaxWidth, f.Raster.MaxHeight))
	if a.force.side > 0 {
		side = a.force.side
	}
	side = 1 << (bits.Len64(side) - 1)
	pixels := f.Raster.MaxImageBytes / stackFormat(f.KeyBytes).PixelBytes() / mostLayers
	for side*side >= pixels && side > 1 { // an image takes more than its pixels
		side /= 2
	}
	for s.bits = a.force.bits; s.bits < mostBits && load(build>>s.bits) > side*side; {
		s.bits++
	}
	build, probe = build>>s.bits, probe>>s.bits
	log2 := log2Ceil(min(side*side, max(64, load(min(build, probe)))))
	s.log2Width = (log2 + 1) / 2
	s.log2Height = log2 - s.log2Width
	s.unitRows = min(mostRows, side*side, max(1<<12, 2*max(build, probe)))
	s.flattenFrom, s.stackOf = flattenFrom, a.Stack
	if a.Unflattened {
		s.flattenFrom = math.MaxUint32
	}
	if a.ByImage {
		s.byImage = 1
	}
	if a.force.unitRows > 0 {
		s.unitRows = a.force.unitRows
	}
	if a.force.flattenFrom > 0 {
		s.flattenFrom = a.force.flattenFrom
	}
	s.pairs = max(leastPairs, min(mostPairs, uint64(1)<<log2Ceil(f.Room())))
	return s
}

// load is the least number of pixels for rows rows.
func load(rows uint64) uint64 { return rows * 14 / 5 }

// log2Ceil is the least n with 2^n at least x.
func log2Ceil(x uint64) uint32 { return uint32(bits.Len64(max(1, x) - 1)) }

// Open returns an operator.
func (Algorithm) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return &join{shape: p.Detail.(shape), plan: p, lane: lane.Nested(ctx)}
}

// cost books what a join takes.
func (s *shape) cost(p *operator.Plan) error {
	f, want := &p.Facts, &p.Want
	c := operator.NewCost(p, operator.Moves{Unit: operator.PartitionRow, KeyBytes: f.KeyBytes,
		Numbers: operator.PairNumbers, Plan: func(layout primitive.Layout) (int, uint64, error) {
			by := s.digit()
			by.Layout = layout
			by.Payload, by.PayloadBytes, by.Columns = primitive.RowNumbers, 4, 1
			plan, err := primitive.PlanPartition(f.Tuning, by)
			return 2 - plan.Result(), plan.ScratchBytes, err
		}})
	defer c.Close()
	for side, rows := range f.Rows {
		if s.bits == 0 || rows == 0 {
			c.Stay(side)
			continue
		}
		if err := c.Transform(side); err != nil {
			return err
		}
		if want.Count || !want.Pairs && !want.Marks(side) { // row numbers move all the same
			c.TakeOf(side, c.Held(side)*4)
		}
	}
	c.Marks()
	if f.Rows[operator.Build] > 0 && f.Rows[operator.Probe] > 0 {
		sizes, err := s.sizes(f, want)
		if err != nil {
			return err
		}
		for _, sizeBytes := range sizes {
			c.Take(sizeBytes)
		}
		s.work(c)
		if want.Pairs && !want.Count {
			c.PairsByNumber()
		}
		for _, sizeBytes := range sizes {
			c.Free(sizeBytes)
		}
	}
	return c.Sides()
}

// work books the draws.
func (s *shape) work(c *operator.Cost) {
	build, probe := float64(c.Facts.Rows[operator.Build])*c.Granules(), float64(c.Facts.Rows[operator.Probe])
	units := c.Granules() * float64(uint64(1)<<s.bits)
	full := min(1, float64(c.Facts.Rows[operator.Build])/float64(uint64(1)<<s.bits)/float64(s.pixels()))
	looks := 1 + full // images at which a row looks
	if s.byImage == 1 {
		looks = mostLayers
	}
	c.Add(operator.Transform, operator.DrawPoint, build)            // statistics
	c.Add(operator.Transform, operator.DrawPoint, build*(1+full/2)) // the first image, and the rows that it has not
	c.Add(operator.Transform, operator.DrawVertex, build)           // the second pass
	c.Add(operator.Transform, operator.Stream, units*float64(16*s.pixels()))
	c.Add(operator.Transform, operator.Launch, 8*units)
	c.Add(operator.Match, operator.DrawVertex, probe*looks)
	c.Add(operator.Match, operator.ScanRow, probe)
	c.Add(operator.Match, operator.Launch, 8*units)
	if s.byImage == 1 {
		c.Add(operator.Match, operator.DrawPoint, c.Out())
	}
	if c.Out() >= flattenFrom*probe {
		c.Add(operator.Match, operator.DrawVertex, c.Out()) // candidates of a flattened stack
	}
	if c.Want.Pairs && !c.Want.Count {
		c.Add(operator.Match, operator.DrawVertex, probe*looks)
		c.Add(operator.Match, operator.DrawPoint, c.Out())
		c.Add(operator.Match, operator.Stream, 32*c.Out())
	}
}
