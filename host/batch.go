package host

import (
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// batch is a submission whose commands were resolved to memory.
type batch struct {
	signal uint64
	waits  []backend.QueuePoint
	awaits []backend.SemaphoreValue
	raises []backend.SemaphoreValue
	ops    []op
	blocks []*block        // that the ops use
	hang   bool            // injected: never runs
	times  []time.Duration // start, marks, end
	done   []bool          // of a shuffling driver: commands that ran
	left   int             // and the number of those that did not
}

// op is one command. Its views of memory end where the arguments end, so that a reference which leaves them panics.
type op struct {
	kind       backend.CommandKind
	barrier    bool
	program    *program
	args       [][]byte
	run        func(group uint32)
	firstGroup uint32
	endGroup   uint32
	dst, src   []byte
	value      uint32
}

// prepare resolves a batch and checks what would otherwise fail in the middle of it.
func (d *Driver) prepare(b *backend.Batch) (*batch, error) {
	if err := d.checkSemaphores(b); err != nil {
		return nil, err
	}
	n := len(b.Steps)
	prepared := &batch{signal: b.Signal, waits: b.Waits, awaits: b.Awaits, raises: b.Raises, ops: make([]op, n),
		done: make([]bool, n), left: n}
	for i := range b.Steps {
		step := &b.Steps[i]
		o := &prepared.ops[i]
		o.kind, o.barrier = step.Kind, step.Barrier
		var err error
		switch step.Kind {
		case backend.Dispatch:
			p, ok := step.Kernel.Program.(*program)
			if !ok || p.driver != d {
				return nil, d.fail("submit", backend.ErrInvalidInput, "kernel %s was compiled by another device",
					step.Kernel.Spec.Name)
			}
			o.program, o.args = p, make([][]byte, len(step.Args))
			o.firstGroup, o.endGroup = step.FirstGroup, step.EndGroup
			for k := range step.Args {
				if o.args[k], err = prepared.view(d, step.Args[k]); err != nil {
					return nil, err
				}
			}
			o.run = p.reference(o.args, step.Params)
		case backend.Copy:
			if o.src, err = prepared.view(d, step.Src); err != nil {
				return nil, err
			}
			fallthrough
		case backend.Fill:
			o.value = step.Value
			if o.dst, err = prepared.view(d, step.Dst); err != nil {
				return nil, err
			}
			if step.Kind == backend.Copy && len(o.src) != len(o.dst) {
				return nil, d.fail("submit", backend.ErrInvalidInput, "copy of %d bytes to %d", len(o.src), len(o.dst))
			}
			if len(o.dst)%4 != 0 {
				return nil, d.fail("submit", backend.ErrInvalidInput, "copy or fill of %d bytes, no multiple of 4",
					len(o.dst))
			}
		case backend.Mark:
		default:
			return nil, d.fail("submit", backend.ErrInvalidInput, "command of kind %d", step.Kind)
		}
	}
	return prepared, nil
}

// view returns the memory of a range and notes its block; nil for an absent one.
func (p *batch) view(d *Driver, r backend.Range) ([]byte, error) {
	owner, offset := r.Block()
	if owner == nil {
		return nil, nil
	}
	b, ok := owner.(*block)
	if !ok || b.driver != d {
		return nil, d.fail("submit", backend.ErrInvalidInput, "a buffer belongs to another device")
	}
	memory := b.region.bytes
	switch {
	case b.freed.Load():
		return nil, d.fail("submit", backend.ErrInvalidInput, "a block of %d bytes was freed", b.SizeBytes())
	case offset > uint64(len(memory)) || r.SizeBytes > uint64(len(memory))-offset:
		return nil, d.fail("submit", backend.ErrInvalidInput, "%d bytes at %d exceed a block of %d", r.SizeBytes,
			offset, len(memory))
	}
	if !slices.Contains(p.blocks[max(0, len(p.blocks)-8):], b) {
		p.blocks = append(p.blocks, b)
	}
	end := offset + r.SizeBytes
	return memory[offset:end:end], nil
}
