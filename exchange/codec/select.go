package codec

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// SampleBlocks is the number of blocks of a sample.
const SampleBlocks = 32

// SampleRows returns the first row and the number of rows of the blocks of a sample, as [kernel.CascadeSizes] takes
// them: at most [SampleBlocks], evenly spaced, none across the end of a destination. starts is as in [Encode].
func SampleRows(starts []uint32) (blocks []uint32) {
	parts := kernel.CascadeParts(starts)
	all := uint64(kernel.CascadeBlocks(parts))
	count := min(all, SampleBlocks)
	for i := range count {
		row, rows := kernel.CascadeRows(parts, uint32((2*i+1)*all/(2*count)))
		blocks = append(blocks, row, rows)
	}
	return blocks
}

// Sizes are the bytes of a sample: as it is, and in each scheme.
type Sizes struct {
	RawBytes uint64
	Bytes    [kernel.CascadeSchemes]uint64
}

// SizesOf adds up what [kernel.CascadeSizes] has written for the blocks of a sample.
func SizesOf(blocks, bytes []uint32, valueBytes int) (s Sizes) {
	for i := range len(blocks) / 2 {
		s.RawBytes += uint64(blocks[2*i+1]) * uint64(valueBytes)
		for scheme := range s.Bytes {
			s.Bytes[scheme] += uint64(bytes[kernel.CascadeSchemes*i+scheme])
		}
	}
	return s
}

// Sample measures a sample of a column in host memory.
func Sample(column Column, starts []uint32) Sizes {
	var parts [][]byte
	for i, start := range starts[:len(starts)-1] {
		from, end := int(start)*column.ValueBytes, int(starts[i+1])*column.ValueBytes
		parts = append(parts, column.Values[from:end])
	}
	return SampleParts(column.ValueBytes, parts)
}

// SampleParts measures a sample of a column whose destinations have their values, words of valueBytes, in memory of
// their own.
func SampleParts(valueBytes int, parts [][]byte) Sizes {
	starts := make([]uint32, 1, len(parts)+1)
	for i, values := range parts {
		starts = append(starts, starts[i]+uint32(len(values)/valueBytes))
	}
	blocks := SampleRows(starts)
	var bytes []uint32
	for i, part := 0, 0; i < len(blocks); i += 2 {
		for blocks[i] >= starts[part+1] {
			part++
		}
		values := parts[part][int(blocks[i]-starts[part])*valueBytes:][:int(blocks[i+1])*valueBytes]
		var sizes [kernel.CascadeSchemes]uint32
		if valueBytes == 8 {
			sizes = kernel.SizeCascade(backend.Longs(values))
		} else {
			sizes = kernel.SizeCascade(backend.Words(values))
		}
		bytes = append(bytes, sizes[:]...)
	}
	return SizesOf(blocks, bytes, valueBytes)
}

// Ratio is the number of raw bytes for each encoded one, by the sample. 1 without rows.
func (s *Sizes) Ratio(scheme kernel.CascadeScheme) float64 {
	if s.RawBytes == 0 {
		return 1
	}
	return float64(s.RawBytes) / float64(s.Bytes[scheme])
}

// Rates are bytes per second. Those of the codec count raw bytes; 0 is a codec that does not run.
type Rates struct {
	Encode, Decode [kernel.CascadeSchemes]float64
	Link           float64
}

// Uniform are the rates of a codec that takes equally long for all schemes.
func Uniform(encode, decode, link float64) (r Rates) {
	r.Link = link
	for scheme := range r.Encode {
		r.Encode[scheme], r.Decode[scheme] = encode, decode
	}
	return r
}

// Slow divides the rates of the codec by how many times slower it was; below 1 it was not.
func (r *Rates) Slow(by float64) {
	for scheme := range r.Encode {
		r.Encode[scheme] /= max(1, by)
		r.Decode[scheme] /= max(1, by)
	}
}

// MayWin reports whether a scheme can take less time than the link alone, however much it saves.
func (r *Rates) MayWin() bool {
	for scheme, encode := range r.Encode {
		if encode > 0 && r.Decode[scheme] > 0 && 1/encode+1/r.Decode[scheme] < 1/r.Link {
			return true
		}
	}
	return false
}

// Choice is how a column travels.
type Choice struct {
	// Coded is whether it is encoded at all; otherwise its words are sent as they are, and Scheme is 0.
	Coded   bool
	Scheme  kernel.CascadeScheme
	Seconds float64 // per raw byte: encode, send and decode, one after the other
}

// Select chooses the scheme that takes least time to encode, send and decode one after the other. Among equals, the one
// with fewer layers wins.
func Select(s Sizes, rates Rates) Choice {
	best := Choice{Seconds: 1 / rates.Link}
	for _, scheme := range [...]kernel.CascadeScheme{1, 4, 3, 5, 6, 7} { // neither raw nor delta alone is smaller
		if s.RawBytes == 0 || rates.Encode[scheme] <= 0 || rates.Decode[scheme] <= 0 {
			continue
		}
		seconds := 1/rates.Encode[scheme] + 1/(s.Ratio(scheme)*rates.Link) + 1/rates.Decode[scheme]
		if seconds < best.Seconds {
			best = Choice{Coded: true, Scheme: scheme, Seconds: seconds}
		}
	}
	return best
}
