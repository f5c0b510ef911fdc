package kernel

// MergeWalk does what [MergeJoin] does, on devices that run invocations on CPU cores: an invocation takes [WalkedRows]
// neighbouring right rows at a time, and the search for each continues where that for the previous row ended.
var MergeWalk = define[MergeJoinArgs](mergeJoinEntry("merge_walk"))
