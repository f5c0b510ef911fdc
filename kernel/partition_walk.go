package kernel

// PartitionWalk does what [PartitionJoin] does, on devices that run invocations on CPU cores: an invocation takes
// [WalkedRows] neighbouring right rows at a time, whatever items is, and writes their output rows without a wait for
// its neighbours.
var PartitionWalk = define[PartitionJoinArgs](partitionJoinEntry("partition_walk"))

// WalkedRows is the number of right rows that an invocation of [PartitionWalk] and [MergeWalk] takes at a time.
const WalkedRows = 8
