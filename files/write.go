package files

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/tableio"
)

// Drawn is a result whose rows are written: of a join or a group-by.
type Drawn interface {
	Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]
}

// Write draws a result, writes its rows and commits the file. It returns the seconds in which drawing waited for
// encoding and writing, which otherwise go on meanwhile. progress may be nil; it learns when the file is finished.
func Write(ctx context.Context, result Drawn, writer *tableio.Writer, progress func(spirjoin.JoinProgress)) (
	seconds float64, err error) {
	if seconds, err = Draw(ctx, result, writer); err != nil {
		return seconds, err
	}
	if progress != nil {
		progress(spirjoin.JoinProgress{Phase: "finish", Left: -1})
	}
	start := time.Now()
	defer exec.Begin(ctx, "finish file").End()
	err = writer.Commit(ctx)
	return seconds + time.Since(start).Seconds(), err
}

// Draw is Write without the end: the caller commits the file.
func Draw(ctx context.Context, result Drawn, writer *tableio.Writer) (seconds float64, err error) {
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return seconds, err
		}
		start, span := time.Now(), exec.Begin(ctx, "write batch").Rows(uint64(batch.NumRows()))
		err = writer.Write(ctx, batch)
		span.End()
		batch.Release()
		seconds += time.Since(start).Seconds()
		if err != nil {
			return seconds, err
		}
	}
	return seconds, nil
}

// writing completes the options of a writer by the limit of the engine.
func writing(engine *spirjoin.Engine, o tableio.WriteOptions) tableio.WriteOptions {
	if o.RowGroupBytes == 0 {
		o.RowGroupBytes = RowGroupBytes(engine.Options().MemoryLimitBytes)
	}
	return o
}
