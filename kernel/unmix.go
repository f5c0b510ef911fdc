package kernel

import "github.com/spirjoin/spirjoin/backend"

// UnmixKeys turns keys back: unmixed[i] = [Unmix] of keys[i] and seed, and with widened=1 a 64-bit word with high in the high half.
var UnmixKeys = &backend.KernelSpec{
	Name:      "unmix",
	Args:      []backend.ArgSpec{{Name: "keys", Access: backend.Read}, {Name: "unmixed", Access: backend.Write}},
	Params:    []string{"rows", "seed", "high"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{workgroup, items(8), widenedKeys},
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
	keys, out := view[K](call.Args[0]), keyOutputOf[K](call, call.Args[1], call.Params[2])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		var buffer [1024]K
		for first := t.first; first < t.end; first += len(buffer) {
			n := copy(buffer[:], keys[first:t.end])
			unmixAll(buffer[:n], seed)
			out.write(uint64(first), buffer[:n])
		}
	}
}

// widenedKeys is the constant that says that keys of 32 bits are written as words of 64, with a parameter in the high half.
var widenedKeys = backend.Constant{Name: "widened", Default: 0}

// keyOutput is a column that keys are written to; it may be absent.
type keyOutput[K word] struct {
	own  []K
	wide []uint64 // with high in the high half
	high uint32
}

func keyOutputOf[K word](call *backend.Call, column []byte, high uint32) keyOutput[K] {
	if call.Config["widened"] == 1 {
		return keyOutput[K]{wide: backend.Longs(column), high: high}
	}
	return keyOutput[K]{own: view[K](column)}
}

// write sets rows from row at on.
func (o *keyOutput[K]) write(at uint64, keys []K) {
	if o.own != nil {
		copy(o.own[at:][:len(keys)], keys)
	} else if o.wide != nil {
		for i, key := range keys {
			o.wide[at:][i] = uint64(key) | uint64(o.high)<<32
		}
	}
}
