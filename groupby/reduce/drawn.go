package reduce

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
)

// drawing reduces a batch to a partial with unique keys on the graphics pipeline (GARUDA 4). Rows are points that are
// drawn into a hash image, at the pixel of their key, and the last one stays: it is the head of the group of its key.
// Rows with the key of the head at their pixel have found their group. Only the others, which collide, are drawn into
// the next image, until there are none:
//
//	row      0  1  2  3  4  5     first image: row 5 stays at the pixel of a and c, row 2 at that of b
//	key      a  b  b  a  c  c     second image: rows 0 and 3 are left, and row 3 stays
//	head     3  2  2  3  5  5
//	heads    0  0  1  1  0  1
//	places   0  0  0  1  2  2  3  a prefix sum: the groups are b, a, c
//	group    1  0  0  1  2  2     the place of the head
//
// Every row then updates the states of its group. What differs from the paper:
//
//   - Batches are not partitioned (4): rows that collide go on to the next image, so more groups than pixels take
//     more images.
//   - Each image has another hash function, and only the remaining rows take part (4.1.1). With the same one a pixel
//     of n keys takes n images. Only a sixteenth of the rows is drawn into the first image.
//   - States are updated by atomic additions with carry, and atomic minima, by vertices that draw nothing, not by
//     blending (4.1.2): 64-bit sums would take 8 targets with a byte of the value each, and a draw for every 2^16
//     rows of the largest group. A minimum is found word by word from the highest one; in the pass of a word only
//     rows take part that equal the group in the higher words.
//   - Key columns are packed into one code, or hashed and verified, so one attachment holds the code and the row, and
//     no histogram finds the most diverse attribute (4.2.1, 4.2.2).
type drawing struct {
	*Operator
	lane, on *exec.Lane // of kernels, whose memory has all of this; of draws
	batch    *batch
	image    *backend.DrawSpec // into the hash image

	ids    backend.Range // by row: the head of its group, then the number of its group
	heads  backend.Range // by row: 1 for heads
	places backend.Range // by row: the heads before it, and at the end all
}

const (
	// mostDrawnRows is the number of rows that pixels have room for.
	mostDrawnRows = 1 << 31
	// mostDrawnSide is the width and height of a hash image, whatever a device allows (GARUDA 5).
	mostDrawnSide = 4096
	drawnSeed     = 0x7f4a7c15
	// sampleShare of the rows are drawn into the first image, of at least leastSampled: if there are few groups, the
	// others find their head there, and need not be drawn.
	sampleShare, leastSampled = 16, 1 << 10
)

// groupImages are the draws into hash images by the bytes of keys.
var groupImages = map[int]*backend.DrawSpec{4: imageOf(backend.RGBA16UInt), 8: imageOf(backend.RGBA32UInt)}

func imageOf(format backend.Format) *backend.DrawSpec {
	spec := *kernel.GroupImage
	spec.Targets = []backend.TargetSpec{{Format: format}}
	return &spec
}

// drawable returns nil if all reductions are drawn: those whose states do not depend on the order of rows. Otherwise
// backend.ErrUnsupported.
func (p *Plan) drawable() error {
	for i := range p.Reductions {
		if !p.Reductions[i].Drawn() {
			return &backend.OpError{Op: "plan group-by", Err: backend.ErrUnsupported, Detail: "the graphics pipeline " +
				"computes count, sum and avg of integers and decimals, min, max and first; not sums of floats and variances"}
		}
	}
	return nil
}

// drawn reduces a batch by drawing.
func (o *Operator) drawn(ctx context.Context, lane *exec.Lane, b *batch) (*partial, error) {
	if most := min(cmp.Or(o.plan.force.drawnRows, mostDrawnRows), mostDrawnRows); b.rows > most {
		return nil, &backend.OpError{Op: "group-by", Err: backend.ErrLimit,
			Detail: "pixels have room for row numbers of 31 bits"}
	}
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	d := &drawing{Operator: o, lane: lane, on: lane.On(ctx, backend.Graphics), batch: b,
		image: groupImages[o.plan.Facts.KeyBytes]}
	d.ids = lane.Memory.New(b.rows*4, "heads of rows").All()
	d.heads = lane.Memory.New(b.rows*4, "heads").All()
	d.places = lane.Memory.New((b.rows+1)*4, "places of groups").All()
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	if err := d.group(ctx); err != nil {
		return nil, err
	}
	groups, err := d.place(ctx)
	if err != nil {
		return nil, err
	}
	to := o.newPartial(ctx, groups)
	to.unique = true
	return to.fill(ctx, d.on, "group, number", func(list *backend.List) error { return d.aggregate(list, to) })
}

// imageSpec is a hash image for rows rows. As in GARUDA 5 it has 2.8 pixels for each possible group, up to the largest
// image: then a fifth of the groups collide.
func (d *drawing) imageSpec(limits backend.RasterLimits, rows uint32) backend.ImageSpec {
	f, groups := &d.plan.Facts, uint64(rows)
	if f.KeyBits < 31 {
		groups = min(groups, 1<<f.KeyBits)
	}
	if f.Groups > 0 {
		groups = min(groups, f.Groups)
	}
	side := uint64(min(mostDrawnSide, limits.MaxWidth, limits.MaxHeight))
	if d.plan.force.drawnSide > 0 {
		side = d.plan.force.drawnSide
	}
	log2Side := bits.Len64(side) - 1
	log2 := min(max(6, bits.Len64(groups*14/5)), 2*log2Side)
	return backend.ImageSpec{Width: 1 << ((log2 + 1) / 2), Height: 1 << (log2 / 2), Layers: 1,
		Format: d.image.Targets[0].Format}
}

// group finds the head of the group of each row, image by image (GARUDA 4.1.1). Each image has another hash function,
// so that keys that collide in one are unlikely to collide in the next. Into the first image only some rows are drawn.
// Into others all that are left are, which therefore need not be cleared: rows look only at pixels that some of them
// were drawn at.
func (d *drawing) group(ctx context.Context) error {
	r, err := d.lane.Device().Rasterizer()
	if err != nil {
		return err
	}
	memory := d.lane.Scope(ctx)
	defer memory.ReleaseAll()
	lists := [2]backend.Range{memory.New(d.batch.rows*4, "rest").All(), memory.New(d.batch.rows*4, "rest").All()}
	left := memory.New(4, "rows left").All()
	if err := memory.Err(); err != nil {
		return err
	}
	rest, rows := backend.Range{}, []uint32{uint32(d.batch.rows)}
	drawn := rows[0]
	if drawn >= leastSampled {
		drawn /= sampleShare
	}
	var image *backend.Image
	var spec backend.ImageSpec
	for n := uint32(0); rows[0] > 0; n++ {
		if want := d.imageSpec(r.RasterLimits(), drawn); want.Width > spec.Width || want.Height > spec.Height {
			memory.ReleaseImages(image)
			image, spec = memory.NewImage(want, "hash image"), want
			if err := memory.Err(); err != nil {
				return err
			}
		}
		list := d.on.List("group, draw")
		if n == 0 {
			list.Fill(d.heads, 0)
		}
		list.Fill(left, 0)
		params := []uint32{uint32(bits.Len32(spec.Width) - 1), uint32(bits.Len32(spec.Height) - 1), drawnSeed + n}
		err := d.draw(list, d.image, backend.Draw{Args: []backend.Range{d.batch.keys, rest}, Params: params,
			Vertices: drawn, Targets: []backend.Target{{Image: image, Clear: n == 0}}})
		list.Stage("group, map")
		err = cmp.Or(err, d.draw(list, kernel.GroupMap, backend.Draw{Args: []backend.Range{d.batch.keys, rest, d.ids,
			d.heads, lists[n%2], left}, Params: append(params, rows[0], vertices(rows[0])),
			Vertices: vertices(rows[0]), Textures: []backend.Texture{{Image: image, EndLayer: 1}}}))
		if err == nil {
			err = d.on.Fetch(ctx, list, backend.Transfer{Device: left, Host: backend.AsBytes(rows)})
		}
		if err != nil {
			return err
		}
		rest, drawn = lists[n%2], rows[0]
	}
	return nil
}

// place gives heads numbers, and returns how many there are (GARUDA 4.1.2).
func (d *drawing) place(ctx context.Context) (groups uint64, err error) {
	temporary := d.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	rows, total := d.batch.rows, []uint32{0}
	err = d.lane.Run(ctx, "group, place", func(list *backend.List) error {
		return d.lane.SumCounts(list, temporary, rows, 32, d.heads, d.places)
	}, backend.Transfer{Device: d.places.Part(rows*4, 4), Host: backend.AsBytes(total)})
	return uint64(total[0]), err
}

// aggregate records draws that number the groups of rows, and reduce the values of each group to its states.
func (d *drawing) aggregate(list *backend.List, to *partial) error {
	rows := uint32(d.batch.rows)
	each := []uint32{rows, vertices(rows)}
	err := d.draw(list, kernel.GroupPlace, backend.Draw{Args: []backend.Range{d.batch.keys, d.places, d.ids, to.keys},
		Params: each, Vertices: each[1]})
	list.Stage("group, aggregate")
	for i := range d.batch.inputs {
		in, states := &d.batch.inputs[i], [2]backend.Range{}
		copy(states[:], to.states[i])
		v := backend.Draw{Args: []backend.Range{d.ids, in.value[0], in.value[1], in.valid, states[0], states[1]},
			Params: append([]uint32{in.bits, in.shift, in.kind, in.validBit, uint32(in.firstRow),
				uint32(in.firstRow >> 32)}, each...), Vertices: each[1]}
		if in.op == kernel.GroupLeast {
			err = cmp.Or(err, d.extreme(list, v, in, uint32(to.rows)))
			continue
		}
		for _, state := range to.states[i] {
			list.Fill(state, 0)
		}
		err = cmp.Or(err, d.draw(list, kernel.GroupAdd, v))
	}
	return err
}

// extreme records the draws of a least or greatest value: word by word, from the highest one.
func (d *drawing) extreme(list *backend.List, v backend.Draw, in *input, groups uint32) error {
	words := uint32(2)
	if v.Args[5].Buffer != nil {
		words = 4
	}
	pass := func(pass, word, vertices uint32) error {
		v := v
		v.Params, v.Vertices = append(slices.Clip(v.Params), in.flip, word), vertices
		return d.lane.Draw(list, kernel.GroupExtreme, backend.Config{"pass": pass}, v)
	}
	err := pass(kernel.ExtremeNone, 0, groups)
	for word := words; word > 0; word-- {
		err = cmp.Or(err, pass(kernel.ExtremeWord, word-1, v.Vertices))
	}
	return cmp.Or(err, pass(kernel.ExtremeEnd, 0, groups))
}

// vertices is the number of vertices that process rows rows.
func vertices(rows uint32) uint32 {
	return uint32((uint64(rows) + kernel.VertexRows - 1) / kernel.VertexRows)
}

// draw records a draw in the variant for the width of keys.
func (d *drawing) draw(list *backend.List, spec *backend.DrawSpec, draw backend.Draw) error {
	return d.lane.Draw(list, spec, backend.Config{"key_bits": uint32(d.plan.Facts.KeyBytes * 8)}, draw)
}
