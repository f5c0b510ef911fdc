package join

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/query"
)

// A join of tables, or of sources that can be read again, that loses a device before its first rows begins again on the
// devices that are left. Later, other devices can only join what the one that is lost was joining ([query.Stats]).

// orOnOthers returns what a join began, or where devices were lost, what it begins again on the others.
func (e *Engine) orOnOthers(result *Result, err error, again func(others *Engine) (*Result, error)) (*Result, error) {
	if !errors.Is(err, backend.ErrDeviceLost) {
		return result, err
	}
	others, lost := *e, []query.DeviceFailure(nil)
	left := slices.DeleteFunc(e.Engines(), func(on *query.Engine) bool {
		reason := on.Device().Lost()
		if reason != nil {
			lost = append(lost, query.DeviceFailure{Device: on.Device().Info().Name, Error: reason.Error()})
		}
		return reason != nil
	})
	if len(left) == 0 || len(lost) == 0 {
		return result, err
	}
	others.Engine, others.others, others.Wires = left[0], left[1:], nil // wires are those of all devices
	result, onOthers := again(&others)
	if onOthers != nil {
		return nil, fmt.Errorf("%w; without the device: %w", err, onOthers)
	}
	result.lost = append(lost, result.lost...)
	return result, nil
}
