package kernel

import "github.com/spirjoin/spirjoin/backend"

// RunHeadsArgs are the arguments of [RunHeads].
type RunHeadsArgs = RunHeadsArgsOf[backend.Range]

// RunHeadsArgsOf are the same with buffers of type B.
type RunHeadsArgsOf[B any] struct {
	Keys  B `access:"read"`
	Heads B `access:"write"`
	Rows  uint32
}

// RunHeadsConfig configures [RunHeads].
type RunHeadsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// RunHeads marks the first row of each run of equal keys: heads[i] is 1 if keys[i] differs from keys[i-1] or i is 0,
// else 0.
var RunHeads = define[RunHeadsArgs](entry[RunHeadsArgsOf[[]byte], RunHeadsConfig]{
	Name:     "run_heads",
	Defaults: RunHeadsConfig{Tile: Tile{256, 8}},
	Run: func(args *RunHeadsArgsOf[[]byte], config *RunHeadsConfig, group uint32) {
		if config.KeyBits == 64 {
			runHeads[uint64](args, config, group)
		} else {
			runHeads[uint32](args, config, group)
		}
	},
})

func runHeads[K word](args *RunHeadsArgsOf[[]byte], config *RunHeadsConfig, group uint32) {
	keys, heads := view[K](args.Keys), backend.Words(args.Heads)
	for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
		for row := t.first; row < t.end; row++ {
			heads[row] = 0
			if row == 0 || keys[row] != keys[row-1] {
				heads[row] = 1
			}
		}
	}
}
