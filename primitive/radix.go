package primitive

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Layout says what a radix sort or partition moves: rows of keys and up to three payload columns of one width.
type Layout struct {
	Rows     uint64
	KeyBytes int // 4 or 8
	Payload  Payload
	// Of a payload column: 4, or with Given also 8; 0 means 4.
	PayloadBytes int
	Columns      int // payload columns with Given; 0 means 1
	// Narrow says that 4-byte keys are the low words of 8-byte keys whose high words are all the same. Only the source
	// has this form.
	Narrow bool
}

// Payload says what travels with the keys.
type Payload uint8

const (
	NoPayload  Payload = iota // keys alone
	RowNumbers                // 32-bit row numbers of the unsorted rows, made by the first pass
	Given                     // the caller's payload columns
)

// complete fills in defaults and checks.
func (l *Layout) complete(op string) error {
	if l.PayloadBytes == 0 {
		l.PayloadBytes = 4
	}
	if l.Columns == 0 || l.Payload != Given {
		l.Columns = 1
	}
	if l.Payload == NoPayload {
		l.PayloadBytes, l.Columns = 0, 0
	}
	if err := CheckRows(op, l.Rows); err != nil {
		return err
	}
	good := (l.KeyBytes == 4 || l.KeyBytes == 8 && !l.Narrow) && l.Payload <= Given && l.Columns >= 0 &&
		l.Columns <= kernel.MaxColumns
	switch l.PayloadBytes {
	case 0:
		good = good && l.Payload == NoPayload
	case 4:
	case 8:
		good = good && l.Payload == Given
	default:
		good = false
	}
	if !good {
		return &backend.OpError{Op: op, Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
			"keys of %d bytes with %d payload columns of %d bytes (kind %d)", l.KeyBytes, l.Columns, l.PayloadBytes,
			l.Payload)}
	}
	return nil
}

func (l *Layout) payloadBits() int { return l.PayloadBytes * 8 }

// A digit is (key >> shift) & (1<<bits - 1) of a key. With mixed, the keys are mixed before ([kernel.Mix]) and move as
// their mix.
type digit struct {
	shift, bits uint32
	mixed       bool
	seed        uint32
}

const maxDigitBits = 8

// digitsOf cuts the bits of a key from first to end-1 into as few digits of most bits or less as possible, from low to
// high, leaving out bits that do not vary where whole digits are saved. No digit lies in both words of a key.
func digitsOf(first, end int, varying uint64, most int) (digits []digit) {
	for word := 0; word < 64; word += 32 {
		mask := varying & ((1<<32 - 1) << word)
		if first > 0 {
			mask &^= 1<<first - 1
		}
		if end < 64 {
			mask &= 1<<end - 1
		}
		var windows []digit
		for rest := mask; rest != 0; {
			shift := bits.TrailingZeros64(rest)
			width := min(most, word+32-shift)
			width = 64 - bits.LeadingZeros64(rest>>shift&(1<<width-1))
			windows = append(windows, digit{shift: uint32(shift), bits: uint32(width)})
			rest &^= (1<<width - 1) << shift
		}
		// Digits of equal width where that takes no more of them: fewer values of a digit are longer runs.
		if n := len(windows); n > 0 {
			low, high := bits.TrailingZeros64(mask), 64-bits.LeadingZeros64(mask)
			if high-low <= n*most {
				for i := range windows {
					width := (high - low + n - i - 1) / (n - i)
					windows[i] = digit{shift: uint32(low), bits: uint32(width)}
					low += width
				}
			}
		}
		digits = append(digits, windows...)
	}
	return digits
}

// radixPasses moves rows by one digit after the other, by one of two families.
//
// Reduce-then-scan, the default: a pass counts the digits of every tile, scans the counts digit by digit over the
// tiles, which gives each tile the place of its first row of each digit, and then moves the rows. It reads the keys
// twice and writes them once.
//
// Look-back, where the setting lookback=1 of the table "radix_sort" asks for it and there is more than one digit: the
// digits of all passes are counted in one read, and a pass then reads and writes each row once, because a tile learns
// from the tiles before it where its rows go ([kernel.RadixScatter]). Counts of a tile take 30 bits, so that rows are
// moved in portions of at most 2^29, or of the setting portion, one after the other.
type radixPasses struct {
	layout    Layout
	digits    []digit
	counts    kernel.RadixCountsConfig
	histogram kernel.RadixHistogramConfig
	scatter   kernel.RadixScatterConfig
	portion   uint64 // rows that one dispatch of the look-back family moves; 0: as many as it can

	// Places in the scratch buffer.
	countsBytes   uint64 // counts, at 0
	offsetsOffset uint64 // their scan
	nextOffset    uint64 // look-back: the offsets of the next portion
	chainOffset   uint64 // look-back
	scanOffset    uint64 // of the scan's scratch
	scratchBytes  uint64

	scans []ScanPlan // reduce-then-scan: for each pass
}

// countedTiles are the tiles that a workgroup of radix_counts counts together: fewer additions to the counts of all.
const countedTiles = 16

// mostPortionRows is the number of rows that a pass of the look-back family moves in one dispatch.
const mostPortionRows = 1 << 29

// planRadix plans passes over the digits that cut makes of at most so many bits each.
func planRadix(t Tuning, layout Layout, cut func(most int) []digit) (radixPasses, error) {
	p := radixPasses{layout: layout}
	keyBits, payloadBits, columns := uint32(layout.KeyBytes*8), uint32(layout.payloadBits()),
		uint32(max(1, layout.Columns))
	tuned := t.Config("radix_sort",
		backend.Config{"key_bits": keyBits, "payload_bits": payloadBits, "columns": columns})
	p.counts, p.histogram, p.scatter = kernel.RadixCounts.With(tuned), kernel.RadixHistogram.With(tuned),
		kernel.RadixScatter.With(tuned)
	p.counts.KeyBits, p.histogram.KeyBits, p.scatter.KeyBits = keyBits, keyBits, keyBits
	p.counts.Items *= countedTiles
	p.scatter.PayloadBits, p.scatter.Columns = payloadBits, columns
	p.scatter.Far = flag(uint64(max(layout.KeyBytes, layout.PayloadBytes))*layout.Rows > 1<<32)
	p.portion = uint64(tuned["portion"])
	most := maxDigitBits
	if p.scatter.Serial == 1 {
		most = bits.Len32(p.scatter.Digits) - 1
	}
	p.digits = cut(most)
	if len(p.digits) == 0 {
		return p, nil
	}
	if len(p.digits) == 1 || p.scatter.Serial+p.scatter.Shared > 0 { // for one digit counting by tiles is cheaper
		p.scatter.Lookback = 0
	}
	if p.lookback() {
		p.countsBytes = uint64(len(p.digits)) * maxDigits * 4
		p.offsetsOffset = p.countsBytes
		p.nextOffset = 2 * p.countsBytes
		p.chainOffset = p.nextOffset + 2*maxDigits*4
		p.scratchBytes = p.chainOffset + 4*kernel.ChainWords(kernel.Tiles(p.scatter, min(layout.Rows, p.portionRows())))
		return p, nil
	}
	for _, d := range p.digits {
		counts := uint64(kernel.Tiles(p.scatter, layout.Rows)) << d.bits
		scan, err := PlanScan(t, counts, 32, 32, false)
		if err != nil {
			return p, err
		}
		p.scans = append(p.scans, scan)
		p.countsBytes = max(p.countsBytes, backend.Aligned(counts*4))
		p.scanOffset = 2 * p.countsBytes
		p.scratchBytes = max(p.scratchBytes, scan.ScratchBytes)
	}
	p.offsetsOffset = p.countsBytes
	p.scratchBytes += p.scanOffset
	return p, nil
}

const maxDigits = 1 << maxDigitBits

// lookback tells the family.
func (p *radixPasses) lookback() bool { return p.scatter.Lookback == 1 }

// portionRows is a number of whole tiles whose columns are aligned for kernel arguments.
func (p *radixPasses) portionRows() uint64 {
	unit := uint64(kernel.TileRows(p.scatter)) * (backend.PlanAlignment / 4)
	most := uint64(mostPortionRows)
	if p.portion > 0 {
		most = min(most, p.portion)
	}
	return max(1, most/unit) * unit
}

// Columns are the columns of rows that a sort or partition moves: keys, and as many payload columns as its layout says.
type Columns struct {
	Keys    backend.Range
	Payload []backend.Range
	// High belongs to narrow keys: two 32-bit words, the high word that all keys should have and one that becomes
	// nonzero if a key has another.
	High backend.Range
}

// record records the passes: from source to buffers[1], from there to buffers[0], and so on. source may be buffers[0].
func (p *radixPasses) record(o *Ops, list *backend.List, op string, source Columns, buffers [2]Columns,
	scratch backend.Range) error {
	for _, columns := range []Columns{source, buffers[1], buffers[0]}[:1+min(2, len(p.digits))] {
		if len(columns.Payload) != p.layout.Columns {
			return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
				Detail: fmt.Sprintf("%d payload columns, planned are %d", len(columns.Payload), p.layout.Columns)}
		}
	}
	if len(p.digits) == 0 || p.layout.Rows == 0 {
		return nil
	}
	if p.layout.Payload == RowNumbers {
		source.Payload = make([]backend.Range, 1)
	}
	if p.lookback() {
		if err := p.count(o, list, source, scratch); err != nil {
			return err
		}
	}
	from := source
	for i := range p.digits {
		to := buffers[1-i%2]
		pass := p.scan
		if p.lookback() {
			pass = p.lookBack
		}
		if err := pass(o, list, i, from, to, scratch); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// scatterOf compiles the kernel of pass i.
func (p *radixPasses) scatterOf(o *Ops, i int) (kernel.Compiled[kernel.RadixScatterArgs], error) {
	config := p.scatter
	config.Mixed, config.Narrow = flag(p.digits[i].mixed), p.narrow(i)
	config.Subgroup = max(4, o.device.Info().MinSubgroupSize)
	return kernel.RadixScatter.On(o.device, config)
}

func (p *radixPasses) narrow(pass int) uint32 { return flag(p.layout.Narrow && pass == 0) }

// scan records a pass of the reduce-then-scan family.
func (p *radixPasses) scan(o *Ops, list *backend.List, i int, from, to Columns, scratch backend.Range) error {
	d, scan := p.digits[i], p.scans[i]
	config := p.histogram
	config.Mixed, config.Narrow = flag(d.mixed), p.narrow(i)
	histogram, err := kernel.RadixHistogram.On(o.device, config)
	if err != nil {
		return err
	}
	scatter, err := p.scatterOf(o, i)
	if err != nil {
		return err
	}
	counts, offsets := scratch.Part(0, scan.Rows*4), scratch.Part(p.offsetsOffset, scan.Rows*4)
	groups, tileCount := kernel.Groups(p.scatter, p.layout.Rows), kernel.Tiles(p.scatter, p.layout.Rows)
	histogram.Dispatch(list, groups, kernel.RadixHistogramArgs{
		Keys: from.Keys, Counts: counts, High: from.High,
		Rows: uint32(p.layout.Rows), Tiles: tileCount, Shift: d.shift, Bits: d.bits, Seed: d.seed,
	})
	if err := o.Scan(list, scan, counts, offsets, scratch.Part(p.scanOffset, scan.ScratchBytes)); err != nil {
		return err
	}
	args := kernel.RadixScatterArgs{
		KeysIn: from.Keys, Offsets: offsets, KeysOut: to.Keys,
		Rows: uint32(p.layout.Rows), Tiles: tileCount, Shift: d.shift, Bits: d.bits, Seed: d.seed,
	}
	copy(args.PayloadIn[:], from.Payload)
	copy(args.PayloadOut[:], to.Payload)
	scatter.Dispatch(list, groups, args)
	return nil
}

// count records the counts of all digits and their scan, pass by pass.
func (p *radixPasses) count(o *Ops, list *backend.List, source Columns, scratch backend.Range) error {
	config := p.counts
	config.Mixed, config.Narrow = flag(p.digits[0].mixed), p.narrow(0)
	k, err := kernel.RadixCounts.On(o.device, config)
	if err != nil {
		return err
	}
	// Tiles of 256 counts, each scanned on its own.
	scan, err := kernel.ScanTiles.On(o.device, kernel.ScanTilesConfig{InBits: 32, SumBits: 32,
		ShapedTile: kernel.ShapedTile{Workgroup: maxDigits / 4, Items: 4}})
	if err != nil {
		return err
	}
	counts := scratch.Part(0, p.countsBytes)
	list.Fill(counts, 0)
	var shifts, widths [2]uint32
	for i, d := range p.digits {
		shifts[i/4] |= d.shift << (i % 4 * 8)
		widths[i/4] |= d.bits << (i % 4 * 8)
	}
	passes := uint32(len(p.digits))
	k.Dispatch(list, kernel.Groups(config, p.layout.Rows), kernel.RadixCountsArgs{
		Keys: source.Keys, Counts: counts, High: source.High,
		Rows: uint32(p.layout.Rows), Passes: passes, Shifts0: shifts[0], Shifts1: shifts[1], Bits0: widths[0],
		Bits1: widths[1],
		Seed:  p.digits[0].seed,
	})
	scan.Dispatch(list, passes, kernel.ScanTilesArgs{
		Values: counts, Sums: scratch.Part(p.offsetsOffset, p.countsBytes), Rows: passes * maxDigits, Tiles: passes,
	})
	return nil
}

// lookBack records a pass of the look-back family.
func (p *radixPasses) lookBack(o *Ops, list *backend.List, i int, from, to Columns, scratch backend.Range) error {
	d := p.digits[i]
	scatter, err := p.scatterOf(o, i)
	if err != nil {
		return err
	}
	offsets := scratch.Part(p.offsetsOffset+uint64(i)*maxDigits*4, maxDigits*4)
	for first, portion := uint64(0), 0; first < p.layout.Rows; portion++ {
		rows := min(p.portionRows(), p.layout.Rows-first)
		tileCount := kernel.Tiles(p.scatter, rows)
		chain := scratch.Part(p.chainOffset, 4*kernel.ChainWords(tileCount))
		next := scratch.Part(p.nextOffset+uint64(portion%2)*maxDigits*4, maxDigits*4)
		list.Fill(chain, 0)
		source := p.portionOf(from, i, first, rows)
		args := kernel.RadixScatterArgs{
			KeysIn: source.Keys, Offsets: offsets, Chain: chain, KeysOut: to.Keys, NextOffsets: next,
			Rows: uint32(rows), Tiles: tileCount, FirstRow: uint32(first), Shift: d.shift, Bits: d.bits, Seed: d.seed,
		}
		copy(args.PayloadIn[:], source.Payload)
		copy(args.PayloadOut[:], to.Payload)
		scatter.Dispatch(list, kernel.Groups(p.scatter, rows), args)
		offsets = next
		first += rows
	}
	return nil
}

// portionOf is the part of the columns that a pass reads from row first on.
func (p *radixPasses) portionOf(c Columns, pass int, first, rows uint64) Columns {
	keyBytes := uint64(p.layout.KeyBytes)
	if p.layout.Narrow && pass == 0 {
		keyBytes = 8
	}
	part := Columns{Keys: c.Keys.Part(first*keyBytes, rows*keyBytes), Payload: slices.Clone(c.Payload)}
	for i, column := range part.Payload {
		if column.Buffer != nil {
			part.Payload[i] = column.Part(first*uint64(p.layout.PayloadBytes), rows*uint64(p.layout.PayloadBytes))
		}
	}
	return part
}
