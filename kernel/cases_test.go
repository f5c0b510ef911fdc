package kernel_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// A kernelCase is one dispatch of a kernel: arguments as they are before it, parameters and workgroups.
type kernelCase struct {
	spec   *backend.KernelSpec
	call   backend.Call
	groups uint32
	want   [][]byte // by argument: what the oracle says an output holds afterwards, guard included; nil for inputs
}

const (
	marker     = 0xa5 // every byte of an output before the dispatch
	guardBytes = 256  // behind each output: must keep the marker
)

// distributions of keys, values and counts. All of them reach 0 and the greatest value where the width allows.
var distributions = []string{"random", "equal", "sorted", "few", "extreme"}

// maker makes cases of one kernel.
type maker struct {
	*rand.Rand
	config       backend.Config
	rows         int
	distribution string
}

// newCase makes a case of a complete configuration with about rows rows.
func newCase(spec *backend.KernelSpec, config backend.Config, rows int, distribution string, seed uint64) *kernelCase {
	m := &maker{rand.New(rand.NewPCG(seed, 1)), config, rows, distribution}
	make := map[string]func(*maker) *kernelCase{
		"block_sort": (*maker).blockSort, "merge_partition": (*maker).mergePartition, "merge_tiles": (*maker).mergeTiles,
		"compact": (*maker).compact, "compact_count": (*maker).compactCount, "copy": (*maker).copy, "gather": (*maker).gather,
		"gather_bits": (*maker).gatherBits, "histogram": (*maker).histogram, "iota": (*maker).iota,
		"radix_counts": (*maker).radixCounts, "radix_histogram": (*maker).radixHistogram, "radix_scatter": (*maker).radixScatter,
		"radix_starts": (*maker).radixStarts,
		"range_expand": (*maker).rangeExpand, "range_search": (*maker).rangeSearch,
		"reduce": (*maker).reduce, "scan_lookback": (*maker).scanLookback, "scan_tiles": (*maker).scanTiles, "scatter": (*maker).scatter,
		"segmented_scan": (*maker).segmentedScan, "varying_bits": (*maker).varyingBits,
	}[spec.Name]
	if make == nil {
		panic("no cases for kernel " + spec.Name)
	}
	c := make(m)
	c.spec, c.call.Config = spec, m.config
	return c
}

// inputs and outputs make a case; an output is given by what it holds afterwards.
func (m *maker) newCase(groups uint32, params []uint32, args ...any) *kernelCase {
	c := &kernelCase{call: backend.Call{Params: params}, groups: groups}
	for _, arg := range args {
		var before, after []byte
		switch a := arg.(type) {
		case nil:
		case []uint32:
			before = backend.AsBytes(append(a, 0)) // one more, so that no rows are still an argument
		case []uint64:
			before = backend.AsBytes(append(a, 0))
		case output:
			after = append(slices.Clone(a), slices.Repeat([]byte{marker}, guardBytes)...)
			before = slices.Repeat([]byte{marker}, len(after))
		case changed:
			guard := slices.Repeat([]byte{marker}, guardBytes)
			before, after = append(slices.Clone(a.before), guard...), append(slices.Clone(a.after), guard...)
		}
		c.call.Args, c.want = append(c.call.Args, before), append(c.want, after)
	}
	return c
}

type output []byte

// changed is an argument that a kernel reads and writes.
type changed struct{ before, after output }

// fewPipelines is set where a pipeline takes seconds to compile.
var fewPipelines = os.Getenv("SPIRJOIN_TEST_VALIDATION") == "gpu"

// set gives the configuration of a case another constant, one of some values; the first where pipelines are dear.
func (m *maker) set(name string, values ...uint32) uint32 {
	value := values[m.IntN(len(values))]
	if fewPipelines {
		value = values[0]
	}
	m.config = maps.Clone(m.config)
	m.config[name] = value
	return value
}

// setByShape does the same by the shape, for kernels that take seconds to compile on some devices.
func (m *maker) setByShape(name string, values ...uint32) uint32 {
	value := values[0]
	if (m.config["workgroup"]+m.config["items"])%3 == 2 {
		value = values[1]
	}
	m.config = maps.Clone(m.config)
	m.config[name] = value
	return value
}

func out[T uint32 | uint64](column []T) output { return backend.AsBytes(column) }

// out64 is an output of words of a given width.
func outOf(bits uint32, column []uint64) output {
	if bits == 64 {
		return out(column)
	}
	return out(narrow(column))
}

func inOf(bits uint32, column []uint64) any {
	if bits == 64 {
		return slices.Clone(column)
	}
	return narrow(column)
}

func narrow(column []uint64) []uint32 {
	narrowed := make([]uint32, len(column))
	for i, v := range column {
		narrowed[i] = uint32(v)
	}
	return narrowed
}

// column draws words of a width; bound, if not 0, is above all of them.
func (m *maker) column(n int, bits uint32, bound uint64) []uint64 {
	greatest := ^uint64(0) >> (64 - bits)
	if bound > 0 {
		greatest = bound - 1
	}
	draw := func() uint64 {
		if greatest == ^uint64(0) {
			return m.Uint64()
		}
		return m.Uint64N(greatest + 1)
	}
	column := make([]uint64, n)
	same := draw()
	few := []uint64{0, draw(), draw(), draw(), greatest}
	for i := range column {
		switch m.distribution {
		case "equal":
			column[i] = same
		case "few":
			column[i] = few[m.IntN(len(few))]
		case "extreme":
			column[i] = [2]uint64{0, greatest}[m.IntN(2)]
		default:
			column[i] = draw()
		}
	}
	if m.distribution == "sorted" {
		slices.Sort(column)
	}
	return column
}

func (m *maker) tiles() uint32 { return max(1, kernel.Tiles(m.config, uint64(m.rows))) }

// tileGroups is the number of workgroups for at least one tile.
func (m *maker) tileGroups() uint32 {
	return max(1, kernel.Groups(m.config, uint64(m.rows)))
}

func (m *maker) iota() *kernelCase {
	first := [...]uint32{0, 7, 1<<32 - 3}[m.IntN(3)]
	values := make([]uint32, m.rows)
	for i := range values {
		values[i] = first + uint32(i)
	}
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(m.rows), first}, out(values))
}

// ids draws row numbers below n.
func (m *maker) ids(n int) []uint32 { return narrow(m.column(m.rows, 32, uint64(n))) }

func (m *maker) gather() *kernelCase {
	bits := m.config["value_bits"]
	values := m.column(1+m.IntN(2*m.rows+10), bits, 0)
	ids := m.ids(len(values))
	gathered := make([]uint64, m.rows)
	for i, id := range ids {
		gathered[i] = values[id]
	}
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(m.rows)}, inOf(bits, values), ids, outOf(bits, gathered))
}

func (m *maker) copy() *kernelCase {
	firsts := [2]int{4 * m.IntN(20), 4 * m.IntN(20)}
	if m.IntN(2) == 0 {
		firsts = [2]int{m.IntN(20), m.IntN(20)}
	}
	const untouched = marker * (1<<32 - 1) / 255
	source, copied := narrow(m.column(firsts[0]+m.rows, 32, 0)), slices.Repeat([]uint32{untouched}, firsts[1])
	copied = append(copied, source[firsts[0]:]...)
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(m.rows), uint32(firsts[0]), uint32(firsts[1])}, source, out(copied))
}

func (m *maker) scatter() *kernelCase {
	bits := m.config["value_bits"]
	values := m.column(m.rows, bits, 0)
	scattered := slices.Repeat([]uint64{marker * (1<<64 - 1) / 255}, m.rows+m.IntN(m.rows+10))
	ids := make([]uint32, m.rows)
	for i, id := range m.Perm(len(scattered))[:m.rows] {
		ids[i] = uint32(id)
	}
	if m.distribution == "sorted" {
		slices.Sort(ids)
	}
	for i, id := range ids {
		scattered[id] = values[i]
	}
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(m.rows)}, inOf(bits, values), ids, outOf(bits, scattered))
}

func (m *maker) gatherBits() *kernelCase {
	firstBit := m.IntN(70)
	bits := narrow(m.column(1+m.IntN(m.rows/8+10), 32, 0))
	if room := len(bits)*32 - firstBit; room <= 0 {
		firstBit = 0
	}
	ids := m.ids(len(bits)*32 - firstBit)
	gathered := make([]uint32, (m.rows+31)/32)
	for i, id := range ids {
		if bit := firstBit + int(id); bits[bit/32]>>(bit%32)&1 == 1 {
			gathered[i/32] |= 1 << (i % 32)
		}
	}
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(m.rows), uint32(firstBit)}, bits, ids, out(gathered))
}

// radix draws keys and a digit and returns them with the counts of each tile. A digit of a wide key lies in one of its words.
func (m *maker) radix() (keys []uint64, place []uint32, counts []uint32, digit func(uint64) int) {
	keyBits := m.config["key_bits"]
	bits := 1 + m.Uint32N(8)
	if m.IntN(2) == 0 {
		bits = 8
	}
	shift := m.Uint32N(keyBits)
	if shift < 32 && keyBits == 64 {
		shift = min(shift, 32-bits)
	}
	seed := m.Uint32()
	mixed := m.setByShape("mixed", 0, 1) == 1
	keys = m.column(m.rows, keyBits, 0)
	digit = func(key uint64) int {
		switch {
		case mixed && keyBits == 64:
			key = kernel.Mix(key, seed)
		case mixed:
			key = uint64(kernel.Mix(uint32(key), seed))
		}
		return int(key >> shift & (1<<bits - 1))
	}
	tiles := m.tiles()
	counts = make([]uint32, tiles<<bits)
	for i, key := range keys {
		counts[digit(key)*int(tiles)+i/int(kernel.TileRows(m.config))]++
	}
	return keys, []uint32{shift, bits, seed}, counts, digit
}

func (m *maker) radixHistogram() *kernelCase {
	keys, place, counts, _ := m.radix()
	return m.newCase(m.tileGroups(), append([]uint32{uint32(m.rows), m.tiles()}, place...), inOf(m.config["key_bits"], keys), out(counts))
}

func (m *maker) radixCounts() *kernelCase {
	keyBits := m.config["key_bits"]
	seed := m.Uint32()
	mixed := m.setByShape("mixed", 0, 1) == 1
	passes := 1 + m.Uint32N(min(keyBits/8, m.config["counters"]/256))
	keys := m.column(m.rows, keyBits, 0)
	before, after := make([]uint32, 256*passes), make([]uint32, 256*passes)
	for i := range before {
		before[i] = m.Uint32N(3)
		after[i] = before[i]
	}
	params := []uint32{uint32(m.rows), passes, 0, 0, 0, 0, seed}
	for pass := range passes {
		bits := 1 + m.Uint32N(8)
		shift := m.Uint32N(keyBits)
		if shift < 32 && keyBits == 64 {
			shift = min(shift, 32-bits)
		}
		params[2+pass/4] |= shift << (pass % 4 * 8)
		params[4+pass/4] |= bits << (pass % 4 * 8)
		for _, key := range keys {
			switch {
			case mixed && keyBits == 64:
				key = kernel.Mix(key, seed)
			case mixed:
				key = uint64(kernel.Mix(uint32(key), seed))
			}
			after[256*pass+uint32(key>>shift&(1<<bits-1))]++
		}
	}
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), params, inOf(keyBits, keys), changed{out(before), out(after)})
}

func (m *maker) radixStarts() *kernelCase {
	tiles := 1 + m.IntN(5)
	offsets, starts := narrow(m.column(m.rows*tiles, 32, 0)), make([]uint32, m.rows)
	for i := range starts {
		starts[i] = offsets[i*tiles]
	}
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(m.rows), uint32(tiles)}, offsets, out(starts))
}

func (m *maker) radixScatter() *kernelCase {
	keys, place, counts, digit := m.radix()
	keyBits, payloadBits, lookback := m.config["key_bits"], m.config["payload_bits"], m.config["lookback"] == 1
	tiles, tileRows := int(m.tiles()), int(kernel.TileRows(m.config))
	columns := 1
	if payloadBits > 0 {
		columns = int(m.setByShape("columns", 1, 3))
	}
	m.setByShape("far", 0, 1)
	// Places need not be the plain scan of the counts.
	gaps := m.IntN(3) == 0
	begins, sum := make([]uint32, len(counts)), uint32(0)
	for i, n := range counts {
		if gaps && (!lookback || i%tiles == 0) {
			sum += m.Uint32N(3)
		}
		begins[i] = sum
		sum += n
	}
	next := slices.Clone(begins)
	numbered := columns == 1 && payloadBits == 32 && m.IntN(3) == 0
	firstRow := m.Uint32()
	const untouched = marker * (1<<64 - 1) / 255
	keysOut := slices.Repeat([]uint64{untouched}, int(sum))
	var payload, payloadOut [kernel.MaxColumns][]uint64
	for c := range columns {
		payload[c], payloadOut[c] = m.column(m.rows, max(32, payloadBits), 0), slices.Clone(keysOut)
	}
	for i, key := range keys {
		to := &next[digit(key)*tiles+i/tileRows]
		keysOut[*to] = key
		for c := range columns {
			payloadOut[c][*to] = payload[c][i]
			if numbered {
				payloadOut[c][*to] = uint64(firstRow + uint32(i))
			}
		}
		*to++
	}
	offsets := begins
	var chain, nextOffsets any
	if lookback {
		m.setByShape("patience", 100, 0)
		// The shader looks at all 256 digits; those that cannot occur have no rows.
		offsets = make([]uint32, 256)
		words, after := make([]uint32, 256*tiles), make([]uint32, 256)
		for d := range 256 {
			if d*tiles < len(begins) {
				offsets[d] = begins[d*tiles]
			}
			rows := uint32(0)
			for t := range tiles {
				if d*tiles < len(counts) {
					rows += counts[d*tiles+t]
				}
				words[256*t+d] = 2<<30 | rows
			}
			after[d] = offsets[d] + rows
		}
		chain = changed{out(make([]uint32, 256*tiles)), out(words)}
		if m.IntN(2) == 0 {
			nextOffsets = out(after)
		}
	}
	args := []any{inOf(keyBits, keys)}
	var outs []any
	for c := range kernel.MaxColumns {
		var from, to any
		if c < columns && payloadBits > 0 {
			to = outOf(payloadBits, payloadOut[c])
			if !numbered {
				from = inOf(payloadBits, payload[c])
			}
		}
		args, outs = append(args, from), append(outs, to)
	}
	args = append(append(append(args, offsets, chain, outOf(keyBits, keysOut)), outs...), nextOffsets)
	return m.newCase(m.tileGroups(), append([]uint32{uint32(m.rows), uint32(tiles), firstRow}, place...), args...)
}

func (m *maker) reduce() *kernelCase {
	op := kernel.ReduceOp(m.set("op", 0, 1, 2, 3, 4))
	values := m.column(m.rows, m.config["in_bits"], 0)
	results := make([]uint64, m.tiles())
	if op == kernel.ReduceMin || op == kernel.ReduceAnd {
		results = slices.Repeat([]uint64{math.MaxUint64}, len(results))
	}
	for i, v := range values {
		result := &results[i/int(kernel.TileRows(m.config))]
		*result = [...]uint64{*result + v, min(*result, v), max(*result, v), *result & v, *result | v}[op]
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, inOf(m.config["in_bits"], values), outOf(m.config["sum_bits"], results))
}

func (m *maker) varyingBits() *kernelCase {
	bits := m.config["key_bits"]
	keys := m.column(m.rows, bits, 0)
	fixed := m.Uint64() // bits that are the same in all keys
	before := []uint64{m.Uint64() | m.Uint64(), m.Uint64() & m.Uint64()}
	after := slices.Clone(before)
	for i := range keys {
		keys[i] = keys[i]&fixed | ^fixed&0x123456789abcdef0
		after[0], after[1] = after[0]&keys[i], after[1]|keys[i]
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, inOf(bits, keys), changed{outOf(bits, before), outOf(bits, after)})
}

func (m *maker) scanTiles() *kernelCase {
	values := m.column(m.rows, m.config["in_bits"], 0)
	total := m.Uint32N(2)
	var prefixes []uint64
	var prefixArg any
	if m.IntN(3) > 0 {
		prefixes = m.column(int(m.tiles()), m.config["sum_bits"], 0)
		prefixArg = inOf(m.config["sum_bits"], prefixes)
	}
	sums := make([]uint64, m.rows+int(total))
	for tile := range int(m.tiles()) {
		sum := uint64(0)
		if prefixes != nil {
			sum = prefixes[tile]
		}
		for i := tile * int(kernel.TileRows(m.config)); i < min((tile+1)*int(kernel.TileRows(m.config)), m.rows); i++ {
			sums[i] = sum
			sum += values[i]
		}
		if total == 1 {
			sums[m.rows] = sum // the last tile has the last word
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles(), total},
		inOf(m.config["in_bits"], values), prefixArg, outOf(m.config["sum_bits"], sums))
}

// scanLookback runs the last tiles only, often not all: of those before them the status tells everything, the sum of the tile,
// nothing, or something torn, as if they were under way.
func (m *maker) scanLookback() *kernelCase {
	m.set("patience", 256, 0, 1)
	sumBits := m.config["sum_bits"]
	values := m.column(m.rows, m.config["in_bits"], 0)
	total, tiles, tileRows := m.Uint32N(2), m.tiles(), int(kernel.TileRows(m.config))
	first := uint32(0)
	if m.IntN(2) == 0 {
		first = m.Uint32N(tiles)
	}
	parts := []uint32{16, 16}
	if sumBits == 64 {
		parts = []uint32{22, 22, 20}
	}
	const missing, tileSum, prefixSum = 0, 1, 2
	before := make([]uint32, 64)
	before[0] = first
	after := slices.Clone(before)
	after[0] = tiles
	sums, sum := make([]uint64, m.rows+int(total)), uint64(0)
	for tile := range tiles {
		prefix := sum
		for i := int(tile) * tileRows; i < min(int(tile+1)*tileRows, m.rows); i++ {
			sums[i] = sum
			sum += values[i]
			if tile < first {
				sums[i] = marker * (1<<64 - 1) / 255
			}
		}
		words := func(flag uint32, v uint64) (words []uint32) {
			for _, bits := range parts {
				words = append(words, uint32(v&(1<<bits-1))<<2|flag)
				v >>= bits
			}
			return words
		}
		state := words(missing, 0)
		if tile < first {
			switch m.IntN(4) {
			case 1:
				state = words(tileSum, sum-prefix)
			case 2:
				state = words(prefixSum, sum)
			case 3: // one word is not yet there, or still there
				flag := []uint32{missing, tileSum, prefixSum}
				m.Shuffle(len(flag), func(i, j int) { flag[i], flag[j] = flag[j], flag[i] })
				state = words(flag[0], m.Uint64())
				state[m.IntN(len(state))] = m.Uint32()&^3 | flag[1]
			}
			after = append(after, state...)
		} else {
			after = append(after, words(prefixSum, sum)...)
		}
		before = append(before, state...)
	}
	if total == 1 {
		sums[m.rows] = sum
	}
	return m.newCase(tiles-first, []uint32{uint32(m.rows), tiles, total},
		inOf(m.config["in_bits"], values), outOf(sumBits, sums), changed{out(before), out(after)})
}

// bitmap draws n bits, mostly set, mostly not, or evenly, and more behind them.
func (m *maker) bitmap(n int) (bits []bool, words []uint32) {
	bits, words = make([]bool, n), make([]uint32, (n+31)/32)
	often := []int{1, 2, 50, 98, 99}[m.IntN(5)]
	for i := range len(words) * 32 {
		if set := m.IntN(100) < often; set {
			words[i/32] |= 1 << (i % 32)
			if i < n {
				bits[i] = true
			}
		}
	}
	return bits, words
}

func (m *maker) segmentedScan() *kernelCase {
	inBits, sumBits := m.config["in_bits"], m.config["sum_bits"]
	values := m.column(m.rows, inBits, 0)
	heads, words := m.bitmap(m.rows)
	carries := m.Uint32N(2)
	if carries == 1 { // a word for each row
		words = make([]uint32, m.rows)
		for i, head := range heads {
			if head {
				words[i] = 1
			}
		}
	}
	var enters []uint64
	var entersArg any
	if m.IntN(3) > 0 {
		enters = m.column(int(m.tiles()), sumBits, 0)
		entersArg = inOf(sumBits, enters)
	}
	sums, tileSums, tileHeads := make([]uint64, m.rows), make([]uint64, m.tiles()), make([]uint32, m.tiles())
	for tile := range int(m.tiles()) {
		sum := uint64(0)
		if enters != nil {
			sum = enters[tile]
		}
		for i := tile * int(kernel.TileRows(m.config)); i < min((tile+1)*int(kernel.TileRows(m.config)), m.rows); i++ {
			sums[i] = sum
			if heads[i] {
				tileHeads[tile], sum = 1, 0
				if carries == 0 {
					sums[i] = 0
				}
			}
			sum += values[i]
		}
		tileSums[tile] = sum
	}
	var sumsArg, tileSumsArg, tileHeadsArg any
	which := m.IntN(3)
	if which != 0 {
		sumsArg = outOf(sumBits, sums)
	}
	if which != 1 {
		tileSumsArg, tileHeadsArg = outOf(sumBits, tileSums), out(tileHeads)
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles(), carries}, inOf(inBits, values), words, entersArg, sumsArg, tileSumsArg, tileHeadsArg)
}

func (m *maker) compactCount() *kernelCase {
	bits, words := m.bitmap(m.rows)
	counts := make([]uint32, m.tiles())
	for i, set := range bits {
		if set {
			counts[i/int(kernel.TileRows(m.config))]++
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, words, out(counts))
}

func (m *maker) compact() *kernelCase {
	width := m.config["value_bits"]
	bits, words := m.bitmap(m.rows)
	values := m.column(m.rows, width, 0)
	valuesArg := inOf(width, values)
	if width == 32 && m.IntN(3) == 0 {
		for i := range values {
			values[i] = uint64(i)
		}
		valuesArg = nil
	}
	const untouched = marker * (1<<64 - 1) / 255
	offsets, kept := make([]uint64, m.tiles()), []uint64{}
	for i := range max(1, m.rows) {
		if i%int(kernel.TileRows(m.config)) == 0 { // offsets need not be the plain scan of the counts
			kept = append(kept, slices.Repeat([]uint64{untouched}, m.IntN(3))...)
			offsets[i/int(kernel.TileRows(m.config))] = uint64(len(kept))
		}
		if i < m.rows && bits[i] {
			kept = append(kept, values[i])
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, words, offsets, valuesArg, outOf(width, kept))
}

func (m *maker) histogram() *kernelCase {
	keyBits := m.config["key_bits"]
	bits, shift := 1+m.Uint32N(kernel.MaxHistogramBits), m.Uint32N(keyBits)
	keys := m.column(m.rows, keyBits, 0)
	before := m.column(1<<bits, 64, 1<<20)
	after := slices.Clone(before)
	for _, key := range keys {
		after[key>>shift&(1<<bits-1)]++
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), shift, bits}, inOf(keyBits, keys), changed{out(before), out(after)})
}

func (m *maker) rangeSearch() *kernelCase {
	bits := m.config["key_bits"]
	// As many different keys as rows, or few, so that matches are neither certain nor rare.
	bound := uint64(0)
	if m.distribution == "random" || m.distribution == "sorted" {
		bound = uint64(1 + m.IntN(2*m.rows+10))
	}
	left := m.column(m.rows, bits, bound)
	right := m.column([]int{0, 1, m.rows / 3, m.rows, 3*m.rows + 5}[m.IntN(5)], bits, bound)
	if len(right) > 0 && m.IntN(2) == 0 {
		right = append(right[1:], left[:min(1, len(left))]...)
	}
	slices.Sort(left)
	slices.Sort(right)
	begins, counts, totals := make([]uint32, m.rows), make([]uint32, m.rows), make([]uint64, m.tiles())
	for i, key := range left {
		begin, _ := slices.BinarySearch(right, key)
		end := len(right)
		if key < ^uint64(0) {
			end, _ = slices.BinarySearch(right, key+1)
		}
		begins[i], counts[i] = uint32(begin), uint32(end-begin)
		totals[i/int(kernel.TileRows(m.config))] += uint64(end - begin)
	}
	var beginsArg, countsArg any = out(begins), out(counts)
	if m.IntN(4) == 0 {
		beginsArg, countsArg = nil, nil
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), uint32(len(right)), m.tiles()},
		inOf(bits, left), inOf(bits, right), beginsArg, countsArg, out(totals))
}

// rangeExpand makes a piece of rows outputs somewhere in a longer expansion.
func (m *maker) rangeExpand() *kernelCase {
	type pair struct{ left, right uint32 }
	before, behind := m.IntN(2*m.rows+10), m.IntN(m.rows+10)
	base := uint64(before)
	shift := uint64(0) // as if so many matches came before the first left row
	if m.IntN(2) == 0 {
		shift = 1<<33 - uint64(m.IntN(before+m.rows+1))
	}
	var counts, begins []uint32
	var pairs []pair
	offsets := []uint64{shift}
	rightRows := 1 + m.IntN(2*m.rows+10)
	rightIDs := narrow(m.column(rightRows, 32, 0))
	for len(pairs) < before+m.rows+behind {
		count := 0
		switch m.distribution {
		case "equal":
			count = 1
		case "extreme":
			count = (1 + m.IntN(rightRows)) * m.IntN(2) * m.IntN(2)
		case "few": // most rows without a match
			count = 1 - min(1, m.IntN(40))
		default:
			count = min(m.IntN(4), rightRows)
		}
		begin := m.IntN(rightRows - count + 1)
		for k := range count {
			pairs = append(pairs, pair{uint32(len(counts)), uint32(begin + k)})
		}
		counts, begins = append(counts, uint32(count)), append(begins, uint32(begin))
		offsets = append(offsets, offsets[len(offsets)-1]+uint64(count))
	}
	leftIDs := narrow(m.column(len(counts), 32, 0))
	leftOut, rightOut := make([]uint32, m.rows), make([]uint32, m.rows)
	var leftArg, rightArg any
	withLeft, withRight := m.IntN(2) == 0, m.IntN(2) == 0
	if withLeft {
		leftArg = leftIDs
	}
	if withRight {
		rightArg = rightIDs
	}
	for j := range m.rows {
		p := pairs[base+uint64(j)]
		leftOut[j], rightOut[j] = p.left, p.right
		if withLeft {
			leftOut[j] = leftIDs[p.left]
		}
		if withRight {
			rightOut[j] = rightIDs[p.right]
		}
	}
	base += shift
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), []uint32{uint32(len(counts)), uint32(m.rows), uint32(base), uint32(base >> 32)},
		offsets, begins, leftArg, rightArg, out(leftOut), out(rightOut))
}

// check compares the outputs of a dispatch with the oracle, and the inputs with what they were.
func (c *kernelCase) check(after [][]byte) error {
	for i, arg := range c.spec.Args {
		want := c.want[i]
		if want == nil {
			want = c.call.Args[i]
		}
		if slices.Equal(want, after[i]) {
			continue
		}
		at := 0
		for want[at] == after[i][at] {
			at++
		}
		at &^= 3
		return fmt.Errorf("%s %v params %v: %s differs first at byte %d of %d + %d: want % x, got % x", c.spec.Name, c.call.Config, c.call.Params,
			arg.Name, at, len(want)-guardBytes, guardBytes, want[at:at+4], after[i][at:at+4])
	}
	return nil
}

// runReference runs a case on copies of its arguments and returns them.
func (c *kernelCase) runReference() [][]byte {
	call := c.call
	call.Args = make([][]byte, len(c.call.Args))
	for i, arg := range c.call.Args {
		if arg != nil {
			call.Args[i] = backend.AsBytes(slices.Clone(backend.Longs(append(slices.Clone(arg), make([]byte, 8)...))))[:len(arg)]
		}
	}
	for group := range c.groups {
		c.spec.Run(&call, group)
	}
	return call.Args
}

// serials are distinct payload values, so that the order of equal keys shows.
func (m *maker) serials(n int) []uint64 {
	values := make([]uint64, n)
	first := m.Uint64()
	for i := range values {
		values[i] = first + uint64(i)*0x9e3779b97f4a7c15
	}
	return values
}

// payloadArgs are the arguments of a payload of given width: nothing where it is 0.
func payloadArgs(bits uint32, in, outOrder []uint64) (inArg, outArg any) {
	if bits == 0 {
		return nil, nil
	}
	return inOf(bits, in), outOf(bits, outOrder)
}

func (m *maker) blockSort() *kernelCase {
	keyBits, payloadBits, tile := m.config["key_bits"], m.config["payload_bits"], int(kernel.TileRows(m.config))
	keys, payload := m.column(m.rows, keyBits, 0), m.serials(m.rows)
	numbered := m.IntN(3) == 0
	order := make([]int, m.rows)
	for i := range order {
		order[i] = i
		if numbered {
			payload[i] = uint64(i)
		}
	}
	for first := 0; first < m.rows; first += tile {
		slices.SortStableFunc(order[first:min(first+tile, m.rows)], func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	}
	sortedKeys, sortedPayload := make([]uint64, m.rows), make([]uint64, m.rows)
	for i, from := range order {
		sortedKeys[i], sortedPayload[i] = keys[from], payload[from]
	}
	payloadIn, payloadOut := payloadArgs(payloadBits, payload, sortedPayload)
	if numbered {
		payloadIn = nil
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()},
		inOf(keyBits, keys), payloadIn, outOf(keyBits, sortedKeys), payloadOut)
}

// merge is a merge of one or of many pairs of runs, and what comes of it.
type merge struct {
	keys, payload   [2][]uint64 // left and right; with a run both are one column
	run             int
	merged, carried []uint64 // keys and payload
	fromLeft        []bool   // by merged row
}

// newMerge draws runs of about rows rows.
func (m *maker) newMerge(rows, run int) merge {
	bits := m.config["key_bits"]
	d := merge{run: run}
	if run > 0 {
		keys, payload := m.column(rows, bits, 0), m.serials(rows)
		for left := 0; left < rows; left += run {
			slices.Sort(keys[left:min(left+run, rows)])
		}
		d.keys, d.payload = [2][]uint64{keys, keys}, [2][]uint64{payload, payload}
		for left := 0; left < rows; left += 2 * run {
			right, end := min(left+run, rows), min(left+2*run, rows)
			d.append(keys[left:right], keys[right:end], payload[left:right], payload[right:end])
		}
		return d
	}
	left := []int{0, rows, rows / 2, m.IntN(rows + 1), rows - min(rows, 1)}[m.IntN(5)]
	apart := uint64(0) // all left keys may lie below all right ones, or above
	if m.IntN(4) == 0 {
		apart = 1 << (bits - 1)
	}
	flip := m.IntN(2)
	for side, n := range []int{left, rows - left} {
		d.keys[side], d.payload[side] = m.column(n, bits, 0), m.serials(n)
		for i := range d.keys[side] {
			if apart > 0 {
				d.keys[side][i] = d.keys[side][i]&(apart-1) | apart*uint64(side^flip)
			}
		}
		slices.Sort(d.keys[side])
	}
	d.append(d.keys[0], d.keys[1], d.payload[0], d.payload[1])
	return d
}

func (d *merge) append(left, right, leftPayload, rightPayload []uint64) {
	keys, payload := slices.Concat(left, right), slices.Concat(leftPayload, rightPayload)
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	for _, from := range order {
		d.merged, d.carried = append(d.merged, keys[from]), append(d.carried, payload[from])
		d.fromLeft = append(d.fromLeft, from < len(left))
	}
}

// splits counts the left rows of each merge before each tile.
func (d *merge) splits(tile int) (splits []uint32) {
	left := uint32(0)
	for i, isLeft := range d.fromLeft {
		if d.run > 0 && i%(2*d.run) == 0 {
			left = 0
		}
		if i%tile == 0 {
			splits = append(splits, left)
		}
		if isLeft {
			left++
		}
	}
	return splits
}

// rows are the first parameters of the merge kernels.
func (d *merge) rows() []uint32 {
	if d.run > 0 {
		return []uint32{uint32(len(d.keys[0])), 0, uint32(d.run)}
	}
	return []uint32{uint32(len(d.keys[0])), uint32(len(d.keys[1])), 0}
}

func (m *maker) mergePartition() *kernelCase {
	bits := m.config["key_bits"]
	tile := 1 + m.IntN(9)
	run := m.IntN(3) * tile
	if tile%2 == 0 {
		run = m.IntN(5) * tile / 2
	}
	d := m.newMerge(max(0, m.rows*tile-m.IntN(tile)), run)
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), append(d.rows(), uint32(m.rows), uint32(tile)),
		inOf(bits, d.keys[0]), inOf(bits, d.keys[1]), out(d.splits(tile)))
}

func (m *maker) mergeTiles() *kernelCase {
	keyBits, payloadBits, tile := m.config["key_bits"], m.config["payload_bits"], int(kernel.TileRows(m.config))
	run, whole := m.IntN(4)*tile, false
	switch choice := m.IntN(3); {
	case choice == 0 && tile%2 == 0:
		run = tile / 2
	case choice == 1 && tile%2 == 0 && m.config["serial"] == 1: // several merges in a tile
		for run = 1 + m.IntN(tile/2); tile%(2*run) != 0; {
			run--
		}
		whole = true
	}
	d := m.newMerge(m.rows, run)
	var splits any = d.splits(tile)
	if whole {
		splits = nil
	}
	leftPayload, payloadOut := payloadArgs(payloadBits, d.payload[0], d.carried)
	rightPayload, _ := payloadArgs(payloadBits, d.payload[1], nil)
	return m.newCase(kernel.Groups(m.config, uint64(m.rows)), append(d.rows(), m.tiles()),
		inOf(keyBits, d.keys[0]), inOf(keyBits, d.keys[1]), leftPayload, rightPayload, splits, outOf(keyBits, d.merged), payloadOut)
}
