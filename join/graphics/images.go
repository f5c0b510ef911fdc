package graphics

import (
	"context"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// images are what the units of a granule draw into, one unit after the other, and the buffers to which it is read back.
type images struct {
	draws *draws
	lane  *exec.Lane // of kernels, whose memory has all of this
	on    *exec.Lane // of draws

	byPixel *backend.Image // rows of each pixel of a hash image
	stack   *backend.Image
	result  *backend.Image // pairs: the number of the row in the stack, and of the other one
	byRow   *backend.Image // partners of each row; only with ByImage

	floats *backend.Buffer // counts that were read back
	places *backend.Buffer // counts as integers
	nexts  *backend.Buffer // their prefix sums and total
	rest   *backend.Buffer // rows that the first image of a stack has not
	placed *backend.Buffer // bitmap of these: those that later images have
	scratch,
	results *backend.Buffer // few numbers for the host
	pairs *backend.Buffer    // pairs that were read back
	ids   [2]*backend.Buffer // their columns
}

// spec is an image of at least pixels pixels. Width and height are powers of 2, as equal as possible.
func spec(pixels uint64, layers uint32, format backend.Format) backend.ImageSpec {
	log2 := log2Ceil(pixels)
	return backend.ImageSpec{Width: 1 << ((log2 + 1) / 2), Height: 1 << (log2 / 2), Layers: layers, Format: format}
}

// specs are the images of a join with such keys, absent where they are not needed: byPixel, stack, result, byRow.
func (s *shape) specs(keyBytes int, want *operator.Want) (specs [4]backend.ImageSpec) {
	hash := backend.ImageSpec{Width: 1 << s.log2Width, Height: 1 << s.log2Height, Layers: 1, Format: backend.R32Float}
	stack := hash
	stack.Layers, stack.Format = mostLayers, stackFormat(keyBytes)
	specs[0], specs[1] = hash, stack
	if want.Pairs && !want.Count {
		specs[2] = spec(s.pairs, 1, backend.RG32UInt)
	}
	if s.byImage == 1 {
		specs[3] = spec(s.unitRows, 1, backend.R32Float)
	}
	return specs
}

// bufferBytes are the sizes of floats, places, nexts, rest, placed, scratch and results, of pairs, and of ids twice.
func (s *shape) bufferBytes(t primitive.Tuning, want *operator.Want) (sizes []uint64, err error) {
	rows := max(1<<log2Ceil(s.unitRows), s.pixels()) // images are read back by rows of pixels
	scan, err := primitive.PlanScan(t, rows, 32, 64, true)
	if err != nil {
		return nil, err
	}
	reduce, err := primitive.PlanReduce(t, kernel.ReduceMax, rows, 32, 32)
	sizes = []uint64{rows * 4, rows * 4, rows*4 + 8, s.unitRows * 4, (s.unitRows + 31) / 32 * 4,
		max(scan.ScratchBytes, reduce.ScratchBytes), max(leastResults, 8*s.steps(s.unitRows)+8)}
	if want.Pairs && !want.Count {
		sizes = append(sizes, s.pairs*8, s.pairs*4, s.pairs*4)
	}
	return sizes, err
}

// leastResults is the size of the numbers that are fetched at a time, at least.
const leastResults = 1 << 16

// stepRows is the number of rows between two prefix sums that the host looks at. Their pairs fit into the result image,
// whatever they are. It is even, because pairs of sums of 32 bits are copied.
func (s *shape) stepRows() uint64 { return s.pairs / mostLayers }

// steps is the number of these sums for rows rows.
func (s *shape) steps(rows uint64) uint64 { return (rows + s.stepRows() - 1) / s.stepRows() }

// sizes are the bytes of all images and buffers.
func (s *shape) sizes(f *operator.Facts, want *operator.Want) (sizes []uint64, err error) {
	sizes, err = s.bufferBytes(f.Tuning, want)
	specs := s.specs(f.KeyBytes, want)
	all := specs[:]
	if s.flattenFrom < math.MaxUint32 {
		begins, candidates := s.flatBytes()
		sizes, all = append(sizes, begins, begins, candidates), append(all, spec(s.unitRows, 1, stackFormat(f.KeyBytes)))
	}
	for _, spec := range all {
		sizes = append(sizes, uint64(spec.Width)*uint64(spec.Height)*uint64(spec.Layers)*spec.Format.PixelBytes())
	}
	return sizes, err
}

// flatBytes are the sizes of a flattened stack's beginnings of pixels, of which there are two, and of its candidates.
func (s *shape) flatBytes() (begins, candidates uint64) {
	return (s.pixels() + 1) * 4, (s.unitRows + 1) * 8
}

// images allocates from a lane.
func (s *shape) images(ctx context.Context, lane *exec.Lane, p *operator.Plan) (*images, error) {
	keyBytes := p.Facts.KeyBytes
	i := &images{draws: drawsOf[keyBytes], lane: lane, on: lane.On(ctx, backend.Graphics)}
	all := [4]**backend.Image{&i.byPixel, &i.stack, &i.result, &i.byRow}
	for n, spec := range s.specs(keyBytes, &p.Want) {
		if spec.Width > 0 {
			*all[n] = lane.Memory.NewImage(spec, [4]string{"pixel counts", "hash stack", "result", "match counts"}[n])
		}
	}
	sizes, err := s.bufferBytes(p.Facts.Tuning, &p.Want)
	if err != nil {
		return nil, err
	}
	buffers := []**backend.Buffer{&i.floats, &i.places, &i.nexts, &i.rest, &i.placed, &i.scratch, &i.results,
		&i.pairs, &i.ids[0], &i.ids[1]}
	for n, sizeBytes := range sizes {
		*buffers[n] = lane.Memory.New(sizeBytes, "graphics join")
	}
	return i, lane.Memory.Err()
}

// draw records a draw.
func (i *images) draw(list *backend.List, v variant, d backend.Draw) error {
	return i.lane.Draw(list, v.spec, v.config, d)
}

// counted reads back the first values counts of an image of floats, row by row, and converts them to integers.
func (i *images) counted(ctx context.Context, list *backend.List, image *backend.Image, values uint64) error {
	width := uint64(image.Spec().Width)
	rows := (values + width - 1) / width
	list.ReadBack(&backend.ReadBack{Image: image, Rows: uint32(rows), To: i.floats.Range(0, rows*width*4)})
	if err := i.on.Submit(ctx, list); err != nil {
		return err
	}
	return i.lane.Run(ctx, countStage, func(list *backend.List) error {
		return kernel.FloatCounts.RecordRows(list, i.lane.Device(), kernel.FloatCounts.With(nil), values,
			kernel.FloatCountsArgs{Floats: i.floats.Range(0, values*4), Counts: i.places.Range(0, values*4),
				Rows: uint32(values)})
	})
}

// sum records the prefix sums of the first rows counts in places, as numbers of bits bits, and their total.
func (i *images) sum(list *backend.List, rows uint64, bits int, to backend.Range) error {
	plan, err := primitive.PlanScan(i.lane.Tuning(), rows, 32, bits, true)
	if err != nil {
		return err
	}
	return i.lane.Scan(list, plan, i.places.Range(0, rows*4), to, i.scratch.All())
}

// greatest records the greatest of the first rows counts in places.
func (i *images) greatest(list *backend.List, rows uint64, to backend.Range) error {
	plan, err := primitive.PlanReduce(i.lane.Tuning(), kernel.ReduceMax, rows, 32, 32)
	if err != nil {
		return err
	}
	err = i.lane.Reduce(list, plan, i.places.Range(0, rows*4), i.scratch.All())
	list.Copy(to, i.scratch.Range(plan.ResultOffset, 4))
	return err
}
