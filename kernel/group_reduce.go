package kernel

import "github.com/spirjoin/spirjoin/backend"

// GroupOp is what a reduction of groups computes: the axis op of [GroupReduce].
type GroupOp uint32

const (
	GroupSum      GroupOp = iota // of 128-bit integers, modulo 2^128; without a value column, the number of rows
	GroupSumFloat                // of 64-bit floats, in the order of the rows
	GroupLeast                   // the least value, the greatest if flip is all ones; NaN is above all numbers
	GroupMoments                 // the mean, the sum of squared deviations from it, and the number of values
	GroupAny                     // one of the values, in a word of its width: of [GroupAccumulate], for keys
)

// Kinds of values: the parameter kind of [GroupReduce].
const (
	GroupSigned uint32 = iota
	GroupUnsigned
	GroupFloat
)

// GroupReduceArgs are the arguments of [GroupReduce].
type GroupReduceArgs = GroupReduceArgsOf[backend.Range]

// GroupReduceArgsOf are the same with buffers of type B.
type GroupReduceArgsOf[B any] struct {
	IDs, Segments         B      `access:"read"`
	Value, Value2, Value3 B      `access:"read"`
	Valid                 B      `access:"read"`
	State, State2, State3 B      `access:"write"`
	Rows, Count           uint32 // rows, segments
	Bits, Shift           uint32 // of a value
	Kind                  uint32
	ValidBit              uint32
	FirstRow              uint32
	FirstRowHigh          uint32
	Flip                  uint32
}

// GroupReduceConfig configures [GroupReduce].
type GroupReduceConfig struct {
	Op uint32 `axis:"0,1,2,3"` // a [GroupOp]
	Tile
}

// GroupReduce reduces the values of each of count segments of rows to a state. Segment i is the rows from segments[i]
// to before segments[i+1], or rows. Row i is at index ids[i] of the value columns, i if ids is absent, and takes part
// if bit valid_bit of that word of valid is set, or valid is absent.
//
// A value has bits 128 (value has its low 8 bytes, value2 the high ones), 64, 32, or 16 or 8 at bit shift of a 4-byte
// word; floats 64, 32 or 16. Without value it is the number of the row, from first_row on. States are words of 8 bytes.
// A sum of integers is state and state2, or modulo 2^64 if state2 is absent. A least value has 64 bits or 128 bits; the
// least of floats is a 64-bit float. Moments are two floats and an integer. Moments of moments read all three from
// value, value2 and value3, as 64-bit floats. If no value takes part, the state is the identity of the reduction.
var GroupReduce = define[GroupReduceArgs](entry[GroupReduceArgsOf[[]byte], GroupReduceConfig]{
	Name:     "group_reduce",
	Defaults: GroupReduceConfig{Tile: Tile{256, 1}},
	Run: func(args *GroupReduceArgsOf[[]byte], config *GroupReduceConfig, group uint32) {
		segments := backend.Words(args.Segments)
		var block groupBlock
		column := groupColumn{ids: backend.Words(args.IDs), narrow: backend.Words(args.Value),
			valid: backend.Words(args.Valid), value: backend.Longs(args.Value), value2: backend.Longs(args.Value2),
			value3: backend.Longs(args.Value3), bits: args.Bits, shift: args.Shift, kind: args.Kind,
			validBit: args.ValidBit, firstRow: uint64(args.FirstRow) | uint64(args.FirstRowHigh)<<32,
			flip: uint64(int64(int32(args.Flip)))}
		states := groupStatesOf(args.State, args.State2, args.State3)
		for t := range tiles(config, group, Tiles(config, uint64(args.Count)), args.Count) {
			if t.first == t.end {
				continue
			}
			first, end := segments[t.first], args.Rows
			if t.end < int(args.Count) {
				end = segments[t.end]
			}
			of := states.part(t.first, t.end)
			column.reduce(GroupOp(config.Op), of, &block, first, end, &groupRows{starts: segments[t.first:t.end]})
		}
	},
})
