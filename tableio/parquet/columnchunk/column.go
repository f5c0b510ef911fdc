// Package columnchunk turns Arrow columns of flat types into column chunks of Parquet and back.
//
// A column chunk is the part of one column in one row group. It is the unit of work in both directions: each worker
// takes chunks, or when reading slices of their rows, with its own [Encoder] or [Decoder], whose scratch memory is
// reused, so that a file is written and read on all cores. Pages and metadata are handled by arrow-go; nested types are
// left to its pqarrow.
package columnchunk

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Column is one flat column of a file.
type Column struct {
	Field arrow.Field    // name, Arrow type, and whether it may be null
	Leaf  *schema.Column // its leaf in the Parquet schema: physical type, levels
}
