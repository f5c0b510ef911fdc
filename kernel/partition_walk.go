package kernel

import "github.com/spirjoin/spirjoin/backend"

// PartitionWalk does what [PartitionJoin] does, on devices that run invocations on CPU cores: an invocation takes
// [WalkedRows] neighbouring right rows at a time, whatever items is, and writes their output rows without waiting for
// its neighbours.
var PartitionWalk = define[PartitionJoinArgs](entry[PartitionJoinArgsOf[[]byte], PartitionWalkConfig]{
	Name:     "partition_walk",
	Defaults: partitionJoinDefaults,
	Compare:  backend.Multiset,
	SharedBytes: func(config *PartitionWalkConfig) uint32 {
		return unitTableBytes(config.Table, config.Heads) + joinRowsBytes(config.Tile, 0, 0)
	},
	Run: func(args *PartitionJoinArgsOf[[]byte], config *PartitionWalkConfig, group uint32) {
		runPartitionJoin(args, config, 0, group)
	},
})

// WalkedRows is the number of right rows that an invocation of [PartitionWalk] and [MergeWalk] takes at a time.
const WalkedRows = 8

// PartitionJoinOn returns [PartitionWalk] with walk, else [PartitionJoin], for a device and configuration.
func PartitionJoinOn(device *backend.Device, config PartitionJoinConfig, walk bool) (Compiled[PartitionJoinArgs],
	error) {
	if walk {
		return PartitionWalk.On(device, config.PartitionWalkConfig)
	}
	return PartitionJoin.On(device, config)
}
