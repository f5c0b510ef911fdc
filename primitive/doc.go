// Package primitive holds the device-wide building blocks of joins: scan, segmented scan, reduce, histogram, compact, radix
// sort, merge, merge sort, range search, expansion of ranges to pairs, gather, scatter and copy. It knows columns of fixed-width
// values in device buffers, and no tables.
//
// Every primitive has a plan and a record part. A plan is a pure function of sizes and a [Tuning]: passes, tiles, scratch
// bytes. Recording puts the dispatches of a plan on a command list; nothing runs before the list is submitted, and the order
// between dispatches follows from what the kernels declare. Scratch memory is the caller's, so that it decides what lives
// at the same time.
package primitive
