package primitive

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
)

func allCases(t *testing.T, rows ...uint64) []Case {
	cases, err := Cases(Axes{Rows: rows, Distributions: workload.Distributions()})
	require.NoError(t, err)
	return cases
}

func rigOn(t *testing.T, device *backend.Device, overrides primitive.Tuning) *Rig {
	rig, err := NewRig(device, overrides, Options{Repeat: 2, Seed: 3})
	require.NoError(t, err)
	rig.copyRate = 1e9 // of no interest here
	return rig
}

// Every case of every primitive is right, on every device, and takes some time.
func TestMeasure(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		rig := rigOn(t, device, nil)
		for _, c := range allCases(t, 1, 1000, 1<<14+1) {
			r, err := rig.Measure(t.Context(), c)
			require.NoError(t, err)
			require.Equal(t, 2, r.Times.Runs, "%v", c)
			require.Positive(t, r.Times.Median)
			require.Positive(t, r.LeastBytes)
			require.Positive(t, r.CopyShare())
		}
		require.Zero(t, device.MemoryUse(backend.DeviceLocal).InUse, "nothing is left on the device")
	})
}

// The rows of several pieces of checking come from the same generators.
func TestMeasureSeveralPieces(t *testing.T) {
	devicetest.HostTest(t)
	defer func(rows uint64) { pieceRows = rows }(pieceRows)
	pieceRows = 2 * blockRows
	rig := rigOn(t, hostDevice(t, backend.DeviceOptions{}), nil)
	for _, c := range allCases(t, 2*pieceRows+3) {
		_, err := rig.Measure(t.Context(), c)
		require.NoError(t, err)
	}
}

// A word that is wrong in any answer of any case is found, wherever it is, as is one that was not written.
func TestVerifyFindsWrongWords(t *testing.T) {
	devicetest.HostTest(t)
	device := hostDevice(t, backend.DeviceOptions{})
	rig := rigOn(t, device, nil)
	for _, c := range allCases(t, blockRows+5) {
		benchmark, err := find(c.Primitive)
		require.NoError(t, err)
		b := &bed{Case: c, ctx: t.Context(), ops: rig.ops}
		e := benchmark.set(b)
		require.NoError(t, b.err)
		require.NotEmpty(t, e.answers)
		require.NoError(t, b.verify(&e), "%v", c)
		record := e.record
		for a, answer := range e.answers {
			words := answer.SizeBytes / 4
			for _, word := range []uint64{0, words / 2, words/2 + 1, words - 1} {
				word = min(word, words-1)
				e.record = func(list *backend.List) error {
					err := record(list)
					list.Fill(answer.Part(word*4, 4), 0x5bd1e995)
					return err
				}
				require.ErrorIs(t, b.verify(&e), measure.ErrWrong, "%v: answer %d, word %d", c, a, word)
			}
		}
		e.record = func(*backend.List) error { return nil }
		e.restore = nil
		require.ErrorIs(t, b.verify(&e), measure.ErrWrong, "%v: nothing ran", c)
		b.release()
	}
}

// What does not fit is an error that says so, and leaves nothing behind.
func TestMeasureWithoutRoom(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	rig := rigOn(t, device, nil)
	for _, c := range allCases(t, 1<<18) {
		_, err := rig.Measure(t.Context(), c)
		if c.Primitive != "gather_bits" && c.Primitive != "iota" && c.Primitive != "reduce" {
			require.ErrorIs(t, err, backend.ErrDeviceMemory, "%v", c)
		}
		require.Zero(t, device.MemoryUse(backend.DeviceLocal).InUse)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rig.Measure(ctx, Case{Primitive: "iota", Key: 32, Rows: 1000, Distribution: workload.Uniform})
	require.ErrorIs(t, err, backend.ErrCancelled)
}

func TestCopyRate(t *testing.T) {
	rig, err := NewRig(hostDevice(t, backend.DeviceOptions{DeviceMemoryBytes: 64 << 20}), nil, Options{Repeat: 1})
	require.NoError(t, err)
	rate, err := rig.CopyRate(t.Context())
	require.NoError(t, err)
	require.Greater(t, rate, 1e8)
	again, err := rig.CopyRate(t.Context())
	require.NoError(t, err)
	require.Equal(t, rate, again)
}

func TestCases(t *testing.T) {
	cases, err := Cases(Axes{Names: []string{"sort"}, Payloads: []int{32}, Rows: []uint64{1 << 10, 1000}})
	require.NoError(t, err)
	var names []string
	for _, c := range cases {
		names = append(names, c.String())
	}
	require.Equal(t, []string{
		"primitive=sort key=32 payload=32 rows=2^10 distribution=uniform",
		"primitive=sort key=32 payload=32 rows=1000 distribution=uniform",
		"primitive=sort key=64 payload=32 rows=2^10 distribution=uniform",
		"primitive=sort key=64 payload=32 rows=1000 distribution=uniform",
	}, names)
	all, err := Cases(Axes{Keys: []int{64}, Payloads: []int{64}, Rows: []uint64{1}})
	require.NoError(t, err)
	require.NotEmpty(t, all, "what has no payload is not filtered by it")
	for _, a := range []Axes{
		{Names: []string{"srot"}, Rows: []uint64{1}},
		{Names: []string{"sort"}, Keys: []int{48}, Rows: []uint64{1}},
		{Names: []string{"gather"}, Distributions: []workload.Distribution{workload.High}, Rows: []uint64{1}},
	} {
		_, err := Cases(a)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
}

func hostDevice(t *testing.T, options backend.DeviceOptions) *backend.Device {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, options)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}
