package spirjoin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/cache"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// RasterRow says how fast a device of this machine draws: nanoseconds for each point, and for each vertex that only
// fetches a texel. It applies to that device with that version of its driver.
type RasterRow struct {
	Device        string  `json:"device"` // full name
	Backend       string  `json:"backend"`
	Driver        string  `json:"driver"`
	DriverVersion string  `json:"driver_version"`
	PointNs       float64 `json:"point_ns"`
	VertexNs      float64 `json:"vertex_ns"`
}

// RasterFile returns the path of the file with the rates at which devices of this machine draw: raster.json in the
// folder of the tuning file. It is empty if there is no tuning file.
func RasterFile() string {
	tuning := TuningFile()
	if tuning == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(tuning), "raster.json")
}

// ReadRaster reads a file of rates of draws. A missing file has none.
func ReadRaster(path string) (rows []RasterRow, err error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("rates of draws, %s: %w: %w; remove it", path, backend.ErrInvalidInput, err)
	}
	return rows, nil
}

// MeasureRaster measures how fast a device draws. Errors: ErrUnsupported for a device that does not draw, or was not
// opened for it; those of the device.
func MeasureRaster(ctx context.Context, ops *primitive.Ops) (*RasterRow, error) {
	rates, err := join.MeasureRaster(ctx, ops)
	if err != nil {
		return nil, err
	}
	info := ops.Device().Info()
	return &RasterRow{info.Name, info.Backend, info.Driver, info.DriverVersion, rates.PointNs, rates.VertexNs}, nil
}

func (r *RasterRow) rates() join.RasterRates {
	return join.RasterRates{PointNs: r.PointNs, VertexNs: r.VertexNs}
}

// Wins tells whether the device is predicted to join fastest by drawing.
func (r *RasterRow) Wins(info *backend.DeviceInfo) (bool, error) {
	return join.WorthDrawing(info, r.rates())
}

// Keep writes a row to the file of such rates, if there is one, where it replaces older ones of the device.
func (r *RasterRow) Keep() error {
	path := RasterFile()
	rows, err := ReadRaster(path)
	if err != nil || path == "" {
		return err
	}
	rows = slices.DeleteFunc(rows, func(old RasterRow) bool {
		return old.Device == r.Device && old.Backend == r.Backend
	})
	text, err := json.MarshalIndent(append(rows, *r), "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(path, append(text, '\n'))
}

// keptRaster is the row of a device; nil where there is none.
func keptRaster(info *backend.DeviceInfo) (*RasterRow, error) {
	rows, err := ReadRaster(RasterFile())
	for _, r := range rows {
		if r.Device == info.Name && r.Backend == info.Backend && r.Driver == info.Driver &&
			r.DriverVersion == info.DriverVersion && r.PointNs > 0 {
			return &r, err
		}
	}
	return nil, err
}

// drawsOn tells whether a device is opened for draws without being asked to: where it was measured, and is predicted to
// join fastest in that way. A file that cannot be read opens none.
func drawsOn(info *backend.DeviceInfo) bool {
	row, err := keptRaster(info)
	if err != nil || row == nil {
		return false
	}
	wins, err := row.Wins(info)
	return err == nil && wins
}

// learnRaster tells the plans of a new engine how fast its device draws. A GPU is measured if it was not before; on CPU
// cores the rates of the planner are near enough.
func (e *Engine) learnRaster(ctx context.Context, on *query.Engine) error {
	device := on.Device()
	if _, err := device.Rasterizer(); err != nil {
		return nil
	}
	row, problem := keptRaster(device.Info())
	if row == nil && !device.Info().CPULike() {
		measured, err := MeasureRaster(ctx, on.Ops)
		switch row = measured; {
		case errors.Is(err, backend.ErrDeviceMemory): // a low limit; the rates of the planner will do
			problem = cmp.Or(problem, fmt.Errorf("rates of draws: %w", err))
		case err != nil:
			return err
		case problem == nil:
			problem = row.Keep()
		}
	}
	if problem != nil {
		e.tuningProblems = append(e.tuningProblems, problem)
	}
	if row != nil {
		on.Draws(row.rates())
	}
	return nil
}
