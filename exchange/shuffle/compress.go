package shuffle

import (
	"context"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// Coding says how columns of 4- and 8-byte words travel. What other ranks have encoded is always decoded.
type Coding struct {
	// Coder encodes and decodes. nil: columns are sent as they are, and the host decodes.
	Coder codec.Coder
	// Forced has each column encoded that a sample shows to become smaller, whatever the rates.
	Forced bool
	// LinkBytesPerSecond is what this rank sends to all others together; 0: it is measured.
	LinkBytesPerSecond float64
}

// parcel is rows on their way to a rank, with the columns that are encoded.
type parcel struct {
	arrow.RecordBatch
	coded []*memory.Buffer // by plain column: its message, nil for one that travels as it is; nil: all do
}

// Retain retains rows and messages.
func (p *parcel) Retain() {
	p.RecordBatch.Retain()
	for _, b := range p.coded {
		if b != nil {
			b.Retain()
		}
	}
}

// Release releases rows and messages.
func (p *parcel) Release() {
	p.RecordBatch.Release()
	for _, b := range p.coded {
		if b != nil {
			b.Release()
		}
	}
}

// Columns are sampled again after leastBlocks blocks, then after twice as many each time, up to mostBlocks.
const (
	leastBlocks = 2
	mostBlocks  = 16
)

// compressor encodes the columns of blocks. It chooses a scheme for each column by the first block for which it knows
// the rate of the link, and again after some blocks. Used by one goroutine.
type compressor struct {
	*Side
	choices  []codec.Choice // by plain column; nil: all travel as they are
	left     int            // blocks until the next choice
	interval int            // between the last choice and the next one, in blocks
	rates    codec.Rates    // of the last choice
	slower   float64        // how many times as long as by the rates it took to encode; 0: not known
}

// parcels returns the parts of a block, of which those that go to other ranks have their columns encoded: all of a
// column in one call of the coder. They share the rows. The caller releases them.
func (c *compressor) parcels(ctx context.Context, parts []arrow.RecordBatch, goes func(part int) bool) (
	all []*parcel, err error) {
	defer func() {
		if err != nil {
			relation.ReleaseAll(all)
			all = nil
		}
	}()
	var away []*parcel
	for i, rows := range parts {
		rows.Retain()
		all = append(all, &parcel{RecordBatch: rows})
		if rows.NumRows() > 0 && goes(i) {
			away = append(away, all[i])
		}
	}
	if c.Coder == nil || len(away) == 0 {
		return all, nil
	}
	if c.left--; c.left < 0 {
		if err := c.choose(ctx, away); err != nil {
			return all, err
		}
	}
	for column, choice := range c.choices {
		if choice.Coded {
			if err := c.encode(ctx, away, column, choice.Scheme); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// choose chooses how each column travels. Where no scheme can win, whatever it saves, columns are not sampled.
func (c *compressor) choose(ctx context.Context, away []*parcel) error {
	rates := codec.Uniform(math.Inf(1), math.Inf(1), 1)
	if !c.Forced {
		link := c.LinkBytesPerSecond
		if link <= 0 {
			link = c.link.bytesPerSecond()
		}
		if link <= 0 {
			return nil // not known yet
		}
		values := c.longest(away)
		if len(values) == 0 {
			return nil
		}
		var err error
		if rates, err = c.Coder.Rates(ctx, values); err != nil {
			return err
		}
		rates.Link = link
		rates.Slow(c.slower)
		c.slower /= 2 // so that it is tried again
	}
	c.interval = min(max(leastBlocks, 2*c.interval), mostBlocks)
	c.left, c.choices, c.rates = c.interval-1, nil, rates
	if !rates.MayWin() {
		return nil
	}
	c.choices = make([]codec.Choice, len(c.format.columns))
	for column := range c.choices {
		if parts := c.words(away, column); parts != nil {
			c.choices[column] = codec.Select(codec.SampleParts(c.format.columns[column].array.sizeBytes, parts), rates)
		}
	}
	return nil
}

// longest returns the longest values of 8 bytes of a column on its way, or of 4 if there are no such columns.
func (c *compressor) longest(away []*parcel) (longest []byte) {
	for _, sizeBytes := range [...]int{8, 4} {
		for column := range c.format.columns {
			if c.format.columns[column].array.sizeBytes != sizeBytes {
				continue
			}
			for _, values := range c.words(away, column) {
				if len(values) > len(longest) {
					longest = values
				}
			}
		}
		if len(longest) > 0 {
			break
		}
	}
	return longest
}

// words returns the words of a column in each parcel; nil if they cannot be encoded. What is wrong with buffers is said
// when they are sent.
func (c *compressor) words(away []*parcel, column int) (parts [][]byte) {
	p := c.format.columns[column]
	if !p.array.words {
		return nil
	}
	for _, of := range away {
		values, err := p.array.values(of.Column(p.field).Data())
		if err != nil || uintptr(unsafe.Pointer(unsafe.SliceData(values)))%uintptr(p.array.sizeBytes) != 0 {
			return nil
		}
		parts = append(parts, values)
	}
	return parts
}

// encode encodes a column of all parcels that has words in them.
func (c *compressor) encode(ctx context.Context, away []*parcel, column int, scheme kernel.CascadeScheme) error {
	parts := c.words(away, column)
	if parts == nil {
		return nil
	}
	defer exec.Begin(ctx, "compress").End()
	sizeBytes, to, rawBytes := c.format.columns[column].array.sizeBytes, make([][]byte, len(parts)), 0
	for i, of := range away {
		if of.coded == nil {
			of.coded = make([]*memory.Buffer, len(c.format.columns))
		}
		b := memory.NewResizableBuffer(c.Alloc)
		b.Resize(int(codec.MostMessageBytes(uint32(len(parts[i])/sizeBytes), sizeBytes)))
		of.coded[column], to[i] = b, b.Bytes()
		rawBytes += len(parts[i])
	}
	begin := time.Now()
	sizes, err := c.Coder.Encode(ctx, sizeBytes, parts, scheme, to)
	if err != nil {
		return err
	}
	if c.rates.Encode[scheme] > 0 { // the rest of the join may need the cores or the device
		c.slower = time.Since(begin).Seconds() * c.rates.Encode[scheme] / float64(rawBytes)
	}
	for i, of := range away {
		of.coded[column].ResizeNoShrink(int(sizes[i]))
	}
	c.encoded[at(c.Coder)].Add(uint64(rawBytes))
	return nil
}

// at is the index of a coder in counters: 0 for the host, 1 for a device.
func at(coder codec.Coder) int { return slices.Index([]bool{false, true}, coder.OnDevice()) }
