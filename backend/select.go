package backend

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// driverAliases are the names under which users know software drivers.
var driverAliases = map[string]string{"lavapipe": "llvmpipe"}

// selectionSynonyms are what users may write for a kind of device, and what to write.
var selectionSynonyms = map[string]string{"cpu": "host", "processor": "host", "gpu": "auto", "cuda": "vulkan",
	"default": "auto"}

// SelectDevice picks the device that spec names from a list of all devices. "auto" (or "") is the best of discrete,
// integrated and virtual GPUs with Vulkan, then of those that only OpenCL has, then the host, and never a software
// driver. Otherwise spec is the index of a GPU, a backend and the number of a GPU among its GPUs, as in "opencl:1", an ID
// or UUID or a unique prefix of one, a backend name, or a part of the name of the device or its driver, ignoring case.
// Twins count once, but for the number behind a backend. A number never means the host or a software driver: these
// would take the numbers of GPUs whose driver fails. Errors: ErrNoDevice, with the candidates, if no usable device
// matches; ErrInvalidInput if several do.
func SelectDevice(devices []DeviceInfo, spec string) (*DeviceInfo, error) {
	if spec == "" || spec == "auto" {
		best := -1
		for i := range devices {
			d := &devices[i]
			if d.Unusable == "" && d.Type != Software && (best < 0 || d.preference() < devices[best].preference()) {
				best = i
			}
		}
		if best < 0 {
			return nil, noDevice("no usable GPU and no host backend", devices)
		}
		return &devices[best], nil
	}
	if number, err := strconv.Atoi(spec); err == nil && len(spec) < leastPrefix {
		return deviceAt(devices, number)
	}
	low := strings.ToLower(spec)
	if of, text, ok := strings.Cut(low, ":"); ok && len(text) < leastPrefix {
		if number, err := strconv.Atoi(text); err == nil {
			return deviceOf(devices, of, number)
		}
	}
	name := low
	if alias, ok := driverAliases[low]; ok {
		name = alias
	}
	for _, fits := range []func(d *DeviceInfo) bool{
		func(d *DeviceInfo) bool { return strings.EqualFold(d.ID, spec) || strings.EqualFold(d.UUID, spec) },
		func(d *DeviceInfo) bool {
			return len(low) >= leastPrefix && (strings.HasPrefix(strings.ToLower(d.ID), low) || strings.HasPrefix(strings.ToLower(d.UUID), low))
		},
		func(d *DeviceInfo) bool { return d.Backend == low },
		func(d *DeviceInfo) bool {
			return strings.Contains(strings.ToLower(d.Name), name) || strings.Contains(strings.ToLower(d.Driver), name)
		},
	} {
		var found []*DeviceInfo
		for i := range devices {
			if fits(&devices[i]) {
				found = append(found, &devices[i])
			}
		}
		usable := slices.DeleteFunc(slices.Clone(found), func(d *DeviceInfo) bool {
			return d.Unusable != "" || d.TwinOf != "" && slices.ContainsFunc(found, func(o *DeviceInfo) bool { return o.ID == d.TwinOf && o.Unusable == "" })
		})
		switch {
		case len(usable) == 1:
			return usable[0], nil
		case len(usable) > 1:
			var ids []string
			for _, d := range usable {
				ids = append(ids, d.ID)
			}
			return nil, fmt.Errorf("device %q: %w: matches %s; name one of them", spec, ErrInvalidInput, strings.Join(ids, ", "))
		case len(found) > 0:
			return nil, fmt.Errorf("device %q: %w: %s cannot be used: %s", spec, ErrNoDevice, found[0].Name, found[0].Unusable)
		}
	}
	what := fmt.Sprintf("no device matches %q", spec)
	if meant := selectionSynonyms[low]; meant != "" {
		what += fmt.Sprintf(" (did you mean %q?)", meant)
	}
	return nil, noDevice(what, devices)
}

// leastPrefix is the length from which on the beginning of an ID or UUID is taken for one.
const leastPrefix = 4

// preference orders devices for automatic selection; a lower value is preferred.
func (d *DeviceInfo) preference() int {
	if d.Backend == "opencl" && !d.CPULike() {
		return int(Virtual) + int(d.Type) // behind every GPU with Vulkan
	}
	if d.CPULike() {
		return 2*int(Virtual) + int(d.Type)
	}
	return int(d.Type)
}

// deviceOf returns the GPU with a number, counted from 0, among all GPUs of a backend.
func deviceOf(devices []DeviceInfo, of string, number int) (*DeviceInfo, error) {
	at := 0
	for i := range devices {
		d := &devices[i]
		if d.Backend != of || d.CPULike() {
			continue
		}
		if at == number {
			if d.Unusable != "" {
				return nil, fmt.Errorf("device %s:%d: %w: %s cannot be used: %s", of, number, ErrNoDevice, d.Name, d.Unusable)
			}
			return d, nil
		}
		at++
	}
	return nil, noDevice(fmt.Sprintf("%s has no GPU number %d; software drivers are chosen by name", of, number), devices)
}

func deviceAt(devices []DeviceInfo, index int) (*DeviceInfo, error) {
	for i := range devices {
		switch d := &devices[i]; {
		case d.Index != index:
		case d.Type == Host || d.Type == Software:
			return nil, noDevice(fmt.Sprintf("no GPU has index %d", index), devices)
		case d.Unusable != "":
			return nil, fmt.Errorf("device %d: %w: %s cannot be used: %s", index, ErrNoDevice, d.Name, d.Unusable)
		default:
			return d, nil
		}
	}
	return nil, noDevice(fmt.Sprintf("no GPU has index %d", index), devices)
}

// noDevice lists what selects the devices: the indexes of GPUs, and the IDs of others.
func noDevice(what string, devices []DeviceInfo) error {
	names := make([]string, len(devices))
	for i, d := range devices {
		selector := strconv.Itoa(d.Index)
		if d.Type == Host || d.Type == Software {
			selector = d.ID
		}
		names[i] = fmt.Sprintf("%s (%s)", selector, d.Name)
		if d.Unusable != "" {
			names[i] += " (unusable: " + d.Unusable + ")"
		}
	}
	return fmt.Errorf("%w: %s; choose one of %s", ErrNoDevice, what, strings.Join(names, ", "))
}
