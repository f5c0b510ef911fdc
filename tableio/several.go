package tableio

import (
	"context"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/dataset"
)

// openFiles opens several files as one table.
func openFiles(ctx context.Context, path string, files []dataset.File, opts ReadOptions) (*Reader, error) {
	opts.Busy.Begin()
	defer opts.Busy.End()
	one := opts // of the options for a file
	one.Columns, one.Opening = nil, nil
	var formats [len(formatNames)]atomic.Bool
	src, err := dataset.Open(ctx, files, dataset.Options{
		Source: func(ctx context.Context, in *core.Input) (core.Source, error) {
			r, err := newReader(ctx, in, one)
			if err != nil {
				return nil, err
			}
			formats[r.format].Store(true)
			return r.src, nil
		},
		Fail:       func(op, path string, err error) error { return fail(ErrInput, op, path, err) },
		AheadBytes: opts.AheadBytes, Opening: opts.Opening,
	})
	if err == nil {
		_, err = core.ColumnIndices(src.Schema(), opts.Columns)
	}
	if err != nil {
		return nil, fail(ErrInput, "open", path, err)
	}
	r := &Reader{path: path, src: src, opts: opts}
	for format := range formats {
		if formats[format].Load() && r.format == Auto {
			r.format = Format(format)
		} else if formats[format].Load() {
			r.format = Auto
			break
		}
	}
	return r, nil
}
