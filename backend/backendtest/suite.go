// Package backendtest is the conformance suite of the backends: [Run] holds a driver, and a [backend.Device] above it,
// against the contract of package backend.
package backendtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
)

// Open opens a logical device. It is called several times per test, also while drivers that it returned before are
// open; those must be of the same physical device. The caller closes the driver.
type Open func(t *testing.T) backend.Driver

// Options describes the driver to the suite.
type Options struct {
	// Order says whether the driver runs commands in an adversarial order. If so, the suite also checks that a
	// suppressed barrier or wait shows as a wrong result.
	Order Order
	// Effort is the size of the matrix.
	Effort Effort
	// Paths are the paths of links to check, which the driver must have; nil: all that it has.
	Paths []link.Path
	// NoCatalogue leaves out the kernels of the catalogue, where compiling them takes long and the tests of package
	// kernel run them on the driver, too.
	NoCatalogue bool
}

// Order is a driver's order of commands where the contract leaves it open.
type Order uint8

const (
	Natural  Order = iota // as it is fast; a missing barrier may go unseen
	Shuffled              // adversarially and deterministically, see host.Options.Shuffle
)

// Effort is how much of its matrix the suite runs.
type Effort uint8

const (
	Full  Effort = iota
	Short        // fewer and smaller cases, for slow set-ups such as validation layers; `go test -short` implies it
)

// suite is what every check gets.
type suite struct {
	open   Open
	order  Order
	effort Effort
	only   []link.Path

	noCatalogue bool
}

// Run runs every check as a subtest. The driver is closed by the suite; an error of Close is a failure.
func Run(t *testing.T, open func(t *testing.T) backend.Driver, options Options) {
	s := newSuite(open, options)
	for _, group := range []struct {
		name   string
		checks []check
	}{
		{"Info", infoChecks}, {"Memory", memoryChecks}, {"Transfer", transferChecks}, {"Kernel", kernelChecks},
		{"Dispatch", dispatchChecks}, {"Timeline", timelineChecks}, {"Concurrency", concurrencyChecks},
		{"Misuse", misuseChecks}, {"Device", deviceChecks}, {"Peer", peerChecks}, {"Graph", graphChecks},
		{"Raster", rasterChecks},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.checks {
				t.Run(c.name, func(t *testing.T) { c.run(t, s) })
			}
		})
	}
}

// RunLinks runs only the checks of links, for a driver with other paths.
func RunLinks(t *testing.T, open func(t *testing.T) backend.Driver, options Options) {
	s := newSuite(open, options)
	for _, c := range peerChecks {
		t.Run(c.name, func(t *testing.T) { c.run(t, s) })
	}
}

func newSuite(open Open, options Options) *suite {
	s := &suite{open: open, order: options.Order, effort: options.Effort, only: options.Paths,
		noCatalogue: options.NoCatalogue}
	if testing.Short() {
		s.effort = Short
	}
	return s
}

// check is one property of the contract.
type check struct {
	name string
	run  func(t *testing.T, s *suite)
}

// pick returns full or short, after the effort.
func (s *suite) pick(full, short int) int {
	if s.effort == Short {
		return short
	}
	return full
}

// waitLimit is the limit of waits that must succeed; generous, as machines are shared and drivers slow.
const waitLimit = 2 * time.Minute

// openDevice opens a driver under a Device that is closed, without an error, when the test ends. What the test
// registered for its end after this call is done before.
func (s *suite) openDevice(t *testing.T, options backend.DeviceOptions) *backend.Device {
	t.Helper()
	if options.WaitLimit == 0 {
		options.WaitLimit = waitLimit
	}
	if s.effort == Short {
		options.LinkChunkBytes = backend.LeastChunkBytes // so that what has many chunks is small
	}
	device := backend.NewDevice(s.open(t), options)
	t.Cleanup(func() { require.NoError(t, device.Close(), "Close of the device") })
	return device
}

// requireOneOf requires an error that wraps one of the sentinels and says something.
func requireOneOf(t *testing.T, err error, sentinels ...error) {
	t.Helper()
	require.Error(t, err)
	require.NotEmpty(t, err.Error())
	for _, sentinel := range sentinels {
		if isError(err, sentinel) {
			return
		}
	}
	require.Failf(t, "wrong sentinel", "%v wraps none of %v", err, sentinels)
}

var background = context.Background()
