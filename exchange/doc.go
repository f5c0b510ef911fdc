// Package exchange divides the rows of both sides of a join into parts that can be joined one by one, and keeps the
// parts in memory, and on disk, until then.
//
//	blocks of a side ─► Divider: hash of the keys, part of each row ─► Place: blocks of each part, in memory or a file
//	Place ─► the blocks of a part, in order ─► a join of both sides of the part
//
// Rows with equal keys are in parts of the same number, so that each pair of parts is a join of its own whose rows
// match no others. The output is the output of all pairs together. That holds for every kind of join whose rows depend
// only on the rows with an equal key.
package exchange
