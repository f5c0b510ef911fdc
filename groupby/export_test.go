package groupby

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// BatchesOf yields the rows of a table in large batches.
var BatchesOf = batchesOf

// NearestRoot is nearestRoot.
var NearestRoot = nearestRoot

// ShortBits sets the maximum number of bits of short integers, until the test ends.
func ShortBits(bits int) (restore func()) {
	before := shortBits
	shortBits = bits
	return func() { shortBits = before }
}

// TextOf is textOf, with "" for NULL.
func TextOf(a arrow.Array, i int) string {
	text, _ := textOf(a, i)
	return text
}

// GatherAtMost makes tables of more groups fail, as if their texts were too long for offsets of 32 bits.
func GatherAtMost(e *Engine, most int) {
	e.gathering = func(groups int) error {
		if groups > most {
			return relation.ErrBatchTooLarge
		}
		return nil
	}
}

// FailMerge makes a merge of an engine fail for lack of memory, after allowed merges that succeed. restore undoes that
// and reports whether a merge has failed.
func FailMerge(e *Engine, allowed int) (restore func() (failed bool)) {
	failed := false
	e.merging = func() error {
		if allowed--; allowed == -1 {
			failed = true
			return backend.ErrHostMemory
		}
		return nil
	}
	return func() bool {
		e.merging = nil
		return failed
	}
}
