package kernel

import (
	"iter"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// TileRows is the number of rows of a tile in a complete configuration.
func TileRows(c backend.Config) uint32 {
	if c["serial"] == 1 {
		return c["items"]
	}
	return c["workgroup"] * c["items"]
}

// TilesPerGroup is the number of tiles that a workgroup covers.
func TilesPerGroup(c backend.Config) uint32 {
	if c["serial"] == 1 {
		return c["workgroup"]
	}
	return 1
}

// Tiles is the number of tiles of rows rows, the last one perhaps partly filled.
func Tiles(c backend.Config, rows uint64) uint32 {
	return uint32((rows + uint64(TileRows(c)) - 1) / uint64(TileRows(c)))
}

// Groups is the number of workgroups that cover rows rows; 0 for none.
func Groups(c backend.Config, rows uint64) uint32 {
	perGroup := TilesPerGroup(c)
	return (Tiles(c, rows) + perGroup - 1) / perGroup
}

// tile is the rows [first, end) that one workgroup or one invocation works through.
type tile struct{ index, first, end int }

// tiles yields the tiles of a workgroup, of count tiles over rows rows. A tile behind the last row is empty.
func tiles(call *backend.Call, group, count, rows uint32) iter.Seq[tile] {
	return func(yield func(tile) bool) {
		perGroup, size := int(TilesPerGroup(call.Config)), int(TileRows(call.Config))
		begin := int(group) * perGroup
		for i := begin; i < min(begin+perGroup, int(count)); i++ {
			if !yield(tile{i, min(i*size, int(rows)), min((i+1)*size, int(rows))}) {
				return
			}
		}
	}
}

// word is an unsigned integer as columns hold it: little-endian and aligned.
type word interface{ uint32 | uint64 }

// view views an argument as a column of words; the length is rounded down.
func view[T word](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(*new(T)))
}
