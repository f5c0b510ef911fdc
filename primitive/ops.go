package primitive

import (
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Ops records primitives for one device with the device's tuning. Safe for concurrent use.
type Ops struct {
	device *backend.Device
	tuning Tuning
}

// New returns the primitives of a device, tuned by the embedded tables; overrides replace the configuration of the
// primitives that they name.
func New(device *backend.Device, overrides Tuning) (*Ops, error) {
	tuning, err := TuningFor(device.Info())
	if err != nil {
		return nil, err
	}
	for name, config := range overrides {
		tuning[name] = config
	}
	for name, config := range tuning {
		// A scan shrinks from level to level only if a tile holds more than one row.
		if rows := kernel.TileRows(config); rows == 0 || name == "scan" && rows < 2 || config["workgroup"] > device.Info().Limits.MaxInvocations {
			return nil, &backend.OpError{Op: "tune " + name, Device: device.Info().Name, Err: backend.ErrInvalidInput, Detail: config.String()}
		}
	}
	return &Ops{device, tuning}, nil
}

// Device is the device that the primitives run on.
func (o *Ops) Device() *backend.Device { return o.device }

// Tuning is the configuration in force.
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
	c := make(backend.Config, len(config)+len(settings)/2)
	for k, v := range config {
		c[k] = v
	}
	for i := 0; i < len(settings); i += 2 {
		c[settings[i].(string)] = uint32(settings[i+1].(int))
	}
	return c
}

// align rounds a size up to the alignment of kernel arguments.
func align(sizeBytes uint64) uint64 {
	return (sizeBytes + backend.ArgAlignmentBytes - 1) / backend.ArgAlignmentBytes * backend.ArgAlignmentBytes
}
