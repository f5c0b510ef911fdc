package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func TestTilesAndGroups(t *testing.T) {
	wide := kernel.Tile{Workgroup: 64, Items: 3}                     // tiles of 192 rows, one a group
	serial := kernel.ShapedTile{Serial: 1, Workgroup: 8, Items: 100} // tiles of 100 rows, eight a group
	for _, c := range []struct {
		config        kernel.Tiled
		rows          uint64
		tiles, groups uint32
	}{
		{wide, 0, 0, 0}, {wide, 1, 1, 1}, {wide, 192, 1, 1}, {wide, 193, 2, 2}, {wide, 1<<32 - 1, 22369622, 22369622},
		{kernel.ShapedTile{Workgroup: 64, Items: 3}, 193, 2, 2},
		{serial, 0, 0, 0}, {serial, 100, 1, 1}, {serial, 800, 8, 1}, {serial, 801, 9, 2},
		{serial, 1<<32 - 1, 42949673, 5368710},
	} {
		require.Equal(t, c.tiles, kernel.Tiles(c.config, c.rows), "%v, %d rows", c.config, c.rows)
		require.Equal(t, c.groups, kernel.Groups(c.config, c.rows), "%v, %d rows", c.config, c.rows)
	}
	named := kernel.Named(backend.Config{"serial": 1, "workgroup": 8, "items": 100, "key_bits": 64})
	require.EqualValues(t, 100, kernel.TileRows(named))
	require.EqualValues(t, 8, kernel.TilesPerGroup(named))
}
