package codec

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Coder encodes columns that a rank sends and decodes those that it receives. Safe for concurrent use.
type Coder interface {
	// Encode encodes the values of each destination, words of valueBytes that are aligned to them, as a message. to has
	// [MostMessageBytes] for each, aligned to 4 bytes; sizes are those of the messages. Errors: backend.ErrCancelled,
	// device errors.
	Encode(ctx context.Context, valueBytes int, parts [][]byte, scheme kernel.CascadeScheme, to [][]byte) (
		sizes []uint64, err error)
	// Decode decodes a message, of which column has the rows. Errors: backend.ErrInvalidInput for a message that does
	// not suit the column or breaks the format, as by [Decode]; backend.ErrCancelled, device errors.
	Decode(ctx context.Context, column Column, m Message) error
	// Rates returns the rates of this rank's coder, without a link. A coder that measures them does so once, with
	// values of 8 bytes that travel.
	Rates(ctx context.Context, values []byte) (Rates, error)
	// OnDevice tells whether a device encodes and decodes.
	OnDevice() bool
}

// MostMessageBytes is the size of a message of rows rows none of whose blocks became smaller.
func MostMessageBytes(rows uint32, valueBytes int) uint64 {
	return 4*(headerWords+2*uint64(Blocks(rows))) + uint64(rows)*uint64(valueBytes)
}

// Host is the coder that uses all cores of the process.
type Host struct {
	// Sharers is the number of ranks that share the cores, for the rates; 0 is 1.
	Sharers int
}

// Encode implements Coder. Beside the messages it holds the payload of one of them.
func (h Host) Encode(ctx context.Context, valueBytes int, parts [][]byte, scheme kernel.CascadeScheme, to [][]byte) (
	sizes []uint64, err error) {
	for i, values := range parts {
		rows := uint32(len(values) / valueBytes)
		e, err := Encode(ctx, Column{values, valueBytes}, []uint32{0, rows}, scheme)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, e.MessageBytes(0))
		e.Put(to[i][:sizes[i]], 0)
	}
	return sizes, nil
}

// Decode implements Coder.
func (h Host) Decode(ctx context.Context, column Column, m Message) error {
	return Decode(ctx, column, []Message{m})
}

// Rates implements Coder: rates of a core, measured once in a process, times half of this rank's cores, because rows are
// divided and joined meanwhile.
func (h Host) Rates(context.Context, []byte) (Rates, error) {
	rates := coreRates()
	cores := min(float64(runtime.GOMAXPROCS(0)), float64(runtime.NumCPU())/float64(max(1, h.Sharers))) / 2
	for scheme := range rates.Encode {
		rates.Encode[scheme] *= cores
		rates.Decode[scheme] *= cores
	}
	return rates, nil
}

// OnDevice implements Coder.
func (h Host) OnDevice() bool { return false }

// coreRates are the rates of one core on 64 blocks of ascending runs of 64-bit values.
var coreRates = sync.OnceValue(func() (r Rates) {
	const blocks = 64
	values := make([]uint64, blocks*kernel.CascadeBlock)
	for i := range values {
		values[i] = uint64(i/4) * 3
	}
	slots := make([]uint32, blocks*int(kernel.CascadeSlotWords(8)))
	rate := func(do func(values []uint64, slot []uint32, block int)) float64 {
		seconds := math.Inf(1)
		for range 2 { // the first one finds memory that is not mapped
			begin := time.Now()
			for block := range blocks {
				do(values[block*kernel.CascadeBlock:][:kernel.CascadeBlock],
					slots[block*len(slots)/blocks:][:len(slots)/blocks], block)
			}
			seconds = min(seconds, time.Since(begin).Seconds())
		}
		return float64(len(backend.AsBytes(values))) / seconds
	}
	for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
		var sizes [blocks]int
		r.Encode[scheme] = rate(func(values []uint64, slot []uint32, block int) {
			sizes[block] = kernel.EncodeCascade(slot, values, scheme)
		})
		r.Decode[scheme] = rate(func(values []uint64, slot []uint32, block int) {
			kernel.DecodeCascade(values, slot[:sizes[block]])
		})
	}
	return r
})
