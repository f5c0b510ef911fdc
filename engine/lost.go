package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/query"
)

// A join of tables, or of sources that can be read again, during which a device is lost or out of memory before its
// first rows begins again on the devices that are left. Later, other devices can only join what the one that failed was
// joining ([query.Stats]). Joins that follow leave lost devices out from the start.

// able returns the engine without the devices that were lost, and lists these. The error is ErrDeviceLost if all were.
func (e *Engine) able() (able *Engine, lost []query.DeviceFailure, err error) {
	reasons := make([]error, len(e.Engines()))
	for i, on := range e.Engines() {
		reasons[i] = on.Device().Lost()
	}
	if able, lost = e.without(reasons); able == nil {
		err = fmt.Errorf("the engine has no device that was not lost; open a new one: %w", errors.Join(reasons...))
	}
	return able, lost, err
}

// without returns the engine on the devices for which there is no reason to leave them out, nil if there are none, and
// lists the others.
func (e *Engine) without(reasons []error) (able *Engine, out []query.DeviceFailure) {
	var left []*query.Engine
	var numbers []int
	for i, on := range e.Engines() {
		if reasons[i] == nil {
			left, numbers = append(left, on), append(numbers, i)
			continue
		}
		out = append(out, query.DeviceFailure{Device: on.Device().Info().Name, Error: reasons[i].Error()})
	}
	switch {
	case len(out) == 0:
		return e, nil
	case len(left) == 0:
		return nil, out
	}
	on := *e
	on.Engine, on.others = left[0], left[1:]
	if e.Wires != nil {
		on.Wires = e.Wires.Of(numbers)
	}
	return &on, out
}

// reportWithout adds to the result of a join the devices that were left out from the start.
func reportWithout(devices []query.DeviceFailure) func(*Result, error) (*Result, error) {
	return func(result *Result, err error) (*Result, error) {
		if result != nil {
			result.without = append(slices.Clone(devices), result.without...)
		}
		return result, err
	}
}

// orOnOthers begins a join on the devices of the engine and, if some of them fail, again on the others. If none would
// be left, because the drivers of all are out of memory, it begins again on one of them. It does not begin again if the
// consumer of the join, which may be nil, has kept rows by then.
func (e *Engine) orOnOthers(consumer deliver.Consumer, begin func(on *Engine) (*Result, error)) (*Result, error) {
	engines := e.Engines()
	refusals, reasons := make([]int64, len(engines)), make([]error, len(engines))
	for i, on := range engines {
		refusals[i] = on.Device().Refusals()
	}
	kept := deliver.Kept(consumer)
	result, err := begin(e)
	if !errors.Is(err, backend.ErrDeviceLost) && !errors.Is(err, backend.ErrDeviceMemory) ||
		deliver.Kept(consumer) != kept {
		return result, err
	}
	failing, alive := 0, -1 // their number; the first that is not lost
	for i, on := range engines {
		reasons[i] = on.Device().Lost()
		if reasons[i] == nil && alive < 0 {
			alive = i
		}
		if reasons[i] == nil && errors.Is(err, backend.ErrDeviceMemory) && on.Device().Refusals() > refusals[i] {
			reasons[i] = err
		}
		if reasons[i] != nil {
			failing++
		}
	}
	if len(engines) > 1 && failing == len(engines) && alive >= 0 {
		reasons[alive] = nil
	}
	others, failed := e.without(reasons)
	if others == nil || len(failed) == 0 {
		return nil, err
	}
	result, onOthers := begin(others)
	switch {
	case onOthers == nil:
		result.failed = append(failed, result.failed...)
		return result, nil
	case e.Closed() != nil: // which may have come before the second attempt began
		return nil, e.Closed()
	case errors.Is(onOthers, backend.ErrCancelled):
		return nil, onOthers
	}
	return nil, fmt.Errorf("%w; without the device: %w", err, onOthers)
}
