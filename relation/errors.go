package relation

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// ErrBatchTooLarge says that the rows of a batch do not fit the 32-bit offsets of a column's type. The caller should
// gather fewer rows at a time, half as many for example. It wraps backend.ErrLimit.
var ErrBatchTooLarge = fmt.Errorf("batch too large: %w", backend.ErrLimit)
