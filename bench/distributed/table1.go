package distributed

import (
	"github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/kernel"
)

// sampledValues is the number of values of a column for one destination whose encoded bytes are counted.
const sampledValues = codec.SampleBlocks * kernel.CascadeBlock

// schemes are the ratios of a column of TPC-H in each scheme, for one of many destinations after a stable partition.
type schemes struct {
	column string
	ratios [kernel.CascadeSchemes]float64
	best   kernel.CascadeScheme
}

// countSchemes counts the bytes of a column in each scheme, block by block, with a word of the directory for each.
func countSchemes(column string, seed uint64, destinations int) schemes {
	values := primitive.CodecValues(column, seed, sampledValues, destinations)
	sizes := codec.Sample(values, []uint32{0, sampledValues})
	s := schemes{column: column}
	for scheme := range sizes.Bytes {
		sizes.Bytes[scheme] += 4 * codec.SampleBlocks
	}
	for scheme := range s.ratios {
		s.ratios[scheme] = sizes.Ratio(kernel.CascadeScheme(scheme))
	}
	s.best = codec.Select(sizes, codec.Uniform(1e30, 1e30, 1)).Scheme // as if the codec took no time
	return s
}

// counting is a column and the destinations of its rows.
type counting struct {
	column       string
	destinations int
}

// schemes is [countSchemes], once for each column and number of destinations.
func (s *Sweep) schemes(column string, destinations int) schemes {
	if s.counted == nil {
		s.counted = make(map[counting]schemes)
	}
	of := counting{column, destinations}
	found, some := s.counted[of]
	if !some {
		found = countSchemes(column, s.Seed, destinations)
		s.counted[of] = found
	}
	return found
}

// ourCodec returns the codec of this project for columns of TPC-H that go to so many destinations: measured rates, and
// ratios by counting.
func (s *Sweep) ourCodec(destinations int) func(column string) Codec {
	return func(column string) Codec {
		of, counted := ourRates[column], s.schemes(column, destinations)
		of.Ratio = counted.ratios[counted.best]
		return of
	}
}
