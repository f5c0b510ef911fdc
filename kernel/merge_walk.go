package kernel

import "github.com/spirjoin/spirjoin/backend"

// MergeWalk does what [MergeJoin] does, on devices that run invocations on CPU cores: an invocation takes [WalkedRows]
// neighbouring right rows at a time, and the search for each continues where that for the previous row ended.
var MergeWalk = define[MergeJoinArgs](entry[MergeJoinArgsOf[[]byte], MergeWalkConfig]{
	Name:     "merge_walk",
	Defaults: mergeJoinDefaults,
	Compare:  backend.Multiset,
	SharedBytes: func(config *MergeWalkConfig) uint32 {
		return config.KeyBits/8*config.Table + joinRowsBytes(config.Tile, 0, 0)
	},
	Run: runMergeJoin,
})

// MergeJoinOn returns [MergeWalk] with walk, else [MergeJoin], for a device and configuration.
func MergeJoinOn(device *backend.Device, config MergeJoinConfig, walk bool) (Compiled[MergeJoinArgs], error) {
	if walk {
		return MergeWalk.On(device, config.MergeWalkConfig)
	}
	return MergeJoin.On(device, config)
}
