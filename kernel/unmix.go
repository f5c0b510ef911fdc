package kernel

import "github.com/spirjoin/spirjoin/backend"

// UnmixKeysArgs are the arguments of [UnmixKeys].
type UnmixKeysArgs = UnmixKeysArgsOf[backend.Range]

// UnmixKeysArgsOf are the same with buffers of type B.
type UnmixKeysArgsOf[B any] struct {
	Keys    B `access:"read"`
	Unmixed B `access:"write"`
	Rows    uint32
	Seed    uint32
	High    uint32
}

// UnmixKeysConfig configures [UnmixKeys].
type UnmixKeysConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Widened uint32
}

// UnmixKeys restores mixed keys: unmixed[i] = [Unmix] of keys[i] and seed, and with widened=1 a 64-bit word with high
// in the high half.
var UnmixKeys = define[UnmixKeysArgs](entry[UnmixKeysArgsOf[[]byte], UnmixKeysConfig]{
	Name:     "unmix",
	Defaults: UnmixKeysConfig{Tile: Tile{256, 8}},
	Run: func(args *UnmixKeysArgsOf[[]byte], config *UnmixKeysConfig, group uint32) {
		if config.KeyBits == 64 {
			unmixKeys[uint64](args, config, group)
		} else {
			unmixKeys[uint32](args, config, group)
		}
	},
})

func unmixKeys[K word](args *UnmixKeysArgsOf[[]byte], config *UnmixKeysConfig, group uint32) {
	rows, seed := args.Rows, args.Seed
	keys, out := view[K](args.Keys), keyOutputOf[K](args.Unmixed, config.Widened, args.High)
	for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
		var buffer [1024]K
		for first := t.first; first < t.end; first += len(buffer) {
			n := copy(buffer[:], keys[first:t.end])
			unmixAll(buffer[:n], seed)
			out.write(uint64(first), buffer[:n])
		}
	}
}

// keyOutput is a column, perhaps of widened keys: words of 64 bits with high in the high half, that keys are written
// to; it may be absent.
type keyOutput[K word] struct {
	own  []K
	wide []uint64 // with high in the high half
	high uint32
}

func keyOutputOf[K word](column []byte, widened, high uint32) keyOutput[K] {
	if widened == 1 {
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
