package columnchunk

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// hybrid reads integers of a bit width in Parquet's hybrid of runs and bit packing: runs of one value, and groups of
// eight values that are packed from the lowest bit on. Each run has a header: its length doubled, or the number of
// groups doubled plus one.
type hybrid struct {
	in    []byte // what follows
	width int
	mask  uint64

	left  int    // values left of the current run
	value uint32 // of a run of one value

	packed []byte // of a packed run; more of the page may follow
	next   int    // number of the next value in packed
}

func newHybrid(in []byte, width int) (hybrid, error) {
	if width > 32 {
		return hybrid{}, fmt.Errorf("indices of %d bits", width)
	}
	return hybrid{in: in, width: width, mask: 1<<width - 1}, nil
}

var errRun = errors.New("a run has no valid length")

// read fills out, or fails.
func (h *hybrid) read(out []uint32) error {
	for len(out) > 0 {
		if h.left == 0 {
			if err := h.header(); err != nil {
				return err
			}
			continue
		}
		n := min(len(out), h.left)
		if h.packed != nil {
			h.unpack(out[:n])
		} else {
			for i := range out[:n] {
				out[i] = h.value
			}
		}
		h.left -= n
		out = out[n:]
	}
	return nil
}

// maxRun is what a run is cut to: more than a page has values.
const maxRun = 1 << 31

// header reads the next run. It fails if there is none, so that a reader always makes progress.
func (h *hybrid) header() error {
	h.packed, h.next = nil, 0
	if h.width == 0 { // the one index there is; some writers leave the run out
		h.left, h.value = maxRun, 0
		return nil
	}
	head, k := binary.Uvarint(h.in)
	if k == 0 {
		return errShort
	}
	if k < 0 {
		return errRun
	}
	h.in = h.in[k:]
	if head&1 == 0 {
		bytes := (h.width + 7) / 8
		if len(h.in) < bytes {
			return errShort
		}
		value := uint64(0)
		for i := range bytes {
			value |= uint64(h.in[i]) << (8 * i)
		}
		if value > h.mask {
			return fmt.Errorf("a run of the value %d in %d bits", value, h.width)
		}
		h.in = h.in[bytes:]
		h.value, h.left = uint32(value), int(min(head>>1, maxRun))
		return nil
	}
	// The last run may be cut off behind the values that are there.
	bytes := len(h.in)
	if groups := head >> 1; groups < uint64(len(h.in)/h.width)+1 {
		bytes = min(bytes, int(groups)*h.width)
	}
	h.packed = h.in
	h.in = h.in[bytes:]
	h.left = bytes * 8 / h.width
	if h.left == 0 && head>>1 > 0 {
		return errShort
	}
	return nil
}

// unpack reads values of a packed run, which has them.
func (h *hybrid) unpack(out []uint32) {
	for len(out) > 0 && h.next%8 != 0 {
		out[0] = h.one()
		out = out[1:]
	}
	width, mask := h.width, uint32(h.mask)
	in := h.packed[min(h.next/8*width, len(h.packed)):]
	groups := 0
	switch {
	case width <= 8:
		for ; len(out) >= 8 && len(in) >= 8; groups++ {
			x := binary.LittleEndian.Uint64(in)
			o := (*[8]uint32)(out)
			for j := range o {
				o[j] = uint32(x) & mask
				x >>= width & 63
			}
			out, in = out[8:], in[width:]
		}
	case width <= 16:
		half := width / 2    // bytes of four values
		odd := width & 1 * 4 // and bits
		for ; len(out) >= 8 && len(in) >= 16; groups++ {
			x := binary.LittleEndian.Uint64(in)
			y := binary.LittleEndian.Uint64(in[half:]) >> odd
			o := (*[8]uint32)(out)
			for j := range 4 {
				o[j] = uint32(x) & mask
				x >>= width & 63
			}
			for j := 4; j < 8; j++ {
				o[j] = uint32(y) & mask
				y >>= width & 63
			}
			out, in = out[8:], in[width:]
		}
	default:
		for ; len(out) >= 8 && len(in) >= 40; groups++ {
			o := (*[8]uint32)(out)
			for j := range o {
				bit := j * width
				o[j] = uint32(binary.LittleEndian.Uint64(in[bit>>3:])>>(bit&7)) & mask
			}
			out, in = out[8:], in[width:]
		}
	}
	h.next += 8 * groups
	for i := range out {
		out[i] = h.one()
	}
}

// one reads one value of a packed run, near the end of the page too.
func (h *hybrid) one() uint32 {
	bit := h.next * h.width
	h.next++
	in := h.packed[bit>>3:]
	if len(in) >= 8 {
		return uint32(binary.LittleEndian.Uint64(in) >> (bit & 7) & h.mask)
	}
	var tail [8]byte
	copy(tail[:], in)
	return uint32(binary.LittleEndian.Uint64(tail[:]) >> (bit & 7) & h.mask)
}
