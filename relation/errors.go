package relation

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// ErrBatchTooLarge is returned by [take.Rows] when the gathered values do not fit the 32-bit offsets of the column's type.
// The caller should gather fewer rows at a time, half as many for example. It wraps backend.ErrLimit.
var ErrBatchTooLarge = fmt.Errorf("batch too large: %w", backend.ErrLimit)
