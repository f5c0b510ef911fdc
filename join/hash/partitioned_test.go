package hash

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// relation is one side of a join in the memory of the test. The payload of row i is made of i and the number of the column.
type relation struct {
	keyBytes int
	keys     []uint64
	payload  []int // bytes of the columns
}

func (r *relation) value(column, row int) uint64 {
	v := uint64(row)*0x9e3779b97f4a7c15 + uint64(column)
	if r.payload[column] == 4 {
		v = uint64(uint32(row) ^ uint32(column)<<28)
	}
	return v
}

// rows are the columns of some rows, each as bytes; sorted.
func sortedRows(rows [][]byte) [][]byte {
	slices.SortFunc(rows, bytes.Compare)
	return rows
}

func appendValue(row []byte, width int, v uint64) []byte {
	if width == 8 {
		return binary.LittleEndian.AppendUint64(row, v)
	}
	return binary.LittleEndian.AppendUint32(row, uint32(v))
}

// oracle is the simplest join.
func oracle(left, right *relation) (rows [][]byte) {
	found := make(map[uint64][]int)
	for l, key := range left.keys {
		found[key] = append(found[key], l)
	}
	for r, key := range right.keys {
		for _, l := range found[key] {
			row := appendValue(nil, left.keyBytes, key)
			for c, width := range left.payload {
				row = appendValue(row, width, left.value(c, l))
			}
			for c, width := range right.payload {
				row = appendValue(row, width, right.value(c, r))
			}
			rows = append(rows, row)
		}
	}
	return sortedRows(rows)
}

// upload brings a relation to a device; release gives it back.
func (r *relation) upload(t *testing.T, device *backend.Device) (on resident.Relation, release func()) {
	memory := resident.Memory{Device: device}
	column := func(width int, value func(i int) uint64) resident.Column {
		var data []byte
		for i := range r.keys {
			data = appendValue(data, width, value(i))
		}
		b := memory.New(uint64(len(data)), "test")
		require.NoError(t, memory.Err)
		if len(data) > 0 {
			point, err := device.Upload(context.Background(), b.All(), data)
			require.NoError(t, err)
			require.NoError(t, device.Wait(context.Background(), point))
		}
		return resident.Column{Data: b.All(), Bytes: width}
	}
	on = resident.Relation{Rows: uint64(len(r.keys)), Keys: column(r.keyBytes, func(i int) uint64 { return r.keys[i] })}
	for c, width := range r.payload {
		on.Payload = append(on.Payload, column(width, func(i int) uint64 { return r.value(c, i) }))
	}
	return on, memory.ReleaseAll
}

// fetch returns the rows of a result, sorted.
func fetch(t *testing.T, device *backend.Device, r *resident.Result, left, right *relation) [][]byte {
	rows := make([][]byte, r.Rows)
	add := func(b *backend.Buffer, width int) {
		data := make([]byte, int(r.Rows)*width)
		if len(data) == 0 {
			return
		}
		require.NoError(t, device.Download(context.Background(), data, b.Range(0, uint64(len(data)))))
		for i := range rows {
			rows[i] = append(rows[i], data[i*width:(i+1)*width]...)
		}
	}
	add(r.Keys, left.keyBytes)
	for side, relation := range []*relation{left, right} {
		require.Len(t, r.Payload[side], len(relation.payload))
		for c, width := range relation.payload {
			add(r.Payload[side][c], width)
		}
	}
	return sortedRows(rows)
}

func check(t *testing.T, ops *primitive.Ops, left, right *relation, o Options, describe string) {
	onLeft, releaseLeft := left.upload(t, ops.Device())
	defer releaseLeft()
	onRight, releaseRight := right.upload(t, ops.Device())
	defer releaseRight()
	got, err := Join(context.Background(), ops, onLeft, onRight, o, nil)
	require.NoError(t, err, describe)
	defer got.Release()
	want := oracle(left, right)
	require.EqualValues(t, len(want), got.Rows, describe)
	rows := fetch(t, ops.Device(), got, left, right)
	for i := range want {
		if !bytes.Equal(want[i], rows[i]) {
			require.Equal(t, want[i], rows[i], "%s: row %d of %d, sorted", describe, i, len(want))
		}
	}
	for side, r := range []*relation{left, right} { // inputs are left as they are
		on := [2]resident.Relation{onLeft, onRight}[side]
		data := make([]byte, on.Keys.Data.SizeBytes)
		if len(data) > 0 {
			require.NoError(t, ops.Device().Download(context.Background(), data, on.Keys.Data))
		}
		for i, key := range r.keys {
			require.Equal(t, appendValue(nil, r.keyBytes, key), data[i*r.keyBytes:(i+1)*r.keyBytes], describe)
		}
	}
}

// workloads draw the keys of both sides; unique says that the side with fewer rows has no key twice.
var workloads = map[string]struct {
	unique bool
	draw   func(random *rand.Rand, left, right, bits int) (l, r []uint64)
}{
	"primary and foreign": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for _, i := range random.Perm(left) {
			l = append(l, uint64(i)*0x9e3779b9)
		}
		for range right {
			r = append(r, uint64(random.IntN(max(1, left)))*0x9e3779b9)
		}
		return l, r
	}},
	"half match": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for i := range left {
			l = append(l, uint64(2*i))
		}
		for range right {
			r = append(r, random.Uint64N(uint64(2*left+1)))
		}
		return l, r
	}},
	"duplicates": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for range left {
			l = append(l, random.Uint64N(uint64(left/3+1)))
		}
		for range right {
			r = append(r, random.Uint64N(uint64(left/3+2)))
		}
		return l, r
	}},
	"no match": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for i := range left {
			l = append(l, uint64(i))
		}
		for i := range right {
			r = append(r, uint64(left+i))
		}
		return l, r
	}},
	"hot keys": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for i := range left {
			l = append(l, uint64(i))
			if i%3 == 0 && i < 600 {
				l[i] = 77
			}
		}
		for range right {
			r = append(r, [...]uint64{77, uint64(random.IntN(left + 1)), 5, uint64(left)}[random.IntN(4)])
		}
		return l, r
	}},
	"one key": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for range min(left, 300) {
			l = append(l, 3)
		}
		for range min(right, 500) {
			r = append(r, 3)
		}
		return l, r
	}},
	// Keys that differ, all in one partition.
	"collisions": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		collide := func(i int) uint64 {
			if bits == 64 {
				return kernel.Unmix(uint64(i)<<mostBits|9, uint32(seed))
			}
			return uint64(kernel.Unmix(uint32(i)<<mostBits|9, uint32(seed)))
		}
		for i := range left {
			l = append(l, collide(i))
		}
		for range right {
			r = append(r, collide(random.IntN(left+left/2+1)))
		}
		return l, r
	}},
	"sentinels": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		greatest := ^uint64(0) >> (64 - bits)
		sentinels := []uint64{0, 1, greatest, greatest - 1, greatest >> 1, 1 << (bits - 1)}
		for i := range left {
			l = append(l, sentinels[i%6])
			if i >= 12 {
				l[i] = random.Uint64() & greatest
			}
		}
		for i := range right {
			r = append(r, sentinels[i%6])
			if i > 40 {
				r[i] = random.Uint64() & greatest
			}
		}
		return l, r
	}},
}

var payloads = [][2][]int{{{4}, {4}}, {{4, 4}, {4, 4}}, {nil, nil}, {{8, 4, 4, 8, 4, 4, 4}, {4}}, {nil, {8, 8}}, {{8}, {4, 8, 4}}}

func TestJoin(t *testing.T) {
	var names []string
	for name := range workloads {
		names = append(names, name)
	}
	slices.Sort(names)
	tile := 2000
	sizes := [][2]int{{0, 0}, {0, 5}, {7, 0}, {1, 1}, {3, 1000}, {1000, 3}, {tile, 3 * tile}, {tile + 1, tile - 1}, {9000, 5000}, {700, 30000}}
	forced := []force{{}, {bits: new(int)}, {bits: bitsOf(3)}, {bits: bitsOf(11), table: 40}, {bits: bitsOf(5), table: 70}, {bits: bitsOf(2), table: 1000}, {bits: bitsOf(4), table: 20, ranges: 3}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		var tuning primitive.Tuning
		if vulkantest.Validation(t) == vulkan.GPUAssisted {
			// Each access of an instrumented shader loops over the buffers: in long tiles lavapipe's 65,535 trips of all loops are exceeded.
			tuning = primitive.Override(backend.Config{"serial": 1, "workgroup": 8, "items": 64}, "radix_sort")
		}
		ops, err := primitive.New(device, tuning)
		require.NoError(t, err)
		for n, c := range devicetest.Combinations(t, len(sizes), len(payloads), len(names), len(forced), 8, 2) {
			if tuning != nil && n%5 > 0 {
				continue // instrumented pipelines take seconds to compile
			}
			size, workload, keyBytes := sizes[c[0]], workloads[names[c[2]]], 4+4*c[5]
			random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[2])))
			o := Options{Untransformed: c[4]&1 == 1, OneByOne: c[4]&2 == 2, CountFirst: c[4]&4 == 4, force: forced[c[3]]}
			if c[1]%2 == 0 {
				o.OutputRows = 3
			}
			least, most := min(size[0], size[1]), max(size[0], size[1])
			few, many := workload.draw(random, least, most, keyBytes*8)
			left, right := &relation{keyBytes, few, payloads[c[1]][0]}, &relation{keyBytes, many, payloads[c[1]][1]}
			if size[0] > size[1] {
				left.keys, right.keys = many, few
			}
			o.Unique = workload.unique && size[0]%2 == 1
			describe := fmt.Sprintf("%s %v, keys of %d bytes, payload %v, %+v", names[c[2]], size, keyBytes, payloads[c[1]], o)
			check(t, ops, left, right, o, describe)
		}
	})
}

func bitsOf(n int) *int { return &n }
