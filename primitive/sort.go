package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Payload says what travels with the keys of a sort.
type Payload uint8

const (
	NoPayload  Payload = iota // keys alone
	RowNumbers                // 32-bit row numbers of the unsorted rows, made by the first pass
	Given                     // the caller's 32-bit payload column
)

func (p Payload) bits() int {
	if p == NoPayload {
		return 0
	}
	return 32
}

// SortPlan is a stable least-significant-digit radix sort of 32- or 64-bit keys with a 32-bit payload (RT 3.3.1; GFTR 2.3).
// Only the low KeyBits bits of the keys differ, so only they are sorted, in passes of nearly equal digits of at most 8 bits.
// A pass counts the digits of every tile, scans the counts digit by digit over the tiles, which gives each tile the place of
// its first row of each digit, and then moves the rows. It reads the keys twice and writes them once.
type SortPlan struct {
	Rows         uint64
	KeyBytes     int
	KeyBits      int
	Payload      Payload
	ScratchBytes uint64 // of the counts and their scan

	config backend.Config
	passes []sortPass
}

// sortPass is one pass over the digit of bits bits above shift.
type sortPass struct {
	shift, bits   uint32
	scan          ScanPlan
	offsetsOffset uint64 // of the scanned counts in the scratch buffer; the counts are at 0
	scanOffset    uint64 // of the scan's scratch
}

const maxDigitBits = 8

// PlanSort plans the sort of rows keys of keyBytes (4 or 8) whose low keyBits bits differ.
func PlanSort(t Tuning, rows uint64, keyBytes, keyBits int, payload Payload) (SortPlan, error) {
	p := SortPlan{Rows: rows, KeyBytes: keyBytes, KeyBits: keyBits, Payload: payload,
		config: t.Config("radix_sort", variant("key_bits", keyBytes*8, "payload_bits", payload.bits()))}
	if err := checkRows("sort", rows); err != nil {
		return p, err
	}
	if keyBytes != 4 && keyBytes != 8 || keyBits < 0 || keyBits > keyBytes*8 {
		return p, &backend.OpError{Op: "sort", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("%d bits of keys of %d bytes", keyBits, keyBytes)}
	}
	if rows < 2 {
		keyBits = 0
	}
	passes := (keyBits + maxDigitBits - 1) / maxDigitBits
	for i, shift := 0, 0; i < passes; i++ {
		bits := (keyBits - shift + passes - i - 1) / (passes - i)
		counts := uint64(kernel.Tiles(p.config, rows)) << bits
		scan, err := PlanScan(t, counts, 32, 32, false)
		if err != nil {
			return p, err
		}
		pass := sortPass{shift: uint32(shift), bits: uint32(bits), scan: scan, offsetsOffset: align(counts * 4), scanOffset: 2 * align(counts*4)}
		p.passes = append(p.passes, pass)
		p.ScratchBytes = max(p.ScratchBytes, pass.scanOffset+scan.ScratchBytes)
		shift += bits
	}
	return p, nil
}

// Result is the index of the buffer pair in which the sorted rows end up.
func (p *SortPlan) Result() int { return len(p.passes) % 2 }

// Passes is the number of passes.
func (p *SortPlan) Passes() int { return len(p.passes) }

// Sort records a plan. keys[0] holds the keys, and payload[0] the payload when it is Given; the passes alternate between
// the two buffers of each pair, and the sorted rows are in those of index Result. Where no pass is needed keys[1] and payload[1] may be absent.
func (o *Ops) Sort(list *backend.List, p SortPlan, keys, payload [2]backend.Range, scratch backend.Range) error {
	keyBits, payloadBits := p.KeyBytes*8, p.Payload.bits()
	if len(p.passes) == 0 && p.Payload == RowNumbers {
		return o.Iota(list, payload[0], p.Rows, 0)
	}
	for i, pass := range p.passes {
		histogram, err := o.device.Kernel(kernel.RadixHistogram, with(p.config, "key_bits", keyBits))
		if err != nil {
			return err
		}
		scatter, err := o.device.Kernel(kernel.RadixScatter, with(p.config, "key_bits", keyBits, "payload_bits", payloadBits))
		if err != nil {
			return err
		}
		from, to := i%2, 1-i%2
		payloadIn, payloadOut := payload[from], payload[to]
		if p.Payload == NoPayload {
			payloadIn, payloadOut = backend.Range{}, backend.Range{}
		} else if i == 0 && p.Payload == RowNumbers {
			payloadIn = backend.Range{}
		}
		counts, offsets := sub(scratch, 0, pass.scan.Rows*4), sub(scratch, pass.offsetsOffset, pass.scan.Rows*4)
		groups, tileCount := kernel.Groups(histogram.Config, p.Rows), kernel.Tiles(p.config, p.Rows)
		list.Dispatch(histogram, groups, []backend.Range{keys[from], counts}, uint32(p.Rows), tileCount, pass.shift, pass.bits)
		if err := o.Scan(list, pass.scan, counts, offsets, sub(scratch, pass.scanOffset, pass.scan.ScratchBytes)); err != nil {
			return err
		}
		list.Dispatch(scatter, groups, []backend.Range{keys[from], payloadIn, offsets, keys[to], payloadOut},
			uint32(p.Rows), tileCount, pass.shift, pass.bits)
	}
	return nil
}
