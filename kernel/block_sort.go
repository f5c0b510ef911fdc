package kernel

import (
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// BlockSortArgs are the arguments of [BlockSort].
type BlockSortArgs = BlockSortArgsOf[backend.Range]

// BlockSortArgsOf are the same with buffers of type B.
type BlockSortArgsOf[B any] struct {
	KeysIn     B `access:"read"`
	PayloadIn  B `access:"read"`
	KeysOut    B `access:"write"`
	PayloadOut B `access:"write"`
	Rows       uint32
	Tiles      uint32
}

// BlockSortConfig configures [BlockSort].
type BlockSortConfig struct {
	KeyBits     uint32 `axis:"32,64"`
	PayloadBits uint32 `axis:"0,32,64"`
	ShapedTile
}

// BlockSort sorts each tile separately and stably: the first step of a merge sort. An absent payload_in stands for the
// row numbers; with payload_bits=0 both payloads are absent. Output and input must not overlap.
//
// In the wide shape each invocation sorts items rows in registers, and the workgroup merges them in shared memory, by
// merge path, until one run is left. In the serial shape each invocation sorts its small tile by insertion.
//
// Source: BlockSort of "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.1.
var BlockSort = define[BlockSortArgs](entry[BlockSortArgsOf[[]byte], BlockSortConfig]{
	Name:        "block_sort",
	Defaults:    BlockSortConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: mergeItems}},
	SerialItems: 32,
	SharedBytes: func(config *BlockSortConfig) uint32 {
		if config.Serial == 1 {
			return 0
		}
		return config.KeyBits/8 + mergedBytes(config.Workgroup, config.Items, config.KeyBits, config.PayloadBits)
	},
	Run: func(args *BlockSortArgsOf[[]byte], config *BlockSortConfig, group uint32) {
		byWidths(config.KeyBits, config.PayloadBits, blockSort[uint32, uint32], blockSort[uint32, uint64],
			blockSort[uint64, uint32], blockSort[uint64, uint64])(args, config, group)
	},
})

// insertionRows is the length of the runs that the reference makes by insertion before it merges them.
const insertionRows = 8

// A mergeStage is the second buffer of a merge sort; the output is the first.
type mergeStage[K, P word] struct {
	keys    []K
	payload []P
}

// mergeStages holds the stages of each pair of widths: [64-bit keys][64-bit payload].
var mergeStages [2][2]sync.Pool

func blockSort[K, P word](args *BlockSortArgsOf[[]byte], config *BlockSortConfig, group uint32) {
	rows, count := args.Rows, args.Tiles
	keysIn, payloadIn := view[K](args.KeysIn), view[P](args.PayloadIn)
	keysOut, payloadOut := view[K](args.KeysOut), view[P](args.PayloadOut)
	pool := &mergeStages[config.KeyBits/64][config.PayloadBits/64]
	s, ok := pool.Get().(*mergeStage[K, P])
	if !ok {
		s = new(mergeStage[K, P])
	}
	defer pool.Put(s)
	size := int(TileRows(config))
	if len(s.keys) < size {
		s.keys = make([]K, size)
	}
	if payloadOut != nil && len(s.payload) < size {
		s.payload = make([]P, size)
	}
	for t := range tiles(config, group, count, rows) {
		n := t.end - t.first
		keys, keysTo := keysOut[t.first:t.end], s.keys[:n]
		var payload, payloadTo []P
		if payloadOut != nil {
			payload, payloadTo = payloadOut[t.first:t.end], s.payload[:n]
		}
		for run := insertionRows; run < n; run *= 2 { // so that the last merge writes the output
			keys, keysTo, payload, payloadTo = keysTo, keys, payloadTo, payload
		}
		copy(keys, keysIn[t.first:t.end])
		switch {
		case payloadOut == nil:
			for first := 0; first < n; first += insertionRows {
				insertKeys(keys[first:min(first+insertionRows, n)])
			}
		case payloadIn == nil:
			for i := range payload {
				payload[i] = P(t.first + i)
			}
		default:
			copy(payload, payloadIn[t.first:t.end])
		}
		if payloadOut != nil {
			for first := 0; first < n; first += insertionRows {
				end := min(first+insertionRows, n)
				insertPairs(keys[first:end], payload[first:end])
			}
		}
		for run := insertionRows; run < n; run *= 2 {
			for left := 0; left < n; left += 2 * run {
				right, end := min(left+run, n), min(left+2*run, n)
				if payloadOut == nil {
					mergeKeys(keysTo[left:end], keys[left:right], keys[right:end])
				} else {
					mergePairs(keysTo[left:end], keys[left:right], keys[right:end], payloadTo[left:end],
						payload[left:right], payload[right:end])
				}
			}
			keys, keysTo, payload, payloadTo = keysTo, keys, payloadTo, payload
		}
	}
}

// insertKeys and insertPairs sort a few rows.

func insertKeys[K word](keys []K) {
	for i, key := range keys {
		for ; i > 0 && key < keys[i-1]; i-- {
			keys[i] = keys[i-1]
		}
		keys[i] = key
	}
}

func insertPairs[K, P word](keys []K, payload []P) {
	payload = payload[:len(keys)]
	for i, key := range keys {
		value := payload[i]
		for ; i > 0 && key < keys[i-1]; i-- {
			keys[i], payload[i] = keys[i-1], payload[i-1]
		}
		keys[i], payload[i] = key, value
	}
}
