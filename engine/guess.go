package engine

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/join"
)

// A device waits while the keys of the build side are measured. The range of the keys of a large table is guessed from
// a sample ([keys.Plan]), and measured while the table is loaded. If the guess is wrong, the join begins again with the
// measured range; nothing was output by then.

// guessedRows is the number of rows of a build side from which on its keys are guessed: the bit or two that a guess may
// have more than needed then seldom make sorts longer.
const guessedRows = 1 << 26

// errOutside ends a join with a key outside the guessed range.
var errOutside = errors.New("a key of the build side is outside the range that was guessed")

// guesses reports whether the range of the keys of a build side is guessed. If the host encodes keys, a guess would
// gain nothing.
func (e *Engine) guesses(spec *join.Spec, build arrow.Table) bool {
	large := build.NumRows() >= guessedRows && !e.Device().Info().Unified
	return spec.Validate == join.Any && (large || e.Guess)
}

// check checks the guess.
func (l *lowering) check(ctx context.Context) error {
	within, err := l.keys.Check(ctx)
	if err == nil && !within {
		err = errOutside
	}
	return err
}
