package kernel

import (
	"iter"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// Tile is the shape of a kernel whose workgroups process tiles of Workgroup*Items rows together. It is part of the
// kernel's configuration.
type Tile struct {
	Workgroup uint32 // invocations
	Items     uint32 // rows per invocation
}

// ShapedTile is the same for kernels that also have a serial shape, in which every invocation processes its own tile of
// Items rows.
type ShapedTile struct {
	Serial    uint32 `axis:"0,1"`
	Workgroup uint32
	Items     uint32
}

// subgroupsBytes is the size of an array of shared memory with an element for each subgroup; none has fewer than 4
// invocations.
func subgroupsBytes(workgroup, elementBytes uint32) uint32 { return (workgroup + 3) / 4 * elementBytes }

// Tiled is a configuration whose kernel works tile by tile.
type Tiled interface {
	tiling() (rows, perGroup uint32)
}

func (t Tile) tiling() (rows, perGroup uint32) { return t.Workgroup * t.Items, 1 }

func (t ShapedTile) tiling() (rows, perGroup uint32) {
	if t.Serial == 1 {
		return t.Items, t.Workgroup
	}
	return t.Workgroup * t.Items, 1
}

// Named is a complete configuration by the names of its settings.
type Named backend.Config

func (c Named) tiling() (rows, perGroup uint32) {
	return ShapedTile{c["serial"], c["workgroup"], c["items"]}.tiling()
}

// TileRows is the number of rows of a tile.
func TileRows(c Tiled) uint32 {
	rows, _ := c.tiling()
	return rows
}

// TilesPerGroup is the number of tiles that a workgroup covers.
func TilesPerGroup(c Tiled) uint32 {
	_, perGroup := c.tiling()
	return perGroup
}

// Tiles is the number of tiles of rows rows, the last one perhaps partly filled.
func Tiles(c Tiled, rows uint64) uint32 {
	tileRows := uint64(TileRows(c))
	return uint32((rows + tileRows - 1) / tileRows)
}

// Groups is the number of workgroups that cover rows rows; 0 for none.
func Groups(c Tiled, rows uint64) uint32 {
	perGroup := TilesPerGroup(c)
	return (Tiles(c, rows) + perGroup - 1) / perGroup
}

// tile is the rows [first, end) that one workgroup or one invocation works through.
type tile struct{ index, first, end int }

// tiles yields the tiles of a workgroup, of count tiles over rows rows. A tile behind the last row is empty.
func tiles(config Tiled, group, count, rows uint32) iter.Seq[tile] {
	return func(yield func(tile) bool) {
		tileRows, perGroup := config.tiling()
		begin, size := int(group)*int(perGroup), int(tileRows)
		for i := begin; i < min(begin+int(perGroup), int(count)); i++ {
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

// batchBitsBytes is the size of the bits of batch_bits.glsl, which hold two batches.
func (t Tile) batchBitsBytes() uint32 { return 2 * 4 * t.batchWords() }

// batchWords is the number of words with a bit for each row of a tile.
func (t Tile) batchWords() uint32 { return (t.Workgroup*t.Items + 31) / 32 }
