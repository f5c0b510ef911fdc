package primitive_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
)

// mergeDistributions are the distributions of sort and those that matter for comparisons.
var mergeDistributions = func() map[string]func(random *rand.Rand, i, rows, bits int) uint64 {
	all := maps.Clone(distributions)
	all["zipf"] = func(r *rand.Rand, _, rows, _ int) uint64 {
		return uint64(math.Exp(r.Float64()*math.Log(float64(rows)))) - 1 // P(k) nearly 1/k
	}
	all["few"] = func(r *rand.Rand, _, _, bits int) uint64 { return low(r.Uint64N(5)*0x5555555555555555, bits) }
	all["high bits"] = func(r *rand.Rand, _, _, bits int) uint64 { return r.Uint64() >> (64 - bits) &^ (1<<(bits-8) - 1) }
	all["low bits"] = func(r *rand.Rand, _, _, _ int) uint64 { return r.Uint64N(1 << 8) }
	return all
}()

// keyed is a column of keys with the payload of each row, as the oracle holds it.
type keyed struct{ keys, payload []uint64 }

// draw makes rows keys of a distribution, with a payload that tells all rows apart.
func draw(random *rand.Rand, distribution string, rows, keyBytes int) keyed {
	c := keyed{make([]uint64, rows), make([]uint64, rows)}
	first := random.Uint64()
	for i := range rows {
		c.keys[i] = mergeDistributions[distribution](random, i, rows, keyBytes*8)
		c.payload[i] = first + uint64(i)*0x9e3779b97f4a7c15
	}
	return c
}

// sorted returns the rows in the order of their keys, and where keys are equal in the order that they have.
func (c keyed) sorted() keyed {
	order := make([]int, len(c.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(c.keys[a], c.keys[b]), cmp.Compare(a, b)) })
	s := keyed{make([]uint64, len(order)), make([]uint64, len(order))}
	for i, from := range order {
		s.keys[i], s.payload[i] = c.keys[from], c.payload[from]
	}
	return s
}

func narrowed(column []uint64) []uint32 {
	narrow := make([]uint32, len(column))
	for i, v := range column {
		narrow[i] = uint32(v)
	}
	return narrow
}

// words uploads a column of given width; without bits it is absent.
func words(r rig, values []uint64, bits int) backend.Range {
	switch bits {
	case 0:
		return backend.Range{}
	case 32:
		return column(r, narrowed(values)).All()
	}
	return column(r, values).All()
}

// blank allocates a column of rows words.
func (r rig) blank(rows, bits int) backend.Range {
	if bits == 0 {
		return backend.Range{}
	}
	return r.empty(uint64(rows * bits / 8)).All()
}

// requireColumn compares a column on the device with what it should hold.
func requireColumn(r rig, want []uint64, got backend.Range, bits int, what string) {
	r.Helper()
	switch bits {
	case 32:
		require.Equal(r, narrowed(want), values[uint32](r, got, len(want)), what)
	case 64:
		require.Equal(r, want, values[uint64](r, got, len(want)), what)
	}
}

func merge(r rig, left, right keyed, keyBytes, payloadBits int, what string) {
	r.Helper()
	slices.Sort(left.keys)
	slices.Sort(right.keys)
	want := keyed{[]uint64{}, []uint64{}}
	for l, g := 0, 0; l+g < len(left.keys)+len(right.keys); {
		if g == len(right.keys) || l < len(left.keys) && left.keys[l] <= right.keys[g] {
			want.keys, want.payload = append(want.keys, left.keys[l]), append(want.payload, left.payload[l])
			l++
		} else {
			want.keys, want.payload = append(want.keys, right.keys[g]), append(want.payload, right.payload[g])
			g++
		}
	}
	p, err := primitive.PlanMerge(r.ops.Tuning(), uint64(len(left.keys)), uint64(len(right.keys)), keyBytes, payloadBits)
	require.NoError(r, err)
	a := primitive.KeyedColumns{Keys: words(r, left.keys, keyBytes*8), Payload: words(r, left.payload, payloadBits)}
	b := primitive.KeyedColumns{Keys: words(r, right.keys, keyBytes*8), Payload: words(r, right.payload, payloadBits)}
	out := primitive.KeyedColumns{Keys: r.blank(len(want.keys), keyBytes*8), Payload: r.blank(len(want.keys), payloadBits)}
	scratch := r.empty(p.ScratchBytes)
	r.run(func(list *backend.List) error { return r.ops.Merge(list, p, a, b, out, scratch.All()) })
	what = fmt.Sprintf("%s, %d + %d rows, %d key bytes, %d payload bits", what, len(left.keys), len(right.keys), keyBytes, payloadBits)
	requireColumn(r, want.keys, out.Keys, keyBytes*8, what)
	requireColumn(r, want.payload, out.Payload, payloadBits, what)
}

func TestMerge(t *testing.T) {
	names := slices.Sorted(maps.Keys(mergeDistributions))
	payloads := []int{0, 32, 64}
	forEach(t, func(r rig) {
		sizes := r.sizesAround("merge")
		for i, c := range devicetest.Combinations(r, len(sizes), len(sizes), len(names), 2, len(payloads)) {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			keyBytes, name := 4+4*c[3], names[c[2]]
			merge(r, draw(random, name, sizes[c[0]], keyBytes), draw(random, name, sizes[c[1]], keyBytes), keyBytes, payloads[c[4]], name)
		}
		// One side is used up before the other begins.
		random, rows := rand.New(rand.NewPCG(8, 9)), sizes[len(sizes)-1]
		below, above := draw(random, "uniform", rows, 4), draw(random, "uniform", rows, 4)
		for i := range rows {
			below.keys[i] >>= 1
			above.keys[i] |= 1 << 31
		}
		merge(r, below, above, 4, 32, "left below right")
		merge(r, above, below, 4, 32, "right below left")
	})
}

// mergeSort sorts rows where they are or, apart, out of columns that stay as they are.
func mergeSort(r rig, c keyed, keyBytes, payloadBits int, payload primitive.Payload, apart bool, what string) {
	r.Helper()
	rows := len(c.keys)
	if payload == primitive.RowNumbers {
		for i := range c.payload {
			c.payload[i] = uint64(i)
		}
	}
	want := c.sorted()
	p, err := primitive.PlanMergeSort(r.ops.Tuning(), primitive.Layout{Rows: uint64(rows), KeyBytes: keyBytes, Payload: payload, PayloadBytes: payloadBits / 8})
	require.NoError(r, err)
	keys := [2]backend.Range{words(r, c.keys, keyBytes*8), r.blank(rows, keyBytes*8)}
	columns := [2]backend.Range{r.blank(rows, payloadBits), r.blank(rows, payloadBits)}
	if payload == primitive.Given {
		columns[0] = words(r, c.payload, payloadBits)
	}
	scratch := r.empty(p.ScratchBytes)
	buffers := [2]primitive.Columns{{Keys: keys[0], Payload: columns[:1]}, {Keys: keys[1], Payload: columns[1:]}}
	source := buffers[0]
	if apart && p.Passes() > 0 {
		source.Payload = slices.Clone(source.Payload)
		keys[0], columns[0] = r.blank(rows, keyBytes*8), r.blank(rows, payloadBits)
		buffers[0].Keys = keys[0]
	}
	r.run(func(list *backend.List) error { return r.ops.MergeSort(list, p, scratch.All(), source, buffers) })
	what = fmt.Sprintf("%s, %d rows, %d key bytes, %d payload bits, payload %d, apart %t", what, rows, keyBytes, payloadBits, payload, apart)
	if apart {
		requireColumn(r, c.keys, source.Keys, keyBytes*8, what)
		if payload == primitive.Given {
			requireColumn(r, c.payload, source.Payload[0], payloadBits, what)
		}
	}
	requireColumn(r, want.keys, keys[p.Result()], keyBytes*8, what)
	requireColumn(r, want.payload, columns[p.Result()], payloadBits, what)
}

// mergePayloads are the payloads that a merge sort takes.
var mergePayloads = []struct {
	bits int
	kind primitive.Payload
}{{0, primitive.NoPayload}, {32, primitive.RowNumbers}, {32, primitive.Given}, {64, primitive.Given}}

func TestMergeSort(t *testing.T) {
	names := slices.Sorted(maps.Keys(mergeDistributions))
	forEach(t, func(r rig) {
		sizes := append(r.sizesAround("merge_sort"), r.sizesAround("merge")...)
		slices.Sort(sizes)
		sizes = slices.Compact(sizes)
		for i, c := range devicetest.Combinations(r, len(sizes), len(names), 2, len(mergePayloads), 2) {
			random := rand.New(rand.NewPCG(uint64(i), 8))
			keyBytes, name, payload := 4+4*c[2], names[c[1]], mergePayloads[c[3]]
			mergeSort(r, draw(random, name, sizes[c[0]], keyBytes), keyBytes, payload.bits, payload.kind, c[4] == 1, name)
		}
	})
}

// TestMergesProperty draws sizes and tilings, those whose tiles do not fit each other among them.
func TestMergesProperty(t *testing.T) {
	names := slices.Sorted(maps.Keys(mergeDistributions))
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tiles := [][]backend.Config{nil, nil} // wide and serial, the tiles of other tests first
		for _, items := range []uint32{3, 1, 2} {
			tiles[0] = append(tiles[0], backend.Config{"serial": 0, "workgroup": 64, "items": items},
				backend.Config{"serial": 0, "workgroup": 32, "items": items})
		}
		for items := range uint32(17) {
			tiles[1] = append(tiles[1], backend.Config{"serial": 1, "workgroup": 8, "items": (items+15)%17 + 1})
		}
		for i := range tiles {
			tiles[i] = devicetest.Shapes(t, device.Info(), tiles[i])
		}
		rapid.Check(t, func(draws *rapid.T) {
			serial := rapid.IntRange(0, 1).Draw(draws, "serial")
			shape := func(name string) backend.Config {
				return rapid.SampledFrom(tiles[serial]).Draw(draws, name+" tile")
			}
			ops, err := primitive.New(device, primitive.Override(shape("merge"), "merge").With(primitive.Override(shape("sort"), "merge_sort")))
			require.NoError(draws, err)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(draws, "seed"), 1))
			name, keyBytes := rapid.SampledFrom(names).Draw(draws, "keys"), rapid.SampledFrom([]int{4, 8}).Draw(draws, "key bytes")
			payload := rapid.SampledFrom(mergePayloads).Draw(draws, "payload")
			left, right := rapid.IntRange(0, 700).Draw(draws, "left"), rapid.IntRange(0, 700).Draw(draws, "right")
			ok := t.Run("", func(t *testing.T) { // releases the buffers of each draw
				r := rig{t, ops, device}
				merge(r, draw(random, name, left, keyBytes), draw(random, name, right, keyBytes), keyBytes, payload.bits, name)
				mergeSort(r, draw(random, name, left, keyBytes), keyBytes, payload.bits, payload.kind, left%2 == 1, name)
			})
			if !ok {
				draws.FailNow()
			}
		})
	})
}

// Plans refuse what no kernel can do, and say what a pass needs.
func TestMergePlans(t *testing.T) {
	tuning := primitive.Override(backend.Config{"serial": 0, "workgroup": 64, "items": 3})
	for _, c := range []struct{ left, right uint64 }{{math.MaxUint32, 0}, {0, math.MaxUint32}, {1 << 31, 1 << 31}, {1 << 63, 1 << 63}} {
		_, err := primitive.PlanMerge(tuning, c.left, c.right, 4, 0)
		require.ErrorIs(t, err, backend.ErrLimit, "%v", c)
	}
	_, err := primitive.PlanMergeSort(tuning, primitive.Layout{Rows: math.MaxUint32, KeyBytes: 4})
	require.ErrorIs(t, err, backend.ErrLimit)
	_, err = primitive.PlanMerge(tuning, 1, 1, 3, 0)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = primitive.PlanMerge(tuning, 1, 1, 4, 16)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	for _, layout := range []primitive.Layout{{Rows: 1, KeyBytes: 3}, {Rows: 1, KeyBytes: 4, Payload: primitive.RowNumbers, PayloadBytes: 8},
		{Rows: 1, KeyBytes: 4, Payload: primitive.Given, PayloadBytes: 2}, {Rows: 1, KeyBytes: 4, Payload: primitive.Given, Columns: 2}} {
		_, err = primitive.PlanMergeSort(tuning, layout)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "%v", layout)
	}

	p, err := primitive.PlanMergeSort(tuning, primitive.Layout{Rows: 64*3*4 + 1, KeyBytes: 8, Payload: primitive.RowNumbers})
	require.NoError(t, err)
	require.Equal(t, 4, p.Passes()) // blocks, then runs of 1, 2 and 4 tiles
	require.Equal(t, uint64(5*4), p.ScratchBytes)
	most, err := primitive.PlanMergeSort(tuning, primitive.Layout{Rows: primitive.MaxRows, KeyBytes: 4})
	require.NoError(t, err)
	require.Equal(t, 1+25, most.Passes())
}
