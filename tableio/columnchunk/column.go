// Package columnchunk turns Arrow columns of flat types into column chunks of Parquet and back.
//
// A column chunk is the part of one column that lies in one row group. It is the unit of work on both ways: workers
// take whole chunks, each with an [Encoder] or a [Decoder] of its own whose scratch memory is used again, so that a
// file is written and read on all cores. Pages and metadata are those of arrow-go; nested types are left to its
// pqarrow.
package columnchunk

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Column is one flat column of a file.
type Column struct {
	Field arrow.Field    // name, Arrow type, and whether it may be null
	Leaf  *schema.Column // of the Parquet schema: physical type, levels
}
