package kernel

import "github.com/spirjoin/spirjoin/backend"

// UnmixKeys turns keys back in place: keys[i] = [Unmix] of keys[i] and seed.
var UnmixKeys = &backend.KernelSpec{
	Name:      "unmix",
	Args:      []backend.ArgSpec{{Name: "keys", Access: backend.ReadWrite}},
	Params:    []string{"rows", "seed"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{workgroup, items(8)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			unmixKeys[uint64](call, group)
		} else {
			unmixKeys[uint32](call, group)
		}
	},
}

func unmixKeys[K word](call *backend.Call, group uint32) {
	rows, seed := call.Params[0], call.Params[1]
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		unmixAll(view[K](call.Args[0])[t.first:t.end], seed)
	}
}
