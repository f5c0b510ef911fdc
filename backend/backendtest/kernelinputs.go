package backendtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// column returns an output column of n values.
func column(bits uint32, n int) []byte {
	return backend.AsBytes(make([]uint64, (n*int(bits)+63)/64))[:n*int(bits)/8]
}

func randomColumn(bits uint32, n int, random *rand.Rand) []byte {
	b := column(bits, n)
	w := backend.Words(b)
	for i := range w {
		w[i] = random.Uint32()
	}
	return b
}

// wordsBelow returns n random words below limit.
func wordsBelow(limit uint32, n int, random *rand.Rand) []byte {
	w := make([]uint32, n)
	for i := range w {
		w[i] = random.Uint32N(limit)
	}
	return backend.AsBytes(w)
}

// narrow returns keys as a column of 32 or 64 bits.
func narrow(keys []uint64, bits uint32) []byte {
	if bits == 64 {
		return backend.AsBytes(keys)
	}
	w := make([]uint32, len(keys))
	for i, k := range keys {
		w[i] = uint32(k)
	}
	return backend.AsBytes(w)
}

// forRadix calls visit with keys and digits that matter: random ones, all equal, few distinct; narrow and high digits.
func forRadix(c backend.Config, rows int, random *rand.Rand, visit func(name string, keys []uint64, shift, bits uint32)) {
	keyBits := c["key_bits"]
	for i, d := range [][2]uint32{{0, 8}, {keyBits - 8, 8}, {5, 3}, {keyBits - 1, 1}} {
		keys := make([]uint64, rows)
		for k := range keys {
			switch i {
			case 0, 1:
				keys[k] = random.Uint64()
			case 2:
				keys[k] = 0xFFFFFFFFFFFFFFFF
			case 3:
				keys[k] = random.Uint64N(2)<<(keyBits-1) | 12345
			}
		}
		visit(fmt.Sprintf("shift=%d bits=%d", d[0], d[1]), keys, d[0], d[1])
	}
}

// radixOffsets returns where the rows of each digit and tile go: offsets[digit*tiles+tile].
func radixOffsets(keys []uint64, shift, bits uint32, tileRows, tiles int) []uint32 {
	counts := make([]uint32, tiles<<bits)
	for i, key := range keys {
		digit := int(key >> shift & (1<<bits - 1))
		counts[digit*tiles+i/tileRows]++
	}
	sum := uint32(0)
	for i, n := range counts {
		counts[i] = sum
		sum += n
	}
	return counts
}

// sortedKeys returns n ascending keys, the highest ones that 32 bits hold among them; both halves of a wide key vary.
func sortedKeys(distinct uint64, n int, random *rand.Rand) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = random.Uint64N(distinct)
		if distinct > 1<<32 { // the same order at 32 and at 64 bits
			keys[i] = keys[i]>>31<<32 | keys[i]>>31
		} else if random.IntN(16) == 0 {
			keys[i] = 0xFFFFFFFF
		}
	}
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Compare(a, b) })
	return keys
}

// payloadColumns returns a payload of n random values and a column for its values in another order; nothing where bits is 0.
func payloadColumns(bits uint32, n int, random *rand.Rand) (in, out []byte) {
	if bits == 0 {
		return nil, nil
	}
	return randomColumn(bits, n, random), column(bits, n)
}

// forMerges calls visit with merges of rows rows and their parameters: of two columns, and of the runs of one.
func forMerges(rows, tileRows int, random *rand.Rand, visit func(name string, left, right []uint64, params []uint32)) {
	for _, distinct := range []uint64{1, uint64(rows)/2 + 2, 1 << 63} {
		for _, left := range []int{0, rows / 3, rows} {
			visit(fmt.Sprintf("left=%d distinct=%d", left, distinct), sortedKeys(distinct, left, random), sortedKeys(distinct, rows-left, random),
				[]uint32{uint32(left), uint32(rows - left), 0})
		}
		run := 2 * tileRows
		keys := make([]uint64, 0, rows)
		for len(keys) < rows {
			keys = append(keys, sortedKeys(distinct, min(run, rows-len(keys)), random)...)
		}
		visit(fmt.Sprintf("run=%d distinct=%d", run, distinct), keys, keys, []uint32{uint32(rows), 0, uint32(run)})
	}
}

// matchRanges returns the ranges of about pairs matches in all: offsets with one entry more than left rows, begins, and the
// number of right rows. With hot one left row has most of them.
func matchRanges(pairs int, hot bool, random *rand.Rand) (offsets []uint64, begins []uint32, rightRows int) {
	rightRows = pairs + 1
	leftRows := pairs/2 + 2
	offsets = []uint64{0}
	for i := range leftRows {
		count := uint64(random.IntN(5))
		if hot {
			count = uint64(random.IntN(8)) / 7
			if i == leftRows/2 {
				count = uint64(pairs)
			}
		}
		begins = append(begins, random.Uint32N(uint32(rightRows-min(int(count), pairs))))
		offsets = append(offsets, offsets[i]+count)
	}
	return offsets, begins, rightRows
}

// starts are where partitions of fewer than most rows each begin, and where the last one ends.
func starts(partitions int, most uint32, random *rand.Rand) []byte {
	starts := make([]uint32, partitions+1)
	for p := range partitions {
		starts[p+1] = starts[p] + random.Uint32N(most)
	}
	return backend.AsBytes(starts)
}

// spreadKeys are distinct keys, of which number i belongs to slot i of a hash table of mask + 1 slots.
func spreadKeys(bits uint32, rows int, random *rand.Rand) (keys []uint64, mask, seed uint32) {
	seed, mask = random.Uint32(), 1
	for int(mask) < 2*rows {
		mask = 2*mask + 1
	}
	keys = make([]uint64, rows)
	for i := range keys {
		keys[i] = kernel.Unmix(uint64(i), seed)
		if bits == 32 {
			keys[i] = uint64(kernel.Unmix(uint32(i), seed))
		}
	}
	return keys, mask, seed
}
