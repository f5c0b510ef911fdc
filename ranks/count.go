package ranks

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/join"
)

// reportShare of the limit of output rows, divided by the number of ranks, is how much a rank may have that rank 0 does
// not know of.
const reportShare = 4

// count has rank 0 add up the output rows of all ranks, if their number is limited, so that a join with too many ends
// before all of them are made.
func (r *Result) count() {
	spec := &r.layout.Spec
	r.limit = spec.MaxOutputRows
	if r.limit == 0 && spec.How == join.Cross && spec.Output != join.Count {
		r.limit = join.CrossLimit
	}
	if r.limit == 0 {
		return
	}
	r.reports = r.job.Open("join rows")
	if r.job.Rank() == 0 {
		r.flow.Go("count rows", r.addUp)
	}
}

// report tells rank 0 how many output rows this rank has, if there are many more than at the last time.
func (r *Result) report(ctx context.Context) error {
	rows := r.Result.Rows()
	if r.limit == 0 || (rows-r.told)*reportShare*uint64(r.job.Size()) < r.limit {
		return nil
	}
	if r.told = rows; r.job.Rank() == 0 {
		r.mine.Store(rows)
		return nil
	}
	return r.reports.Send(ctx, 0, binary.LittleEndian.AppendUint64(nil, rows))
}

// addUp receives the numbers of rows of all ranks on rank 0, until these have ended.
func (r *Result) addUp(ctx context.Context) error {
	if err := r.reports.End(ctx); err != nil { // rank 0 reports to nobody
		return err
	}
	rows := make([]uint64, r.job.Size())
	for {
		_, some, err := r.reports.Receive(ctx, func(from int, head []byte) ([][]byte, error) {
			if from <= 0 || from >= len(rows) || len(head) != 8 {
				return nil, fmt.Errorf("%w: a report of %d bytes from rank %d", backend.ErrInvalidInput, len(head),
					from)
			}
			rows[from] = binary.LittleEndian.Uint64(head)
			return nil, nil
		})
		if err != nil || !some {
			return err
		}
		rows[0] = r.mine.Load()
		if all := (&Totals{Rows: rows}).AllRows(); all > r.limit {
			return deliver.TooManyRows(r.limit, deliver.OfRows)
		}
	}
}
