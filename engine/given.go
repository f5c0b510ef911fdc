package engine

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

func sourcesGiven(left, right source.Source) error {
	if err := left.Check(relation.Left); err != nil {
		return err
	}
	return right.Check(relation.Right)
}

// tablesGiven returns ErrInvalidInput for a table that is nil.
func tablesGiven(left, right arrow.Table) error {
	for side, table := range [2]arrow.Table{left, right} {
		if table == nil {
			return missing("the %s table is nil", relation.Side(side))
		}
	}
	return nil
}

// missing is the error of an argument that is nil.
func missing(what string, side relation.Side) error {
	return &backend.OpError{Op: "join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(what, side)}
}
