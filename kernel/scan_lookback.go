package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// ScanLookbackArgs are the arguments of [ScanLookback].
type ScanLookbackArgs = ScanLookbackArgsOf[backend.Range]

// ScanLookbackArgsOf are the same with buffers of type B.
type ScanLookbackArgsOf[B any] struct {
	Values B `access:"read"`
	Sums   B `access:"write"`
	Status B `access:"readwrite"`
	Rows   uint32
	Tiles  uint32
	Total  uint32
}

// ScanLookbackConfig configures [ScanLookback].
type ScanLookbackConfig struct {
	InBits  uint32 `axis:"32,64"`
	SumBits uint32 `axis:"32,64"`
	Tile
	Patience uint32
}

// ScanLookback is an exclusive scan in one pass: sums[i] = the sum of the values before i, modulo 2^sum_bits; with
// total=1 sums has rows+1 entries, and the last one is the sum of all values. A workgroup obtains the sum of preceding
// tiles from what these publish in status, which is zero before the workgroup of tile 0 runs. Sums that are missing
// after patience looks it computes from the values itself, so that no workgroup depends on the progress of another;
// with patience 0 it never looks. sums must not overlap values, because other workgroups may still read them.
//
// status holds 2 words per tile for 32-bit sums (16 bits of the sum in each) or 4 words for 64-bit sums (22, 22 and 20
// bits; the last word is not used), each with a flag in the two low bits: 0 nothing, 1 the sum of the tile, 2 the sum
// of all tiles up to it. A sum is valid when the flags of all its words agree. In the end all flags are 2.
var ScanLookback = define[ScanLookbackArgs](entry[ScanLookbackArgsOf[[]byte], ScanLookbackConfig]{
	Name:     "scan_lookback",
	Defaults: ScanLookbackConfig{Tile: Tile{256, 16}, Patience: 256},
	Run: func(args *ScanLookbackArgsOf[[]byte], config *ScanLookbackConfig, group uint32) {
		bySums(config.InBits, config.SumBits, scanLookback[uint32, uint32], scanLookback[uint32, uint64],
			scanLookback[uint64, uint64])(args, config, group)
	},
})

// MaxScanItems is the maximum of items in [ScanLookback] and in the wide shape of [ScanTiles].
const MaxScanItems = 32

const (
	statusTile    = 1
	statusPrefix  = 2
	statusFlagLen = 2
)

// statusBits is how the bits of a sum are spread over the words of a status.
func statusBits(sumBits uint32) []uint32 {
	if sumBits == 64 {
		return statusBits64
	}
	return statusBits32
}

var statusBits32, statusBits64 = []uint32{16, 16}, []uint32{22, 22, 20}

// ScanStatusWords is the number of words of the status of a look-back scan with this many tiles.
func ScanStatusWords(sumBits, tiles uint32) uint64 {
	return uint64(tiles) * uint64(sumBits/16)
}

func scanLookback[V, S word](args *ScanLookbackArgsOf[[]byte], config *ScanLookbackConfig, index uint32) {
	rows, count, total := args.Rows, args.Tiles, args.Total
	values, all, status := view[V](args.Values), view[S](args.Sums), backend.Words(args.Status)
	words := statusBits(config.SumBits)
	of := func(tile uint32) []uint32 {
		return status[ScanStatusWords(config.SumBits, tile):][:len(words)]
	}
	size := uint64(TileRows(config))
	first, end := uint64(index)*size, min(uint64(index+1)*size, uint64(rows))
	own, prefix := reduceColumn[V, S](ReduceSum, values[first:end]), S(0)
	if index > 0 {
		publish(of(index), words, statusTile, uint64(own))
	}
	for next := index; next > 0; next-- {
		var flag uint32
		var sum uint64
		if config.Patience > 0 {
			flag, sum = published(of(next-1), words)
		}
		if flag == 0 {
			sum = uint64(reduceColumn[V, S](ReduceSum, values[uint64(next-1)*size:uint64(next)*size]))
		}
		prefix += S(sum)
		if flag == statusPrefix {
			break
		}
	}
	publish(of(index), words, statusPrefix, uint64(prefix+own))
	sums := all[first:end]
	for i, v := range values[first:end] {
		sums[i] = prefix
		prefix += S(v)
	}
	if total == 1 && index+1 == count {
		all[rows] = prefix
	}
}

func publish(status, words []uint32, flag uint32, sum uint64) {
	for i, bits := range words {
		atomic.StoreUint32(&status[i], uint32(sum)&(1<<bits-1)<<statusFlagLen|flag)
		sum >>= bits
	}
}

// published returns what a status says; flag is 0 where that is nothing, or not yet all of it.
func published(status, words []uint32) (flag uint32, sum uint64) {
	shift := uint32(0)
	for i, bits := range words {
		word := atomic.LoadUint32(&status[i])
		if i == 0 {
			flag = word & (1<<statusFlagLen - 1)
		} else if flag != word&(1<<statusFlagLen-1) {
			return 0, 0
		}
		sum |= uint64(word>>statusFlagLen) << shift
		shift += bits
	}
	return flag, sum
}
