package kernel

import "github.com/spirjoin/spirjoin/backend"

// GroupAccumulateArgs are the arguments of [GroupAccumulate].
type GroupAccumulateArgs = GroupAccumulateArgsOf[backend.Range]

// GroupAccumulateArgsOf are the same with buffers of type B.
type GroupAccumulateArgsOf[B any] struct {
	IDs, Units, Offsets   B      `access:"read"`
	Value, Value2, Value3 B      `access:"read"`
	Valid                 B      `access:"read"`
	State, State2, State3 B      `access:"write"`
	Count                 uint32 // units
	Bits, Shift           uint32
	Kind                  uint32
	ValidBit              uint32
	FirstRow              uint32
	FirstRowHigh          uint32
	Flip                  uint32
}

// GroupAccumulateConfig configures [GroupAccumulate].
type GroupAccumulateConfig struct {
	Op   uint32 `axis:"0,1,2,3,4"` // a [GroupOp]
	Tile        // of units
}

// GroupAccumulate reduces values by the numbers that [GroupIDs] gives to the rows of each of count units: the state of
// row i of a unit is offsets[unit] + ids[i], and the unit has the states from offsets[unit] to before offsets[unit+1].
// Values and states are as in [GroupReduce], except that row i is at index i of the columns.
var GroupAccumulate = define[GroupAccumulateArgs](entry[GroupAccumulateArgsOf[[]byte], GroupAccumulateConfig]{
	Name:     "group_accumulate",
	Defaults: GroupAccumulateConfig{Tile: Tile{1, 1}},
	HostOnly: true,
	Run: func(args *GroupAccumulateArgsOf[[]byte], config *GroupAccumulateConfig, group uint32) {
		units, offsets := backend.Words(args.Units), backend.Words(args.Offsets)
		var block groupBlock
		column := groupColumn{narrow: backend.Words(args.Value), valid: backend.Words(args.Valid),
			value: backend.Longs(args.Value), value2: backend.Longs(args.Value2), value3: backend.Longs(args.Value3),
			bits: args.Bits, shift: args.Shift, kind: args.Kind, validBit: args.ValidBit,
			firstRow: uint64(args.FirstRow) | uint64(args.FirstRowHigh)<<32, flip: uint64(int64(int32(args.Flip)))}
		states, rows := groupStatesOf(args.State, args.State2, args.State3), groupRows{ids: backend.Words(args.IDs)}
		for t := range tiles(config, group, Tiles(config, uint64(args.Count)), args.Count) {
			for unit := t.first; unit < t.end; unit++ {
				if GroupOp(config.Op) == GroupAny {
					groupAny(args, rows.ids[units[unit]:units[unit+1]], units[unit], offsets[unit])
					continue
				}
				of := states.part(int(offsets[unit]), int(offsets[unit+1]))
				column.reduce(GroupOp(config.Op), of, &block, units[unit], units[unit+1], &rows)
			}
		}
	},
})

// groupAny keeps the last value of each state, of rows from first on.
func groupAny(args *GroupAccumulateArgsOf[[]byte], ids []uint32, first, offset uint32) {
	if args.Bits == 64 {
		values, states := backend.Longs(args.Value)[first:], backend.Longs(args.State)[offset:]
		for i, id := range ids {
			states[id] = values[i]
		}
		return
	}
	values, states := backend.Words(args.Value)[first:], backend.Words(args.State)[offset:]
	for i, id := range ids {
		states[id] = values[i]
	}
}
