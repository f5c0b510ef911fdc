// Package peers changes the place of rows among devices: rows with equal hashes, or the keys of a range, meet on one
// device, and a relation is sorted across all of them (HMG 3.1).
//
//	rank 0: chunk ─► Partitioner: Measure ─┐            ┌─► Apply: parts in order ─► put ─► chunk of rank 0
//	rank 1: chunk ─► Measure ──────────────┼─► Decide ──┤   Apply ─► put ─────────► chunk of rank 1
//	rank 2: chunk ─► Measure ──────────────┘  (all alike)└─► ...
//
// A rank is a goroutine with the lane of one device. All ranks run the same straight-line code ([RunRanks]) and meet in
// rounds ([Comm]), in which each tells the others a few numbers. From the same numbers they draw the same conclusions,
// so no rank leads. Then rows move once: each rank offers memory of exactly the size that was agreed, and
// the others put their rows there, over all links at once ([Rank.Exchange]).
package peers
