package kernel

import "github.com/spirjoin/spirjoin/backend"

// Scatter puts values where row ids say: scattered[ids[i]] = values[i]. No id occurs twice; places without an id keep what
// they held.
var Scatter = &backend.KernelSpec{
	Name: "scatter",
	Args: []backend.ArgSpec{
		{Name: "values", Access: backend.Read},
		{Name: "ids", Access: backend.Read},
		{Name: "scattered", Access: backend.Write},
	},
	Params:    []string{"rows"},
	Axes:      []backend.Axis{valueBits},
	Constants: []backend.Constant{workgroup, items(8)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["value_bits"] == 64 {
			scatter[uint64](call, group)
		} else {
			scatter[uint32](call, group)
		}
	},
}

func scatter[V word](call *backend.Call, group uint32) {
	rows := call.Params[0]
	scattered := view[V](call.Args[2])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		ids := backend.Words(call.Args[1])[t.first:t.end]
		values := view[V](call.Args[0])[t.first:t.end]
		for i, id := range ids {
			scattered[id] = values[i]
		}
	}
}
