package vulkan

import (
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// comparisons is how often the clocks are compared; the one that took the shortest time counts.
const comparisons = 8

// Compare implements [backend.Clock] with VK_KHR_calibrated_timestamps, or VK_EXT_calibrated_timestamps. The clock of
// the device is read between two readings of the host's: the deviation is half the time between them, and what the
// driver adds. All queues with time stamps have that clock.
func (d *driver) Compare() (device time.Duration, host time.Time, deviation time.Duration, ok bool) {
	t := d.lines[backend.Compute]
	if !d.p.tellsTime || t.tickMask == 0 || d.enter("query") != nil {
		return 0, time.Time{}, 0, false
	}
	defer d.leave()
	for range comparisons {
		var ticks, slack C.uint64_t
		before := time.Now()
		if result(C.sj_now(d.shim, &ticks, &slack)) != success {
			return 0, time.Time{}, 0, false
		}
		took := time.Since(before)
		if off := took/2 + time.Duration(slack); !ok || off < deviation {
			device, host, deviation, ok = t.durations([]uint64{uint64(ticks)})[0], before.Add(took/2), off, true
		}
	}
	return device, host, deviation, ok
}
