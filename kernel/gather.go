package kernel

import "github.com/spirjoin/spirjoin/backend"

// Gather fetches values by row id: gathered[i] = values[ids[i]]. Ids may repeat and come in any order.
var Gather = &backend.KernelSpec{
	Name: "gather",
	Args: []backend.ArgSpec{
		{Name: "values", Access: backend.Read},
		{Name: "ids", Access: backend.Read},
		{Name: "gathered", Access: backend.Write},
	},
	Params:    []string{"rows"},
	Axes:      []backend.Axis{valueBits},
	Constants: []backend.Constant{workgroup, items(8)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["value_bits"] == 64 {
			gather[uint64](call, group)
		} else {
			gather[uint32](call, group)
		}
	},
}

func gather[V word](call *backend.Call, group uint32) {
	rows := call.Params[0]
	values := view[V](call.Args[0])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		ids := backend.Words(call.Args[1])[t.first:t.end]
		gathered := view[V](call.Args[2])[t.first:t.end]
		for i, id := range ids {
			gathered[i] = values[id]
		}
	}
}
