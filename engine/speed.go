package engine

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
)

// referenceRows is the number of rows of each side of the join that [Engine.Speed] predicts.
const referenceRows = 1 << 24

// Speed is the number of rows a second, of both sides together, that the devices of the engine are predicted to join:
// 64-bit foreign with primary keys and a payload of 8 bytes a side, 2^24 rows each, from host memory and back. Devices
// that work together are taken to add up. It is 0 if rates were measured on no
// device like one of them, or if its memory is too small.
func (e *Engine) Speed(ctx context.Context) (rowsPerSecond float64, err error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := join.NewLayout(schema, schema, join.Spec{On: []string{"k"}})
	if err != nil {
		return 0, err
	}
	table := Expected{Schema: schema, Rows: referenceRows, Nulls: func(string) bool { return false },
		Bounds: func(string) (least, most int64, ok bool) { return 0, referenceRows - 1, true }}
	q, err := e.expect(ctx, layout, [2]Expected{table, table})
	if err != nil {
		return 0, err
	}
	for _, on := range e.Engines() {
		planned, err := planGranules(on, *q)
		switch {
		case errors.Is(err, backend.ErrHostMemory) || errors.Is(err, backend.ErrDeviceMemory) ||
			err == nil && planned.Rates == nil:
			return 0, nil
		case err != nil:
			return 0, err
		}
		rowsPerSecond += 2 * referenceRows / planned.Alternatives[0].Plan.Time().Seconds()
	}
	return rowsPerSecond, nil
}
