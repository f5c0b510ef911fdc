package kernel

import "github.com/spirjoin/spirjoin/backend"

// Copy copies 32-bit words: destination[destination_first + i] = source[source_first + i] for rows words. The two do not
// overlap. workgroup is a multiple of 4.
var Copy = &backend.KernelSpec{
	Name: "copy",
	Args: []backend.ArgSpec{
		{Name: "source", Access: backend.Read},
		{Name: "destination", Access: backend.Write},
	},
	Params:    []string{"rows", "source_first", "destination_first"},
	Constants: []backend.Constant{workgroup, items(32)},
	Run: func(call *backend.Call, group uint32) {
		rows := call.Params[0]
		source, destination := backend.Words(call.Args[0])[call.Params[1]:], backend.Words(call.Args[1])[call.Params[2]:]
		for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
			copy(destination[t.first:t.end], source[t.first:t.end])
		}
	},
}
