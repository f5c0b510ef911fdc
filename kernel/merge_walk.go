package kernel

// MergeWalk does what [MergeJoin] does, on devices that run invocations on CPU cores: an invocation takes [WalkedRows]
// neighbouring right rows at a time, and the search for one goes on where that for the row before it ended.
var MergeWalk = define[MergeJoinArgs](mergeJoinEntry("merge_walk"))
