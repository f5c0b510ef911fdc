package kernel

import (
	bitops "math/bits"
	"sync"
	"unsafe"
)

// unitTable holds the mixed keys of a unit's left rows bucket by bucket: one more partition, by further bits of the
// mix, that stays in the second-level cache. A lookup reads two neighbouring starts and then the keys between them, so
// that no load waits for more than one other, and rows with the same key lie side by side.
type unitTable[K word] struct {
	shift, mask uint32
	starts      [1<<16 + 2]uint16 // of the buckets, and where the last one ends
	keys        [1<<16 + 2]K
	rows        [1<<16 + 2]uint16 // whose keys these are, counted within the unit
	marked      [1 << 16 / 32]uint32
}

var unitTables [2]sync.Pool // by the width of keys

// newUnitTable takes a table from its pool and builds it; the caller puts it back.
func newUnitTable[K word](left []K, d digit, shift, most uint32) *unitTable[K] {
	t, _ := unitTables[unsafe.Sizeof(*new(K))/8].Get().(*unitTable[K])
	if t == nil {
		t = new(unitTable[K])
	}
	t.build(left, d, shift, most)
	return t
}

func (t *unitTable[K]) bucket(key K) uint16 { return uint16(uint32(key) >> (t.shift & 31) & t.mask) }

// build sorts the rows of a unit into about as many buckets as there are rows, most at most.
func (t *unitTable[K]) build(left []K, d digit, shift, most uint32) {
	buckets := min(uint32(1)<<bitops.Len(uint(len(left))), most)
	t.shift, t.mask = shift, buckets-1
	clear(t.starts[:buckets+2])
	var buffer [pairRows]K
	batches := func(do func(first int, keys []K)) {
		for first := 0; first < len(left); first += pairRows {
			do(first, source(left[first:min(first+pairRows, len(left))], buffer[:], d))
		}
	}
	next := t.starts[1:] // by bucket: where its next row goes; in the end that is where the bucket behind it begins
	batches(func(_ int, keys []K) {
		for _, key := range keys {
			next[uint32(t.bucket(key))+1]++
		}
	})
	for b := range buckets {
		next[b+1] += next[b]
	}
	batches(func(first int, keys []K) {
		for i, key := range keys {
			at := &next[t.bucket(key)]
			t.keys[*at], t.rows[*at] = key, uint16(first+i)
			*at++
		}
	})
}

// probe finds the matches of mixed keys. Hardly any bucket has more than two rows, and those are compared without a
// branch.
func (t *unitTable[K]) probe(keys []K, out *joinOutput[K]) {
	left, right := &out.left, &out.right
	n := uint(0)
	for i := 0; i < len(keys); {
		var at, end uint32
		for at+2 >= end && i < len(keys) && n <= pairRows-2 {
			key := keys[i]
			b := uint32(t.bucket(key))
			at, end = uint32(t.starts[b]), uint32(t.starts[b+1])
			left[n], right[n] = uint32(t.rows[at]), uint32(i)
			n += oneIf(t.keys[at] == key) & oneIf(at < end)
			left[n%pairRows], right[n%pairRows] = uint32(t.rows[at+1]), uint32(i)
			n += oneIf(t.keys[at+1] == key) & oneIf(at+1 < end)
			i++
		}
		for at += 2; at < end; at++ {
			if t.keys[at] == keys[i-1] {
				if n == pairRows {
					out.write(n)
					n = 0
				}
				left[n], right[n] = uint32(t.rows[at]), uint32(i-1)
				n++
			}
		}
		if n > pairRows-2 {
			out.write(n)
			n = 0
		}
	}
	out.write(n)
}

// first is the place of the first row with a mixed key, and of the end of its bucket; the end twice if there is none.
func (t *unitTable[K]) first(key K) (at, end uint32) {
	b := uint32(t.bucket(key))
	at, end = uint32(t.starts[b]), uint32(t.starts[b+1])
	for at < end && t.keys[at] != key {
		at++
	}
	return at, end
}

// count is the number of rows with a mixed key. Hardly any bucket has more than two rows.
func (t *unitTable[K]) count(key K) uint32 {
	b := uint32(t.bucket(key))
	at, end := uint32(t.starts[b]), uint32(t.starts[b+1])
	n := oneIf(t.keys[at] == key)&oneIf(at < end) + oneIf(t.keys[at+1] == key)&oneIf(at+1 < end)
	for at += 2; at < end; at++ {
		n += oneIf(t.keys[at] == key)
	}
	return uint32(n)
}

// countOnce is the same, but counts the rows of a key in a bucket of more than two rows at its first lookup only: the
// first of them keeps the number in the place of its row, which is 0 before.
func (t *unitTable[K]) countOnce(key K) uint32 {
	if b := uint32(t.bucket(key)); t.starts[b+1]-t.starts[b] <= 2 {
		return t.count(key)
	}
	at, end := t.first(key)
	if at == end {
		return 0
	}
	if t.rows[at] == 0 {
		t.rows[at] = uint16(t.count(key))
	}
	return uint32(t.rows[at])
}

// unitTableBytes is the shared memory that the table takes in shaders, which chain rows.
func unitTableBytes(table, heads uint32) uint32 { return 4 * (heads + table) }
