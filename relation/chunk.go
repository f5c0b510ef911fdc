package relation

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Values is a column on a device, with 4 or 8 bytes per value.
type Values struct {
	Data  backend.Range
	Bytes int // bytes per value
}

// Chunk is a set of rows of one relation on one device, fewer than 2^32-1, by column. Its creator owns the columns,
// which must live as long as the chunk is in use. They are never written to.
type Chunk struct {
	Rows    uint64
	Keys    Values // key codes
	Payload []Values
	// Narrow says that the high words of all 8-byte keys are HighWord, so that only their low words have to move.
	Narrow   bool
	HighWord uint32
}

// Columns returns the columns, the keys first.
func (c *Chunk) Columns() []Values { return append([]Values{c.Keys}, c.Payload...) }

// Check returns backend.ErrInvalidInput or backend.ErrLimit if the size of a column does not fit the number of rows, or
// there are too many rows.
func (c *Chunk) Check(op string) error {
	if err := primitive.CheckRows(op, c.Rows); err != nil {
		return err
	}
	for i, v := range c.Columns() {
		if v.Bytes != 4 && v.Bytes != 8 || v.Data.SizeBytes != c.Rows*uint64(v.Bytes) {
			return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
				Detail: fmt.Sprintf("column %d has %d bytes for %d rows of %d", i, v.Data.SizeBytes, c.Rows, v.Bytes)}
		}
	}
	return nil
}

// CheckJoin is [Chunk.Check], and also returns backend.ErrInvalidInput if the keys of the other side have another
// width.
func (c *Chunk) CheckJoin(op string, other *Chunk) error {
	if err := c.Check(op); err != nil || c.Keys.Bytes == other.Keys.Bytes {
		return err
	}
	return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
		Detail: fmt.Sprintf("keys of %d and of %d bytes", other.Keys.Bytes, c.Keys.Bytes)}
}
