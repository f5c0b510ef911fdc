package backend

import "time"

// pacer keeps submissions short: some drivers reset a device that is busy for 2 seconds, and desktops freeze long
// before. It predicts the time of each command from this device's own measured rates and cuts lists, and single
// dispatches between workgroups, where a submission would exceed the bound. After a submission the measured time
// corrects the rates of the kernels in it. A kernel that was never measured is assumed to stream its arguments at
// firstGuess bytes/s, and a point of a draw to take as long as pointBytes.
type pacer struct {
	bound      time.Duration // of one submission
	firstGuess float64       // bytes/s
	seconds    map[string]float64
}

const (
	paceBound      = 50 * time.Millisecond
	paceOverhead   = 5 * time.Millisecond // a submission may take that long and do nothing
	paceCorrection = 0.5                  // share of the measured error that one submission corrects
	mostCommands   = 1<<useBits - 1       // of one submission, so that hazards can number them
)

// unit predicts the seconds of one workgroup of a dispatch, of one byte of a copy or fill, of one point of a draw,
// or of another pass.
func (p *pacer) unit(c *Command) float64 {
	if s, ok := p.seconds[c.rateKey()]; ok {
		return s
	}
	if c.Kind == Pass {
		sizeBytes := float64(c.touchedBytes())
		if draw, ok := c.Pass.Run.(*Draw); ok {
			sizeBytes += pointBytes * float64(draw.points())
		}
		return sizeBytes / max(1, c.units()) / p.firstGuess
	}
	if c.Kind != Dispatch {
		return 1 / p.firstGuess
	}
	var sizeBytes uint64
	for _, arg := range c.Args {
		sizeBytes += arg.SizeBytes
	}
	return float64(sizeBytes) / float64(max(1, c.EndGroup-c.FirstGroup)) / p.firstGuess
}

func (c *Command) rateKey() string {
	switch c.Kind {
	case Dispatch:
		return c.Kernel.key
	case Copy:
		return "copy"
	case Pass:
		return "pass " + c.Label
	}
	return "fill"
}

func (c *Command) units() float64 {
	switch c.Kind {
	case Dispatch:
		return float64(c.EndGroup - c.FirstGroup)
	case Pass:
		if draw, ok := c.Pass.Run.(*Draw); ok {
			return float64(draw.points())
		}
		return 1
	case Mark:
		return 0
	}
	return float64(c.Dst.SizeBytes)
}

// split cuts commands into pieces that are predicted to stay within the bound. The order is kept; a dispatch that is
// too long becomes several over ranges of its workgroups, a copy or fill several over ranges of its bytes, a draw
// several over ranges of its points.
func (p *pacer) split(commands []Command) [][]Command {
	var pieces [][]Command
	var piece []Command
	left := p.bound.Seconds()
	flush := func() {
		if len(piece) > 0 {
			pieces = append(pieces, piece)
		}
		piece, left = nil, p.bound.Seconds()
	}
	for _, c := range commands {
		if len(piece) == mostCommands {
			flush()
		}
		if c.Kind == Mark {
			piece = append(piece, c)
			continue
		}
		unit := p.unit(&c)
		for {
			cost := unit * c.units()
			if cost <= left {
				piece = append(piece, c)
				left -= cost
				break
			}
			head, tail, ok := c.cut(left / unit)
			if !ok && left == p.bound.Seconds() { // the least part alone exceeds the bound
				head, tail, ok = c.cut(c.leastUnits())
				if !ok {
					piece = append(piece, c)
					flush()
					break
				}
			}
			if ok && (left >= p.bound.Seconds()/2 || cost > p.bound.Seconds()) {
				piece = append(piece, head)
				c = tail
			}
			flush()
		}
	}
	flush()
	return pieces
}

// leastUnits is the smallest part that a command is cut into: a workgroup, 64 KiB, or as many points.
func (c *Command) leastUnits() float64 {
	switch c.Kind {
	case Dispatch:
		return 1
	case Pass:
		return leastPoints
	}
	return 1 << 16
}

// cut divides a command after at most units workgroups, bytes or points; ok is false where the first part would be less
// than the least, or the second empty.
func (c Command) cut(units float64) (head, tail Command, ok bool) {
	head, tail = c, c
	if c.Kind == Pass {
		draw, ok := c.Pass.Run.(*Draw)
		if !ok || units < leastPoints {
			return head, tail, false
		}
		first, rest, ok := draw.cut(uint64(min(units, float64(draw.points()))))
		head.Pass = &PassRun{first, first.touches()}
		tail.Pass = &PassRun{rest, rest.touches()}
		return head, tail, ok
	}
	if c.Kind == Dispatch {
		n := uint32(min(units, float64(c.EndGroup-c.FirstGroup)))
		head.EndGroup = c.FirstGroup + n
		tail.FirstGroup = head.EndGroup
		return head, tail, n > 0 && tail.FirstGroup < tail.EndGroup
	}
	n := uint64(min(units, float64(c.Dst.SizeBytes))) / 4096 * 4096
	if units < c.leastUnits() || n == 0 || n >= c.Dst.SizeBytes {
		return head, tail, false
	}
	head.Dst.SizeBytes, tail.Dst.SizeBytes = n, c.Dst.SizeBytes-n
	tail.Dst.OffsetBytes += n
	if c.Kind == Copy {
		head.Src.SizeBytes, tail.Src.SizeBytes = n, tail.Dst.SizeBytes
		tail.Src.OffsetBytes += n
	}
	return head, tail, true
}

// tellsRate reports whether the time of a command depends on its units. A draw of few points takes the time of its
// clears.
func (c *Command) tellsRate() bool {
	if c.Kind == Pass {
		draw, ok := c.Pass.Run.(*Draw)
		return !ok || draw.points() >= leastPoints
	}
	return c.units() > 0
}

// measured corrects the rates of the commands of one submission by the time that it took.
func (p *pacer) measured(commands []Command, took time.Duration) {
	var predicted float64
	for i := range commands {
		predicted += p.unit(&commands[i]) * commands[i].units()
	}
	// A short submission takes longer than its work: launch and wake-up times would count as the rate of its kernels.
	if predicted <= 0 || took <= 0 || took < paceOverhead && took.Seconds() > predicted {
		return
	}
	factor := 1 + paceCorrection*(took.Seconds()/predicted-1)
	done := make(map[string]bool)
	for i := range commands {
		c := &commands[i]
		if key := c.rateKey(); c.tellsRate() && !done[key] {
			p.seconds[key] = p.unit(c) * factor
			done[key] = true
		}
	}
}
