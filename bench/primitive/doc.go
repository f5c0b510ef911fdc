// Package primitive measures the primitives of package primitive on one device. A case is a primitive with the axes of
// its name: width of keys and payload, rows, distribution. Its answer is verified against the generators before it is
// timed; a wrong answer is [measure.ErrWrong], and nothing is timed.
//
// Inputs are made piece by piece from row numbers, and outputs are checked piece by piece against the same generators,
// so that 2^30 rows need no host memory.
package primitive
