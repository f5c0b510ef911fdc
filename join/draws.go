package join

import (
	"context"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/graphics"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// RasterRates are the nanoseconds that a device takes for a point, and for a vertex that only fetches a texel.
type RasterRates = operator.RasterRates

// MeasureRaster measures how fast a device draws. Errors: ErrUnsupported for a device that does not draw, or was not
// opened for it; those of the device.
func MeasureRaster(ctx context.Context, ops *primitive.Ops) (RasterRates, error) {
	lane := exec.NewLane(ctx, ops, nil)
	defer lane.Memory.ReleaseAll()
	return graphics.Measure(ctx, lane)
}

// WorthDrawing tells whether a device that draws at these rates is predicted to join fastest by drawing, so that it is
// worth opening for draws: 2^24 rows with 2^22 rows of unique keys, of 32 bits, and a column of 4 bytes each. It is not
// where the planner has no rates of the device's kernels. An error is a fault of the tables.
func WorthDrawing(info *backend.DeviceInfo, drawn RasterRates) (bool, error) {
	rates, err := planner.RatesFor(info)
	if err != nil || rates == nil {
		return false, err
	}
	tuning, err := primitive.TuningFor(info)
	if err != nil {
		return false, err
	}
	plans, err := planner.Choose(operator.Facts{
		Rows: [2]uint64{1 << 22, 1 << 24}, KeyBytes: 4, KeyBits: 32, Payload: [2][]int{{4}, {4}}, OutputRows: 1 << 24,
		Unique: true, MatchRatio: 1, BuildRatio: 1, Distinct: 1, Tuning: tuning,
		Software: info.Type == backend.Software, SubgroupSize: int(info.SubgroupSize), Drawn: drawn,
		Raster: backend.RasterLimits{MaxWidth: 1 << 12, MaxHeight: 1 << 12, MaxLayers: 1 << 8,
			MaxImageBytes: math.MaxUint64, MaxTargets: 4, MaxTextures: 4},
	}, operator.Want{Pairs: true}, Algorithms, rates, planner.Limits{})
	if err != nil {
		return false, err
	}
	_, draws := plans[0].Algorithm.(graphics.Algorithm)
	return draws, nil
}
