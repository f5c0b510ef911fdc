package relation

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Values is a column on a device, of values of 4 or 8 bytes.
type Values struct {
	Data  backend.Range
	Bytes int // of a value
}

// Chunk is rows of one relation on one device, fewer than 2^32-1, column by column. Who made it owns the columns, which
// live for as long as it is in use; nobody writes to them.
type Chunk struct {
	Rows    uint64
	Keys    Values // key codes
	Payload []Values
	// Narrow says that the high words of 8-byte keys are all HighWord, so that only their low words have to move.
	Narrow   bool
	HighWord uint32
}

// Check reports a chunk whose columns are not what it says.
func (c *Chunk) Check(op string) error {
	if err := primitive.CheckRows(op, c.Rows); err != nil {
		return err
	}
	for i, v := range append([]Values{c.Keys}, c.Payload...) {
		if v.Bytes != 4 && v.Bytes != 8 || v.Data.SizeBytes != c.Rows*uint64(v.Bytes) {
			return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
				Detail: fmt.Sprintf("column %d has %d bytes for %d rows of %d", i, v.Data.SizeBytes, c.Rows, v.Bytes)}
		}
	}
	return nil
}

// CheckJoin is Check, and reports keys that are not as wide as those of the other side.
func (c *Chunk) CheckJoin(op string, other *Chunk) error {
	if err := c.Check(op); err != nil || c.Keys.Bytes == other.Keys.Bytes {
		return err
	}
	return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
		Detail: fmt.Sprintf("keys of %d and of %d bytes", other.Keys.Bytes, c.Keys.Bytes)}
}
