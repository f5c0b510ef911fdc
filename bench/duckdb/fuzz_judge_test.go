package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

var (
	repeatedRows = regexp.MustCompile(`keys of the (left|right) table must be unique, but rows (\d+) and (\d+) both have `)
	deviceNeed   = regexp.MustCompile(`raise device_memory to at least (\d+)(KiB|MiB)`)
	hostNeed     = regexp.MustCompile(`need (\d+) (bytes), the limit is \d+; raise memory_limit`)
)

// judge says whether an error is one that the case should have, or one of a cap that is raised then.
func (r *attempts) judge(ctx context.Context, err error, want *expectation) (again bool, fail *failure) {
	expected := func(outcome string, when bool) (bool, *failure) {
		if !when {
			return false, failf("error", "%v", err)
		}
		r.f.outcomes[outcome]++
		return false, nil
	}
	text := err.Error()
	types := r.mixed()
	refused, of := r.refusals()
	switch {
	case errors.Is(err, backend.ErrUnsupported) && strings.Contains(text, "join stream"):
		return expected("no stream", r.c.Stream > 0 && refused > 0)
	case errors.Is(err, backend.ErrUnsupported) && strings.Contains(text, "strategy hmg"):
		_, ordered := r.ordered()
		return expected("no hmg", ordered || r.c.How == "cross" || r.c.Algorithm != "" && r.c.Algorithm != "smj-um")
	case errors.Is(err, backend.ErrDeviceMemory) && r.deviceMemory > 0 && r.c.Devices > 1 && !deviceNeed.MatchString(text):
		r.deviceMemory *= 2 // how much a device needs follows from the keys that meet there
		return true, nil
	case errors.Is(err, backend.ErrHostMemory) && r.hostMemory > 0 && r.c.Stream > 0 && refused < of &&
		!hostNeed.MatchString(text) && strings.Contains(text, "raise"): // what batches will take is not known
		r.hostMemory *= 2
		return true, nil
	case errors.Is(err, backend.ErrDeviceMemory) && r.deviceMemory > 0:
		r.f.outcomes["short of device memory"]++
		return r.raise(&r.deviceMemory, 0, deviceNeed, err)
	case errors.Is(err, backend.ErrHostMemory) && r.hostMemory > 0:
		r.f.outcomes["short of host memory"]++
		return r.raise(&r.hostMemory, 1, hostNeed, err)
	case errors.Is(err, backend.ErrInvalidInput) && repeatedRows.MatchString(text):
		return r.judgeRepeat(ctx, text, want)
	case errors.Is(err, backend.ErrLimit) && strings.Contains(text, "max_output_rows"):
		return expected("too many rows", r.spec.MaxOutputRows > 0 && want.count > r.spec.MaxOutputRows)
	case errors.Is(err, backend.ErrUnsupported) && strings.Contains(text, "no type holds the values of both"):
		return expected("no common type", r.unmergeable && r.c.How == "full")
	case errors.Is(err, backend.ErrUnsupported) && strings.Contains(text, "does not fit"):
		return expected("time does not fit", r.c.How == "full" &&
			(types[dates] || types[timestamps] || types[instants] || types[durations]))
	}
	return expected("", false)
}

// mixed are the families of keys.
func (r *attempts) mixed() map[family]bool {
	found := map[family]bool{}
	for _, k := range r.c.Keys {
		for _, t := range k.Types {
			found[keyTypes[t].family] = true
		}
	}
	return found
}

// raise raises a cap to what an error says is needed, with which this error must not come again, but for what was
// planned before it could be known: a stream by its first part, which memory makes larger, and for a build side that
// stays, by itself, without the proof of a probe side; and ranges of keys, which are planned once there is memory for
// the codes of all keys. Of tables that are divided, the error says what a part needs, and then what is enough for
// certain.
func (r *attempts) raise(limit *uint64, which int, need *regexp.Regexp, err error) (again bool, fail *failure) {
	all := need.FindAllStringSubmatch(err.Error(), -1)
	if all == nil {
		return false, failf("memory", "no remedy is named: %v", err)
	}
	found, most := all[len(all)-1], 1
	if r.c.Parts > 0 && r.c.Validate != "" || r.c.Team == "hmg" && limit == &r.hostMemory {
		most = 2
	}
	streamed := r.c.Stream > 0 || r.c.Team == "together" || r.c.Team == "scatter"
	if r.raised[which] == most && !streamed {
		return false, failf("memory", "not enough, though an error said so: %v", err)
	}
	number, parseErr := strconv.ParseUint(found[1], 10, 64)
	unit := map[string]uint64{"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}[found[2]]
	if parseErr != nil || number*unit <= *limit {
		return false, failf("memory", "the cap is %d, and less is asked for: %v", *limit, err)
	}
	*limit = number * unit
	r.raised[which]++
	return true, nil
}

// judgeRepeat checks the rows that are said to have the same key.
func (r *attempts) judgeRepeat(ctx context.Context, text string, want *expectation) (again bool, fail *failure) {
	found := repeatedRows.FindStringSubmatch(text)
	side := slices.Index([]string{"left", "right"}, found[1])
	if !r.spec.Validate.Unique(relation.Side(side)) {
		return false, failf("validate", "validate is %s: %s", r.spec.Validate, text)
	}
	first, _ := strconv.ParseInt(found[2], 10, 64)
	other, _ := strconv.ParseInt(found[3], 10, 64)
	from := want.d.from[side]
	repeats, err := want.d.repeats(ctx, side, fmt.Sprintf(" AND n IN (%d, %d)", first+from, other+from))
	if err != nil {
		return false, failf("harness", "%v", err)
	}
	if repeats != 2 {
		return false, failf("validate", "their keys differ: %s", text)
	}
	r.f.outcomes["keys repeat"]++
	return false, nil
}
