package kernel

import "github.com/spirjoin/spirjoin/backend"

// Iota numbers rows: values[i] = first + i, modulo 2^32.
var Iota = &backend.KernelSpec{
	Name:      "iota",
	Args:      []backend.ArgSpec{{Name: "values", Access: backend.Write}},
	Params:    []string{"rows", "first"},
	Constants: []backend.Constant{workgroup, items(8)},
	Run: func(call *backend.Call, group uint32) {
		rows, first := call.Params[0], call.Params[1]
		for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
			values := backend.Words(call.Args[0])[t.first:t.end]
			for i := range values {
				values[i] = first + uint32(t.first+i)
			}
		}
	},
}
