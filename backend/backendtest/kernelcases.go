package backendtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// kernelCase is one dispatch: argument contents (nil for an absent one; outputs are filled with a marker and ignored),
// parameters, and the rows that decide the number of workgroups.
type kernelCase struct {
	name   string
	args   [][]byte
	params []uint32
	rows   int
	// Constants that differ from those of the configuration.
	constants backend.Config
}

// caseMaker makes the cases of a kernel for about rows rows in a complete configuration.
type caseMaker = func(c backend.Config, rows int, random *rand.Rand) []kernelCase

var caseMakers = map[string]caseMaker{
	"iota": func(_ backend.Config, rows int, random *rand.Rand) []kernelCase {
		return []kernelCase{{"", [][]byte{column(32, rows)}, []uint32{uint32(rows), random.Uint32()}, rows, nil}}
	},
	"gather": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		values := randomColumn(c["value_bits"], rows/2+1, random)
		ids := wordsBelow(uint32(rows/2+1), rows, random)
		return []kernelCase{{"", [][]byte{values, ids, column(c["value_bits"], rows)}, []uint32{uint32(rows)}, rows, nil}}
	},
	"gather_bits": func(_ backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		for _, firstBit := range []uint32{0, 1, 37} {
			bits := randomColumn(32, (rows+37)/32+1, random)
			ids := wordsBelow(uint32(rows), rows, random)
			cases = append(cases, kernelCase{fmt.Sprintf("first_bit=%d", firstBit),
				[][]byte{bits, ids, column(32, (rows+31)/32)}, []uint32{uint32(rows), firstBit}, rows, nil})
		}
		return cases
	},
	"copy": func(_ backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		for _, firsts := range [][2]int{{0, 0}, {4, 60}, {1, 1}, {3, 0}} {
			cases = append(cases, kernelCase{name: fmt.Sprintf("first=%d", firsts), rows: rows,
				args:   [][]byte{randomColumn(32, firsts[0]+rows, random), column(32, firsts[1]+rows)},
				params: []uint32{uint32(rows), uint32(firsts[0]), uint32(firsts[1])}})
		}
		return cases
	},
	"scatter": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		ids := make([]uint32, rows)
		for i, id := range random.Perm(2 * rows)[:rows] {
			ids[i] = uint32(id)
		}
		return []kernelCase{{name: "", rows: rows, params: []uint32{uint32(rows)},
			args: [][]byte{randomColumn(c["value_bits"], rows, random), backend.AsBytes(ids), column(c["value_bits"], 2*rows)}}}
	},
	"reduce": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
		for _, op := range []kernel.ReduceOp{kernel.ReduceSum, kernel.ReduceMin, kernel.ReduceMax, kernel.ReduceAnd, kernel.ReduceOr} {
			cases = append(cases, kernelCase{name: fmt.Sprintf("op=%d", op), rows: rows, constants: backend.Config{"op": uint32(op)},
				args:   [][]byte{randomColumn(c["in_bits"], rows, random), column(c["sum_bits"], int(tiles))},
				params: []uint32{uint32(rows), tiles}})
		}
		return cases
	},
	"varying_bits": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		bits := randomColumn(c["key_bits"], 3, random)
		return []kernelCase{{name: "", rows: rows, params: []uint32{uint32(rows), kernel.Tiles(kernel.Named(c), uint64(rows))},
			args: [][]byte{randomColumn(c["key_bits"], rows, random), bits}}}
	},
	"segmented_scan": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
		for carries := range uint32(2) {
			for _, often := range []int{0, 3, 60} { // of 100 rows begin a segment
				heads := make([]uint32, rows)
				for i := range rows {
					if random.IntN(100) >= often {
						continue
					}
					if carries == 1 {
						heads[i] = 1
					} else {
						heads[i/32] |= 1 << (i % 32)
					}
				}
				values, enters := randomColumn(c["in_bits"], rows, random), randomColumn(c["sum_bits"], int(tiles), random)
				for first, args := range [][][]byte{{enters, column(c["sum_bits"], rows), nil, nil}, {nil, nil, column(c["sum_bits"], int(tiles)), column(32, int(tiles))}} {
					cases = append(cases, kernelCase{fmt.Sprintf("carries=%d heads=%d%% first=%d", carries, often, first),
						append([][]byte{values, backend.AsBytes(heads)}, args...), []uint32{uint32(rows), tiles, carries}, rows, nil})
				}
			}
		}
		return cases
	},
	"compact_count": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
		return []kernelCase{{"", [][]byte{randomColumn(32, (rows+31)/32, random), column(32, int(tiles))}, []uint32{uint32(rows), tiles}, rows, nil}}
	},
	"compact": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
		offsets := make([]uint64, tiles)
		for i := range offsets {
			offsets[i] = uint64(i) * uint64(kernel.TileRows(kernel.Named(c)))
		}
		for _, values := range [][]byte{nil, randomColumn(c["value_bits"], rows, random)} {
			if values == nil && c["value_bits"] == 64 {
				continue
			}
			cases = append(cases, kernelCase{fmt.Sprintf("values=%t", values != nil),
				[][]byte{randomColumn(32, (rows+31)/32, random), backend.AsBytes(offsets), values, column(c["value_bits"], rows)},
				[]uint32{uint32(rows), tiles}, rows, nil})
		}
		return cases
	},
	"histogram": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		forRadix(c, rows, random, func(name string, keys []uint64, shift, bits uint32) {
			cases = append(cases, kernelCase{name, [][]byte{narrow(keys, c["key_bits"]), column(64, 1<<bits)}, []uint32{uint32(rows), shift, bits}, rows, nil})
		})
		return cases
	},
	"scan_lookback": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
		for total := range uint32(2) {
			for _, patience := range []uint32{0, 1, 256} {
				status := make([]uint32, kernel.ScanStatusWords(c["sum_bits"], tiles))
				cases = append(cases, kernelCase{fmt.Sprintf("total=%d patience=%d", total, patience),
					[][]byte{randomColumn(c["in_bits"], rows, random), column(c["sum_bits"], rows+int(total)), backend.AsBytes(status)},
					[]uint32{uint32(rows), tiles, total}, rows, backend.Config{"patience": patience}})
			}
		}
		return cases
	},
	"scan_tiles": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
		for total := range uint32(2) {
			for _, prefix := range [][]byte{nil, randomColumn(c["sum_bits"], int(tiles), random)} {
				cases = append(cases, kernelCase{fmt.Sprintf("total=%d prefix=%t", total, prefix != nil),
					[][]byte{randomColumn(c["in_bits"], rows, random), prefix, column(c["sum_bits"], rows+int(total))},
					[]uint32{uint32(rows), tiles, total}, rows, nil})
			}
		}
		return cases
	},
	"radix_histogram": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		forRadix(c, rows, random, func(name string, keys []uint64, shift, bits uint32) {
			tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
			cases = append(cases, kernelCase{name, [][]byte{narrow(keys, c["key_bits"]), column(32, int(tiles<<bits)), nil},
				[]uint32{uint32(rows), tiles, shift, bits, 0}, rows, nil})
		})
		return cases
	},
	"radix_counts": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		forRadix(c, rows, random, func(name string, keys []uint64, shift, bits uint32) {
			cases = append(cases, kernelCase{name, [][]byte{narrow(keys, c["key_bits"]), make([]byte, 4*2*256), nil},
				[]uint32{uint32(rows), 2, shift << 8, 0, 8 | bits<<8, 0, 0}, rows, nil})
		})
		return cases
	},
	"partition_starts": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		keys := sortedKeys(uint64(rows)+1, 3*rows, random)
		return []kernelCase{{"", [][]byte{narrow(keys, c["key_bits"]), column(32, rows)}, []uint32{uint32(rows), uint32(len(keys)), 0, 32}, rows, nil}}
	},
	"table_build": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		keys, mask, seed := spreadKeys(c["key_bits"], rows, random)
		return []kernelCase{{"", [][]byte{narrow(keys, c["key_bits"]), make([]byte, 4*(mask+1)), make([]byte, 4)}, []uint32{uint32(rows), mask, seed}, rows, nil}}
	},
	"table_probe": tableProbeCases,
	"table_count": counted(tableProbeCases, 2, 3),
	"table_mark":  marked(tableProbeCases, 2, 3),
	"unmix": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		return []kernelCase{{"", [][]byte{randomColumn(c["key_bits"], rows, random), column(c["key_bits"], rows)}, []uint32{uint32(rows), random.Uint32(), 0}, rows, nil}}
	},
	"partition_units": func(_ backend.Config, rows int, random *rand.Rand) []kernelCase {
		return []kernelCase{{"", [][]byte{starts(rows, 9, random), starts(rows, 9, random), column(32, rows), make([]byte, 4)},
			[]uint32{uint32(rows), 3, 2, 7}, rows, nil}}
	},
	"partition_pieces": func(_ backend.Config, rows int, random *rand.Rand) []kernelCase {
		// Partitions of one unit each.
		offsets, left, right := make([]uint32, rows+1), make([]uint32, rows+1), make([]uint32, rows+1)
		for p := range rows {
			offsets[p+1], left[p+1], right[p+1] = uint32(p+1), left[p]+1+random.Uint32N(3), right[p]+1+random.Uint32N(3)
		}
		return []kernelCase{{"", [][]byte{backend.AsBytes(offsets), backend.AsBytes(left), backend.AsBytes(right), column(32, 4*rows)},
			[]uint32{uint32(rows), uint32(rows), 3, 3, 1}, rows, nil}}
	},
	"merge_units": func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		ascending := make([]uint64, 3*rows)
		for i := range ascending {
			ascending[i] = uint64(i) + random.Uint64N(2)
		}
		keys := narrow(ascending, c["key_bits"])
		return []kernelCase{{"", [][]byte{keys, keys, column(64, rows), column(64, rows), column(32, rows)},
			[]uint32{uint32(3 * rows), uint32(3 * rows), uint32(rows), 3, 2}, rows, nil}}
	},
	"merge_join":      mergeJoinCases,
	"merge_walk":      mergeJoinCases,
	"merge_count":     counted(mergeJoinCases),
	"merge_mark":      marked(mergeJoinCases),
	"partition_join":  partitionJoinCases,
	"partition_walk":  partitionJoinCases,
	"partition_count": counted(partitionJoinCases, 2),
	"partition_mark":  marked(partitionJoinCases, 2),
	"radix_starts": func(_ backend.Config, rows int, random *rand.Rand) []kernelCase {
		return []kernelCase{{"", [][]byte{randomColumn(32, 3*rows, random), column(32, rows+1)}, []uint32{uint32(rows), 3, 1}, rows, nil}}
	},
	"radix_scatter": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		forRadix(c, rows, random, func(name string, keys []uint64, shift, bits uint32) {
			tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
			params := []uint32{uint32(rows), tiles, 7, shift, bits, 0}
			offsets := radixOffsets(keys, shift, bits, int(kernel.TileRows(kernel.Named(c))), int(tiles))
			var chain []byte
			if c["lookback"] == 1 {
				digits := make([]uint32, 256)
				for d := range min(len(digits), len(offsets)/int(tiles)) {
					digits[d] = offsets[d*int(tiles)]
				}
				offsets, chain = digits, make([]byte, 4*kernel.ChainWords(tiles))
			}
			keysIn, payload := narrow(keys, c["key_bits"]), randomColumn(max(32, c["payload_bits"]), rows, random)
			for _, in := range map[uint32][][]byte{0: {nil}, 32: {nil, payload}, 64: {payload}}[c["payload_bits"]] {
				var out []byte
				if c["payload_bits"] > 0 {
					out = column(c["payload_bits"], rows)
				}
				cases = append(cases, kernelCase{fmt.Sprintf("%s payload=%t", name, in != nil),
					[][]byte{keysIn, in, nil, nil, backend.AsBytes(offsets), chain, column(c["key_bits"], rows), out, nil, nil, nil}, params, rows, nil})
			}
		})
		return cases
	},
	"block_sort": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		params := []uint32{uint32(rows), kernel.Tiles(kernel.Named(c), uint64(rows))}
		for _, distinct := range []uint64{1, uint64(rows)/2 + 2, 1 << 63} {
			keys := sortedKeys(distinct, rows, random)
			random.Shuffle(rows, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, numbered := range []bool{false, true} {
				payload, payloadOut := payloadColumns(c["payload_bits"], rows, random)
				if numbered {
					payload = nil
				}
				cases = append(cases, kernelCase{fmt.Sprintf("distinct=%d numbered=%t", distinct, numbered),
					[][]byte{narrow(keys, c["key_bits"]), payload, column(c["key_bits"], rows), payloadOut}, params, rows, nil})
			}
		}
		return cases
	},
	"merge_partition": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		const tileRows = 6
		forMerges(rows*tileRows, tileRows, random, func(name string, left, right []uint64, params []uint32) {
			cases = append(cases, kernelCase{name, [][]byte{narrow(left, c["key_bits"]), narrow(right, c["key_bits"]), column(32, rows)},
				append(params, uint32(rows), tileRows), rows, nil})
		})
		return cases
	},
	"merge_tiles": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		tileRows, tiles := int(kernel.TileRows(kernel.Named(c))), int(kernel.Tiles(kernel.Named(c), uint64(rows)))
		forMerges(rows, tileRows, random, func(name string, left, right []uint64, params []uint32) {
			keys := [2][]byte{narrow(left, c["key_bits"]), narrow(right, c["key_bits"])}
			params = append(params, uint32(tiles))
			splits := column(32, tiles)
			partition := kernel.MergePartition.Reference(backend.Config{"key_bits": c["key_bits"], "workgroup": 1, "items": 1})(
				[][]byte{keys[0], keys[1], splits}, append(slices.Clone(params), uint32(tileRows)))
			for tile := range uint32(tiles) {
				partition(tile)
			}
			leftPayload, payloadOut := payloadColumns(c["payload_bits"], rows, random)
			rightPayload, _ := payloadColumns(c["payload_bits"], rows, random)
			cases = append(cases, kernelCase{name, [][]byte{keys[0], keys[1], leftPayload, rightPayload, splits,
				column(c["key_bits"], rows), payloadOut}, params, rows, nil})
		})
		return cases
	},
	"range_search": func(c backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		for _, right := range []int{0, 1, rows / 3, 2*rows + 5} {
			for _, distinct := range []uint64{1, uint64(rows)/2 + 2, 1 << 63} {
				leftKeys, rightKeys := sortedKeys(distinct, rows, random), sortedKeys(distinct, right, random)
				tiles := kernel.Tiles(kernel.Named(c), uint64(rows))
				for _, ranges := range [][]byte{nil, column(32, rows)} {
					cases = append(cases, kernelCase{fmt.Sprintf("right=%d distinct=%d ranges=%t", right, distinct, ranges != nil),
						[][]byte{narrow(leftKeys, c["key_bits"]), narrow(rightKeys, c["key_bits"]), ranges, slices.Clone(ranges), column(64, int(tiles))},
						[]uint32{uint32(rows), uint32(right), tiles}, rows, nil})
				}
			}
		}
		return cases
	},
	"range_expand": func(_ backend.Config, rows int, random *rand.Rand) (cases []kernelCase) {
		for _, hot := range []bool{false, true} {
			offsets, begins, rightRows := matchRanges(rows, hot, random)
			leftIDs, rightIDs := randomColumn(32, len(begins), random), randomColumn(32, rightRows, random)
			all := offsets[len(offsets)-1]
			for _, base := range []uint64{0, 1, all / 2} {
				out := int(min(all-base, uint64(rows)))
				if out == 0 {
					continue
				}
				for _, ids := range []bool{false, true} {
					args := [][]byte{backend.AsBytes(offsets), backend.AsBytes(begins), nil, nil, column(32, out), column(32, out)}
					if ids {
						args[2], args[3] = leftIDs, rightIDs
					}
					cases = append(cases, kernelCase{fmt.Sprintf("hot=%t base=%d ids=%t", hot, base, ids), args,
						[]uint32{uint32(len(begins)), uint32(out), uint32(base), uint32(base >> 32)}, out, nil})
				}
			}
		}
		return cases
	},
}

func tableProbeCases(c backend.Config, rows int, random *rand.Rand) []kernelCase {
	left, mask, seed := spreadKeys(c["key_bits"], rows/2+1, random)
	slots, right := make([]uint32, mask+1), make([]uint64, rows)
	for i := range left {
		slots[i] = uint32(i) + 1
	}
	var offsets []uint64
	for i := range right {
		if i%int(kernel.TileRows(kernel.Named(c))) == 0 {
			offsets = append(offsets, uint64(i))
		}
		right[i] = left[random.IntN(len(left))]
	}
	args := [][]byte{backend.AsBytes(slots), narrow(left, c["key_bits"]), narrow(right, c["key_bits"]), randomColumn(32, len(left), random), nil, nil, nil,
		backend.AsBytes(append(offsets, 0)), column(c["key_bits"], rows), column(32, rows), column(32, rows), nil, nil}
	paged(c, args, rows)
	return []kernelCase{{"", args, []uint32{0, uint32(rows), uint32(rows), mask}, rows, backend.Config{"unique": 1, "seed": seed}}}
}

func mergeJoinCases(c backend.Config, rows int, random *rand.Rand) []kernelCase {
	// Right row r finds left row r/2, whose key is its number.
	tile := 2 * min(int(kernel.TileRows(kernel.Named(c)))/2, int(c["table"]))
	units, offsets := []uint32{}, []uint64{}
	left, right := make([]uint64, (rows+1)/2), make([]uint64, 0, rows)
	for i := range left {
		left[i], right = uint64(i), append(right, uint64(i), uint64(i))
	}
	for first := 0; first < len(right) || first == 0; first += tile {
		end := min(first+tile, len(right))
		units, offsets = append(units, uint32(first/2), uint32(end/2), uint32(first), uint32(end)), append(offsets, uint64(first))
	}
	args := [][]byte{backend.AsBytes(units), narrow(left, c["key_bits"]), narrow(right, c["key_bits"]), randomColumn(32, len(left), random), nil, nil, nil,
		backend.AsBytes(offsets), column(c["key_bits"], len(right)), column(32, len(right)), column(32, len(right)), nil, nil}
	return []kernelCase{{"", args, []uint32{0, uint32(len(right))}, len(offsets) * int(kernel.TileRows(kernel.Named(c))), nil}}
}

func partitionJoinCases(c backend.Config, rows int, random *rand.Rand) []kernelCase {
	// Right row r of a unit finds left row r/2, whose key is its number.
	batch := int(kernel.TileRows(kernel.Named(c)))
	units, offsets := []uint32{}, []uint64{}
	var left, right []uint64
	for first := 0; first < rows || first == 0; first += batch {
		count := min(batch/2, int(c["table"]), (rows-first+1)/2)
		units = append(units, uint32(len(left)), uint32(len(left)+count), uint32(len(right)), uint32(len(right)+2*count))
		offsets = append(offsets, uint64(len(right)))
		for i := range count {
			left, right = append(left, uint64(first+i)), append(right, uint64(first+i), uint64(first+i))
		}
	}
	args := [][]byte{backend.AsBytes(units), narrow(left, c["key_bits"]), narrow(right, c["key_bits"]), randomColumn(32, len(left), random), nil, nil, nil,
		backend.AsBytes(offsets), column(c["key_bits"], len(right)), column(32, len(right)), column(32, len(right)), nil, nil}
	paged(c, args, len(right))
	return []kernelCase{{"", args, []uint32{0, uint32(len(right)), 0, 0}, len(offsets) * batch, backend.Config{"unique": 1}}}
}

// paged makes the arguments of a kernel that joins those of its variant with pages. Of a row each, none stays empty; which rows a page
// gets is open, so that none are written.
func paged(c backend.Config, args [][]byte, rows int) {
	if c["paged"] == 0 {
		return
	}
	places := slices.Repeat([]uint32{^uint32(0)}, kernel.BitmapWord+(rows+31)/32)
	clear(places[:3])
	args[7] = backend.AsBytes(places)
	clear(args[8:])
}

// counted makes the cases of a kernel that joins those of the one that counts its output, with some of its parameters; marked
// those of the one that marks its right rows.
func counted(join caseMaker, params ...int) caseMaker {
	return lookup(join, params, func(c backend.Config, k *kernelCase) []byte {
		return column(32, int(kernel.Groups(kernel.Named(c), uint64(k.rows))))
	})
}

func marked(join caseMaker, params ...int) caseMaker {
	return lookup(join, params, func(_ backend.Config, k *kernelCase) []byte {
		return make([]byte, (len(k.args[2])/4+31)/32*4) // a bit for each right key, or for each half of one
	})
}

func lookup(join caseMaker, params []int, result func(backend.Config, *kernelCase) []byte) caseMaker {
	return func(c backend.Config, rows int, random *rand.Rand) []kernelCase {
		cases := join(c, rows, random)
		for i := range cases {
			k, all := &cases[i], cases[i].params
			k.args, k.params = append(k.args[:3:3], result(c, k)), nil
			for _, p := range params {
				k.params = append(k.params, all[p])
			}
			maps.DeleteFunc(k.constants, func(name string, _ uint32) bool { _, has := c[name]; return !has })
		}
		return cases
	}
}
