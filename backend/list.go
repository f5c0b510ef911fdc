package backend

import "fmt"

// Kernel is a catalogue entry compiled for a device; [Device.Kernel] returns one.
type Kernel struct {
	Spec    *KernelSpec
	Config  Config
	Program Program
	key     string // name and configuration, the key of its measured rate
}

// Range is a part of a buffer. The zero Range is an absent argument.
type Range struct {
	Buffer      *Buffer
	OffsetBytes uint64
	SizeBytes   uint64
}

// Part returns sizeBytes bytes of the range from offsetBytes on.
func (r Range) Part(offsetBytes, sizeBytes uint64) Range {
	return Range{r.Buffer, r.OffsetBytes + offsetBytes, sizeBytes}
}

// Block returns the driver's block of the range and the offset of the range in it; nil for an absent range.
func (r Range) Block() (block Block, offsetBytes uint64) {
	if r.Buffer == nil {
		return nil, 0
	}
	return r.Buffer.block, r.Buffer.offsetBytes + r.OffsetBytes
}

// problem says what is wrong with a range that a command of a device is to use; "" if nothing is, or it is absent.
func (r Range) problem(d *Device, what string, alignment uint64) string {
	b := r.Buffer
	switch {
	case b == nil:
	case b.device != d:
		return what + " belongs to another device"
	case b.released.Load():
		return fmt.Sprintf("%s %q was released", what, b.label)
	case r.OffsetBytes > b.sizeBytes || r.SizeBytes > b.sizeBytes-r.OffsetBytes:
		return fmt.Sprintf("%s: %d bytes at %d exceed buffer %q of %d bytes", what, r.SizeBytes, r.OffsetBytes, b.label,
			b.sizeBytes)
	case (b.offsetBytes+r.OffsetBytes)%alignment != 0:
		return fmt.Sprintf("%s: offset %d is not a multiple of %d", what, b.offsetBytes+r.OffsetBytes, alignment)
	}
	return ""
}

// CommandKind says which fields of a Command are used.
type CommandKind uint8

const (
	Dispatch CommandKind = iota // Kernel, Args, Params, FirstGroup, EndGroup
	Copy                        // Dst, Src of equal size, multiples of 4 bytes, not overlapping
	Fill                        // Dst, Value; multiples of 4 bytes
	Mark                        // Label: a timestamp that starts the stage of that name
	Pass                        // Pass, Label: a pass of an optional capability of the driver; only draws are divided
)

// Command is one entry of a command list. Workgroups FirstGroup to EndGroup-1 of a dispatch run in any order.
type Command struct {
	Kind       CommandKind
	Kernel     *Kernel
	Args       []Range
	Params     []uint32
	FirstGroup uint32
	EndGroup   uint32
	Dst, Src   Range
	Value      uint32
	Label      string
	Pass       *PassRun
}

// PassRun is what a pass does and touches.
type PassRun struct {
	Run     any // as the driver's capability takes it
	Touches []Touch
}

// List is a sequence of commands that behave as if they ran one after the other. It is plain data: building one touches
// no device. A List is built by one goroutine and may be submitted several times. It refers to its buffers but does not
// keep them alive.
type List struct {
	Commands []Command
	Profile  *Profile // receives the device time of each stage; may be nil

	Awaits, Raises []SemaphoreValue // before the first command and after the last; made by a [PeerExchange]
}

// Stage starts a named stage: the device time until the next stage, or the end of the list, is attributed to that name.
func (l *List) Stage(name string) {
	l.Commands = append(l.Commands, Command{Kind: Mark, Label: name})
}

// DispatchPart adds the workgroups from first to end-1 of a kernel; none add nothing. Arguments follow the order of the
// catalogue.
func (l *List) DispatchPart(kernel *Kernel, first, end uint32, args []Range, params ...uint32) {
	if first < end {
		l.Commands = append(l.Commands,
			Command{Kind: Dispatch, Kernel: kernel, FirstGroup: first, EndGroup: end, Args: args, Params: params})
	}
}

// Copy adds a copy of src to dst, which must be of equal size and not overlap.
func (l *List) Copy(dst, src Range) {
	if dst.SizeBytes > 0 {
		l.Commands = append(l.Commands, Command{Kind: Copy, Dst: dst, Src: src})
	}
}

// Fill sets every 32-bit word of dst to value.
func (l *List) Fill(dst Range, value uint32) {
	if dst.SizeBytes > 0 {
		l.Commands = append(l.Commands, Command{Kind: Fill, Dst: dst, Value: value})
	}
}

// Pass adds a pass of an optional capability of the driver. It is ordered by what it touches, and its time is measured
// under its name.
func (l *List) Pass(name string, run any, touches ...Touch) {
	l.Commands = append(l.Commands, Command{Kind: Pass, Label: name, Pass: &PassRun{run, touches}})
}

// PlanAlignment is the alignment in bytes that plans, which are made without a device, use for the arguments of
// dispatches; finer offsets are parameters. No device may need more: Limits.ArgumentAlignment divides it.
const PlanAlignment = 256

// Aligned rounds a size up to [PlanAlignment].
func Aligned(sizeBytes uint64) uint64 {
	return (sizeBytes + PlanAlignment - 1) / PlanAlignment * PlanAlignment
}

// validate checks a command against the contract, so that no driver has to.
func (c *Command) validate(d *Device, role Role) error {
	fail := func(format string, a ...any) error {
		e := &OpError{Op: "submit", Device: d.info.Name, Err: ErrInvalidInput, Detail: fmt.Sprintf(format, a...)}
		if c.Kernel != nil {
			e.Kernel = c.Kernel.Spec.Name
		}
		return e
	}
	check := func(what string, r Range, alignment uint64) error {
		if problem := r.problem(d, what, alignment); problem != "" {
			return fail("%s", problem)
		}
		return nil
	}
	switch c.Kind {
	case Dispatch:
		if _, kernels := d.info.Runs(role); !kernels {
			return &OpError{Op: "submit", Device: d.info.Name, Kernel: c.Kernel.Spec.Name, Err: ErrUnsupported,
				Detail: fmt.Sprintf("the %v queue runs no kernels", role)}
		}
		spec := c.Kernel.Spec
		if len(c.Args) != len(spec.Args) || len(c.Params) != len(spec.Params) {
			return fail("%d arguments and %d parameters, the catalogue has %d and %d", len(c.Args), len(c.Params),
				len(spec.Args), len(spec.Params))
		}
		for i, arg := range c.Args {
			if err := check("argument "+spec.Args[i].Name, arg, d.info.Limits.ArgumentAlignment); err != nil {
				return err
			}
		}
	case Copy, Fill:
		if c.Dst.Buffer == nil || c.Dst.SizeBytes%4 != 0 {
			return fail("destination of %d bytes must exist and be a multiple of 4 bytes", c.Dst.SizeBytes)
		}
		if err := check("destination", c.Dst, 4); err != nil {
			return err
		}
		if c.Kind == Copy {
			if c.Src.Buffer == nil || c.Src.SizeBytes != c.Dst.SizeBytes {
				return fail("source of %d bytes, destination of %d", c.Src.SizeBytes, c.Dst.SizeBytes)
			}
			if c.Src.Buffer == c.Dst.Buffer && c.Src.OffsetBytes < c.Dst.OffsetBytes+c.Dst.SizeBytes &&
				c.Dst.OffsetBytes < c.Src.OffsetBytes+c.Src.SizeBytes {
				return fail("source and destination overlap in %q", c.Dst.Buffer.label)
			}
			return check("source", c.Src, 4)
		}
	case Pass:
		checker, ok := d.driver.(PassChecker)
		if c.Pass == nil {
			return fail("pass %q runs nothing", c.Label)
		}
		if run, ok := c.Pass.Run.(interface{ problem(*Device) string }); ok {
			if problem := run.problem(d); problem != "" {
				return fail("pass %q: %s", c.Label, problem)
			}
		}
		if !ok {
			return &OpError{Op: "submit", Device: d.info.Name, Err: ErrUnsupported,
				Detail: fmt.Sprintf("pass %q: the driver has no passes", c.Label)}
		}
		if err := checker.CheckPass(role, c.Pass.Run); err != nil {
			return err
		}
		return c.checkTouches(d, fail, check)
	}
	return nil
}

// Accesses calls visit for each range of a buffer that the command touches.
func (c *Command) Accesses(visit func(r Range, access Access)) {
	switch c.Kind {
	case Dispatch:
		for i, arg := range c.Args {
			if arg.Buffer != nil && arg.SizeBytes > 0 {
				visit(arg, c.Kernel.Spec.Args[i].Access)
			}
		}
	case Copy:
		visit(c.Src, Read)
		visit(c.Dst, Write)
	case Fill:
		visit(c.Dst, Write)
	case Pass:
		for _, t := range c.Pass.Touches {
			if t.Range.Buffer != nil && t.Range.SizeBytes > 0 {
				visit(t.Range, t.Access)
			}
		}
	}
}
