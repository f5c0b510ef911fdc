// Package codec compresses columns that travel between machines: messages of blocks in the cascaded format, encoded and
// decoded on the host or by a device (package primitive), and the choice of a scheme by a sample. docs/codec.md has the
// format.
//
// Source: "Scaling Joins to a Thousand GPUs", section 4.
package codec
