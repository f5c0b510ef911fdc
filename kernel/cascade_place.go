package kernel

import "github.com/spirjoin/spirjoin/backend"

// CascadePlaceArgs are the arguments of [CascadePlace].
type CascadePlaceArgs = CascadePlaceArgsOf[backend.Range]

// CascadePlaceArgsOf are the same with buffers of type B.
type CascadePlaceArgsOf[B any] struct {
	Slots      B `access:"read"`
	Ends       B `access:"read"`
	Directory  B `access:"readwrite"`
	Payload    B `access:"write"`
	FirstBlock uint32
}

// CascadePlaceConfig configures [CascadePlace].
type CascadePlaceConfig struct {
	Tile
	ValueBits uint32
}

// CascadePlace moves blocks that [CascadeEncode] has written to slots to their places, one behind the other. ends are
// the exclusive scan of their sizes, with the total. Workgroup g moves slot g to word directory[first_block] + ends[g]
// of payload, and writes directory[first_block+g+1], the word behind it.
var CascadePlace = define[CascadePlaceArgs](entry[CascadePlaceArgsOf[[]byte], CascadePlaceConfig]{
	Name:     "cascade_place",
	Defaults: CascadePlaceConfig{Tile: Tile{128, 4}, ValueBits: 64},
	Run: func(args *CascadePlaceArgsOf[[]byte], config *CascadePlaceConfig, group uint32) {
		ends, directory := backend.Words(args.Ends)[group:], backend.Words(args.Directory)[args.FirstBlock:]
		base, size := directory[0], ends[1]-ends[0]
		slot := backend.Words(args.Slots)[uint64(group)*uint64(CascadeSlotWords(config.ValueBits/8)):]
		copy(backend.Words(args.Payload)[base+ends[0]:], slot[:size])
		directory[group+1] = base + ends[1]
	},
})
