package shuffle

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// receive starts to receive the messages of all ranks. If columns may be encoded, a message is checked and decoded
// while the next one is received; otherwise that would hold another block for little time.
func (s *Side) receive() {
	coder := s.Coder
	if coder == nil {
		coder = codec.Host{}
	}
	decoders := make([]*decoder, s.Job.Size())
	for from := range decoders {
		decoders[from] = newDecoder(s.format, s.Alloc, coder)
	}
	check := func(ctx context.Context, a *arriving) error {
		defer a.Release()
		rows, err := decoders[a.from].finish(ctx, a)
		if err != nil {
			return s.named(a.from, err)
		}
		s.decoded[at(coder)].Add(a.decodedBytes)
		return s.arrived(ctx, rows)
	}
	s.flow.AtEnd(func() { relation.ReleaseAll(decoders) })
	if s.Coder == nil {
		s.flow.Go("receive "+s.Options.Side.String(), func(ctx context.Context) error {
			if err := s.take(ctx, decoders, check); err != nil {
				return err
			}
			s.end()
			return nil
		})
		return
	}
	came := exec.NewPipe[*arriving](s.flow, 0)
	s.flow.Go("receive "+s.Options.Side.String(), func(ctx context.Context) error {
		if err := s.take(ctx, decoders, came.Put); err != nil {
			return err
		}
		came.End()
		return nil
	})
	s.flow.Go("check "+s.Options.Side.String(), func(ctx context.Context) error {
		err := came.Each(ctx, func(a *arriving) error { return check(ctx, a) })
		if err == nil {
			s.end()
		}
		return err
	})
}

// take takes the messages of all ranks until all have ended. pass owns each.
func (s *Side) take(ctx context.Context, decoders []*decoder, pass func(context.Context, *arriving) error) error {
	var a *arriving
	defer func() {
		if a != nil {
			a.Release()
		}
	}()
	for {
		_, some, err := s.Stream.Receive(context.WithoutCancel(ctx), func(from int, head []byte) (
			body [][]byte, err error) {
			if from < 0 || from >= len(decoders) {
				return nil, fmt.Errorf("%w: a message from rank %d of %d", backend.ErrInvalidInput, from, len(decoders))
			}
			if a, err = decoders[from].begin(head); err != nil {
				return nil, s.named(from, err)
			}
			a.from = from
			return a.body(), nil
		})
		if err != nil {
			return err
		}
		if !some {
			return nil
		}
		full := a
		a = nil
		if err := pass(ctx, full); err != nil {
			return err
		}
	}
}

// named says whose message an error is about.
func (s *Side) named(from int, err error) error {
	return fmt.Errorf("%s side, from rank %d: %w", s.Options.Side, from, err)
}
