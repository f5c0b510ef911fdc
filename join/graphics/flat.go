package graphics

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// flattened is a stack whose images became one: the rows of a pixel of the hash image follow one another (3.4.4). Rows
// of both sides with the same pixel are candidates, which are numbered and looked at one by one, so that keys with many
// rows take no longer than their pairs do.
type flattened struct {
	*unit
	memory     *exec.Scope
	stack      *backend.Image
	begins     *backend.Buffer // where the rows of each pixel begin, and the end
	candidates *backend.Buffer // the number of the first candidate of each row of the other side, and of all
	number     uint64          // of candidates
	window     uint64          // candidates of a draw
}

// flat matches a unit by a flattened stack.
func (u *unit) flat(ctx context.Context, sink operator.Sink) error {
	f := flattened{unit: u, memory: u.lane.Scope(ctx), window: mostPairs}
	defer f.memory.ReleaseAll()
	want := &u.plan.Want
	if want.Pairs && !want.Count {
		f.window = u.shape.pairs
	}
	if err := f.build(ctx); err != nil {
		return err
	}
	if err := f.enumerate(ctx); err != nil {
		return err
	}
	found, err := f.count(ctx)
	if err != nil || !want.Pairs {
		return err
	}
	total := uint64(0)
	for _, pairs := range found {
		total += uint64(pairs)
	}
	if err := sink.Count(ctx, total); err != nil || want.Count {
		return err
	}
	for w, pairs := range found {
		if pairs == 0 {
			continue
		}
		list := u.lane.List(probeStage)
		list.Fill(u.results.Range(0, 4), 0)
		if err := u.lane.Submit(ctx, list); err != nil {
			return err
		}
		d := f.draw(w)
		keys, ids := u.columns()
		d.Args = []backend.Range{keys[1], f.begins.All(), f.candidates.All(), ids[1], ids[0], u.results.Range(0, 4)}
		if err := u.deliver(ctx, u.draws.probeFlat, d, uint64(pairs), sink); err != nil {
			return err
		}
	}
	return nil
}

// build draws the rows of the stack, each behind the others of its pixel.
func (f *flattened) build(ctx context.Context) error {
	s := f.stacked()
	keys, _ := f.columns()
	beginBytes, candidateBytes := f.shape.flatBytes()
	f.begins, f.candidates = f.memory.New(beginBytes, "flattened stack"), f.memory.New(candidateBytes, "candidates")
	nexts := f.memory.New(beginBytes, "flattened stack")
	f.stack = f.memory.NewImage(spec(s.rows(), 1, stackFormat(f.plan.Facts.KeyBytes)), "flattened stack")
	if err := f.memory.Err(); err != nil {
		return err
	}
	if err := f.countPixels(ctx, keys[0], s); err != nil {
		return err
	}
	err := f.lane.Run(ctx, buildStage, func(list *backend.List) error {
		err := f.sum(list, f.shape.pixels(), 32, f.begins.All())
		list.Copy(nexts.All(), f.begins.All())
		return err
	})
	if err != nil {
		return err
	}
	return f.on.Run(ctx, buildStage, func(list *backend.List) error {
		return f.images.draw(list, f.draws.buildFlat, backend.Draw{Args: []backend.Range{keys[0], nexts.All()},
			Params: f.hashed(), FirstVertex: uint32(s.first), Vertices: uint32(s.rows()),
			Targets: []backend.Target{{Image: f.stack, Clear: true}}})
	})
}

// enumerate numbers the candidates.
func (f *flattened) enumerate(ctx context.Context) error {
	o := f.other()
	keys, _ := f.columns()
	err := f.on.Run(ctx, countStage, func(list *backend.List) error {
		return f.images.draw(list, f.draws.countCandidates, backend.Draw{
			Args:   []backend.Range{keys[1], f.begins.All(), f.places.Range(0, o.rows()*4)},
			Params: f.hashed(uint32(o.first)), FirstVertex: uint32(o.first), Vertices: uint32(o.rows())})
	})
	if err != nil {
		return err
	}
	list := f.lane.List(countStage)
	if err := f.sum(list, o.rows(), 64, f.candidates.All()); err != nil {
		return err
	}
	f.number, err = f.lane.FetchNumber(ctx, list, f.candidates.Range(o.rows()*8, 8))
	return err
}

// draw is a draw over the candidates of a window, without its arguments.
func (f *flattened) draw(window int) backend.Draw {
	from, o := uint64(window)*f.window, f.other()
	return backend.Draw{Params: f.hashed(uint32(o.first), uint32(o.rows()), uint32(from), uint32(from>>32)),
		Vertices: uint32(min(f.window, f.number-from)), Textures: []backend.Texture{{Image: f.stack, EndLayer: 1}}}
}

// count marks the rows with a partner, and returns the number of pairs in each window of candidates.
func (f *flattened) count(ctx context.Context) (found []uint32, err error) {
	keys, ids := f.columns()
	windows := (f.number + f.window - 1) / f.window
	for uint64(len(found)) < windows {
		some := min(leastResults/backend.PlanAlignment, windows-uint64(len(found)))
		to := f.results.Range(0, some*backend.PlanAlignment)
		list := f.on.List(countStage)
		list.Fill(to, 0)
		for i := range some { // arguments are aligned
			d := f.draw(len(found) + int(i))
			d.Args = []backend.Range{keys[1], f.begins.All(), f.candidates.All(), ids[1], ids[0],
				f.granule.marks[1-f.stackSide], f.granule.marks[f.stackSide],
				f.results.Range(i*backend.PlanAlignment, 4)}
			if err := f.images.draw(list, f.draws.countFlat, d); err != nil {
				return nil, err
			}
		}
		sums := make([]uint32, some*backend.PlanAlignment/4)
		if err := f.on.Fetch(ctx, list, backend.Transfer{Device: to, Host: backend.AsBytes(sums)}); err != nil {
			return nil, err
		}
		for i := range some {
			found = append(found, sums[i*backend.PlanAlignment/4])
		}
	}
	return found, nil
}
