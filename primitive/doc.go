// Package primitive provides the device-wide building blocks of joins: scan, reduce, compact, radix sort,
// partition, merge, merge sort, range search, expansion of ranges to pairs, gather, copy, the packing of narrow columns
// into words, and the cascaded codec. It works on columns of fixed-width values in device buffers, not on tables.
//
// Every primitive is planned and then recorded. A plan is a pure function of sizes and a [Tuning]: passes, tiles,
// scratch bytes. Recording appends the dispatches of a plan to a command list; nothing runs before the list is
// submitted, and the order between dispatches follows from the accesses that the kernels declare. Scratch memory
// belongs to the caller, who decides what is allocated at the same time.
package primitive
