package primitive

import (
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
)

// Ops records primitives for one device with the device's tuning. Safe for concurrent use.
type Ops struct {
	device *backend.Device
	tuning Tuning
}

// New returns the primitives of a device, tuned by the embedded tables and, where their rows fit, by overrides. A row of either
// that is not valid on the device is ErrInvalidInput.
func New(device *backend.Device, overrides Tuning) (*Ops, error) {
	tuning, err := TuningFor(device.Info())
	if err != nil {
		return nil, err
	}
	tuning = tuning.With(overrides)
	if err := tuning.Check(device.Info()); err != nil {
		return nil, err
	}
	return &Ops{device, tuning}, nil
}

// Device is the device that the primitives run on.
func (o *Ops) Device() *backend.Device { return o.device }

// Tuning holds the rows in force; it must not be changed.
func (o *Ops) Tuning() Tuning { return o.tuning }

// MaxRows is the largest number of rows that one device-resident column may have: row ids are 32-bit there, and one
// value is kept free.
const MaxRows = math.MaxUint32 - 1

func checkRows(op string, rows uint64) error {
	if rows > MaxRows {
		return &backend.OpError{Op: op, Err: backend.ErrLimit, Detail: fmt.Sprintf("%d rows in one column, the limit is %d", rows, uint64(MaxRows))}
	}
	return nil
}

// with returns a configuration with further settings.
func with(config backend.Config, settings ...any) backend.Config {
	return merge(config, variant(settings...))
}

// variant is a configuration of names and their values, alternately.
func variant(settings ...any) backend.Config {
	c := make(backend.Config, len(settings)/2)
	for i := 0; i < len(settings); i += 2 {
		c[settings[i].(string)] = uint32(settings[i+1].(int))
	}
	return c
}

// align rounds a size up to the alignment of kernel arguments.
func align(sizeBytes uint64) uint64 {
	return (sizeBytes + backend.PlanAlignment - 1) / backend.PlanAlignment * backend.PlanAlignment
}
