package graphics

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// The stages of a profile.
const (
	statisticsStage = "statistics"
	buildStage      = "build"
	countStage      = "count"
	probeStage      = "probe"
)

// hashed are the parameters with which every draw finds the pixel of a key, followed by its own.
func (s *shape) hashed(own ...uint32) []uint32 {
	return append([]uint32{s.log2Width, s.log2Height, imageSeed}, own...)
}

// statistics finds the height of the stacks that the pieces of some partitions of a side would take (compute
// statistics, 3.4.3).
func (g *granule) statistics(ctx context.Context, s *side, of func(partition int) bool) error {
	var pieces []*piece
	for p := range s.pieces {
		for i := range s.pieces[p] {
			if s.pieces[p][i].height == 0 && of(p) {
				pieces = append(pieces, &s.pieces[p][i])
			}
		}
	}
	for len(pieces) > 0 {
		some := pieces[:min(len(pieces), leastResults/4)]
		if err := g.heights(ctx, s, some); err != nil {
			return err
		}
		pieces = pieces[len(some):]
	}
	return nil
}

func (g *granule) heights(ctx context.Context, s *side, pieces []*piece) error {
	for n, p := range pieces {
		err := g.countPixels(ctx, s.Ordered, p)
		if err == nil {
			err = g.lane.Run(ctx, statisticsStage, func(list *backend.List) error {
				return g.greatest(list, g.pixels(), g.results.Range(uint64(n)*4, 4))
			})
		}
		if err != nil {
			return err
		}
	}
	heights := make([]uint32, len(pieces))
	list := g.lane.List(statisticsStage)
	err := g.lane.Fetch(ctx, list, backend.Transfer{Device: g.results.Range(0, uint64(len(pieces))*4),
		Host: backend.AsBytes(heights)})
	for n, p := range pieces {
		p.height = heights[n]
	}
	return err
}

// countPixels counts the rows of a piece by the pixel of their key, as integers in places.
func (g *granule) countPixels(ctx context.Context, keys backend.Range, p *piece) error {
	list := g.on.List(statisticsStage)
	if err := g.draw(list, g.draws.countPixels, backend.Draw{Args: []backend.Range{keys}, Params: g.hashed(),
		FirstVertex: uint32(p.first), Vertices: uint32(p.rows()),
		Targets: []backend.Target{{Image: g.byPixel, Clear: true}}}); err != nil {
		return err
	}
	return g.counted(ctx, list, g.byPixel, g.pixels())
}

// cycles matches a unit by stacks of at most mostLayers images, one after the other (3.3.2).
func (u *unit) cycles(ctx context.Context, sink operator.Sink) error {
	height, rest := u.stacked().height, make([]uint32, 1)
	for image := uint32(0); image < height; image += mostLayers {
		layers := min(mostLayers, height-image)
		list := u.on.List(buildStage)
		for layer := range layers {
			if err := u.buildImage(list, image+layer, rest[0]); err != nil {
				return err
			}
			if image+layer != 1 || height == 2 {
				continue
			}
			if err := u.on.Fetch(ctx, list, backend.Transfer{Device: u.results.Range(0, 4),
				Host: backend.AsBytes(rest)}); err != nil {
				return err
			}
			list = u.on.List(buildStage)
			list.Fill(u.placed.Range(0, (uint64(rest[0])+31)/32*4), 0)
		}
		if err := u.on.Submit(ctx, list); err != nil {
			return err
		}
		if err := u.match(ctx, layers, sink); err != nil {
			return err
		}
	}
	return nil
}

// buildImage draws the rows that are in no image yet into the next one (3.1). rest is the number of rows that the first
// image has not, known after the second one.
func (u *unit) buildImage(list *backend.List, image, rest uint32) error {
	keys, _ := u.columns()
	p := u.stacked()
	d := backend.Draw{Args: []backend.Range{keys[0], u.rest.All(), u.results.Range(0, 4), u.placed.All()},
		Params: u.hashed(), FirstVertex: uint32(p.first), Vertices: uint32(p.rows()),
		Targets: []backend.Target{{Image: u.stack, Layer: image % mostLayers, Clear: true}}}
	if image > 0 {
		before := (image - 1) % mostLayers
		d.Textures = []backend.Texture{{Image: u.stack, FirstLayer: before, EndLayer: before + 1}}
	}
	switch image {
	case 0:
	case 1:
		list.Fill(u.results.Range(0, 4), 0)
	default:
		d.FirstVertex, d.Vertices = 0, rest
	}
	return u.draw(list, u.draws.build[min(image, 2)], d)
}

// match counts the partners of the rows of the other side in the images of a stack, and draws the pairs (3.2, 3.3).
func (u *unit) match(ctx context.Context, layers uint32, sink operator.Sink) error {
	keys, ids := u.columns()
	p, want := u.other(), &u.plan.Want
	d := backend.Draw{FirstVertex: uint32(p.first), Vertices: uint32(p.rows()),
		Textures: []backend.Texture{{Image: u.stack, EndLayer: layers}}}
	count := d
	count.Params = u.hashed(uint32(p.first), layers)
	count.Args = []backend.Range{keys[1], ids[1], ids[0], u.granule.marks[1-u.stackSide], u.granule.marks[u.stackSide],
		u.places.Range(0, p.rows()*4)}
	if u.byImage == 1 {
		count.Instances, count.Targets = layers, []backend.Target{{Image: u.byRow, Clear: true}}
	}
	list := u.on.List(countStage)
	if err := u.draw(list, u.draws.countStack[u.byImage], count); err != nil {
		return err
	}
	if !want.Pairs || u.byImage == 0 {
		if err := u.on.Submit(ctx, list); err != nil || !want.Pairs {
			return err
		}
	} else if err := u.counted(ctx, list, u.byRow, p.rows()); err != nil {
		return err
	}
	bounds, err := u.locate(ctx)
	if err != nil {
		return err
	}
	total := bounds.pairs[len(bounds.pairs)-1]
	if err := sink.Count(ctx, uint64(total)); err != nil || want.Count {
		return err
	}
	for from := 0; from+1 < len(bounds.pairs); {
		to := from + 1 // as many rows as have room for their pairs
		for to+1 < len(bounds.pairs) && uint64(bounds.pairs[to+1]-bounds.pairs[from]) <= u.shape.pairs {
			to++
		}
		first, end := uint64(from)*bounds.rows, min(p.rows(), uint64(to)*bounds.rows)
		base, pairs := bounds.pairs[from], bounds.pairs[to]-bounds.pairs[from]
		if from = to; pairs == 0 {
			continue
		}
		probe := d
		probe.FirstVertex, probe.Vertices = uint32(p.first+first), uint32(end-first)
		probe.Params = u.hashed(uint32(p.first), base, layers)
		if probe.Instances = bounds.most; u.byImage == 1 {
			probe.Instances = layers
		}
		probe.Args = []backend.Range{keys[1], ids[1], ids[0], u.nexts.Range(0, p.rows()*4)}
		if err := u.deliver(ctx, u.draws.probeStack[u.byImage], probe, uint64(pairs), sink); err != nil {
			return err
		}
	}
	return nil
}

// located says how many pairs come before the rows 0, rows, 2 rows and so on of a piece, and in all, and how many a row
// has at most.
type located struct {
	rows  uint64
	pairs []uint32
	most  uint32
}

// locate sums up the counts in places, so that nexts has where the pairs of each row go.
func (u *unit) locate(ctx context.Context) (l located, err error) {
	rows := u.other().rows()
	steps := u.steps(rows)
	list, last := u.lane.List(countStage), u.results.Range(8*steps, 8) // total, most
	err = cmp.Or(u.greatest(list, rows, u.results.Range(8*steps+4, 4)),
		u.sum(list, rows, 32, u.nexts.Range(0, (rows+1)*4)))
	if err != nil {
		return l, err
	}
	list.Copy(u.results.Range(8*steps, 4), u.nexts.Range(rows*4, 4))
	l.rows = u.stepRows()
	sampled := primitive.Strided{Words: u.nexts.Range(0, (steps-1)*l.rows*4+8), Stride: uint32(l.rows / 2)}
	to := primitive.Strided{Words: u.results.Range(0, steps*8), Stride: 1}
	if err := u.lane.CopyStrided(list, to, sampled, steps); err != nil {
		return l, err
	}
	sums, ends := make([]uint32, 2*steps), make([]uint32, 2)
	err = u.lane.Fetch(ctx, list, backend.Transfer{Device: u.results.Range(0, steps*8), Host: backend.AsBytes(sums)},
		backend.Transfer{Device: last, Host: backend.AsBytes(ends)})
	for s := range steps {
		l.pairs = append(l.pairs, sums[2*s])
	}
	l.pairs, l.most = append(l.pairs, ends[0]), ends[1]
	return l, err
}

// deliver draws pairs pairs, at most as many as the result image has pixels, and puts them.
func (u *unit) deliver(ctx context.Context, v variant, d backend.Draw, pairs uint64,
	sink operator.Sink) error {
	list := u.on.List(probeStage)
	d.Targets = []backend.Target{{Image: u.result, Clear: true}}
	if err := u.draw(list, v, d); err != nil {
		return err
	}
	width := uint64(u.result.Spec().Width)
	rows := (pairs + width - 1) / width
	list.ReadBack(&backend.ReadBack{Image: u.result, Rows: uint32(rows), To: u.images.pairs.Range(0, rows*width*8)})
	if err := u.on.Submit(ctx, list); err != nil {
		return err
	}
	err := u.lane.Run(ctx, probeStage, func(list *backend.List) error {
		return kernel.SplitPairs.RecordRows(list, u.lane.Device(), kernel.SplitPairs.With(nil), pairs,
			kernel.SplitPairsArgs{Pairs: u.images.pairs.Range(0, pairs*8), Left: u.ids[0].Range(0, pairs*4),
				Right: u.ids[1].Range(0, pairs*4), Rows: uint32(pairs)})
	})
	if err != nil {
		return err
	}
	for done := uint64(0); done < pairs; {
		w, err := sink.Window(ctx, pairs-done)
		if err != nil {
			return err
		}
		some := min(w.Rows, pairs-done)
		if err := u.granule.pairs.Write(ctx, sink, w, some, func(list *backend.List, build, probe backend.Range) error {
			to := [2]backend.Range{build, probe}
			list.Copy(to[u.stackSide], u.ids[0].Range(done*4, some*4))
			list.Copy(to[1-u.stackSide], u.ids[1].Range(done*4, some*4))
			return nil
		}); err != nil {
			return err
		}
		done += some
	}
	return nil
}
