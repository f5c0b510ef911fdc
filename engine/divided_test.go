package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
)

// TestTablesAreDivided: tables that exceed the device are divided, also if rows come in the order of the build side.
// The plan says so, and the output is the same as with any other plan.
func TestTablesAreDivided(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left := keyed(t, "k", 20_000, func(i int) int64 { return int64(i*7%15_000) - 1 })
	right := keyed(t, "k", 30_000, func(i int) int64 { return int64(i*11%18_000) - 1 })
	for name, spec := range map[string]join.Spec{
		"inner":                                {},
		"full":                                 {How: join.Full},
		"keys that repeat and must not":        {Validate: join.OneToMany},
		"left order":                           {How: join.Left, Order: join.LeftOrder},
		"left order, build side left":          {Order: join.LeftOrder, BuildSide: join.BuildLeft},
		"right order, build side right":        {How: join.Right, Order: join.RightOrder, BuildSide: join.BuildRight},
		"semi, left order and build side left": {How: join.Semi, Order: join.LeftOrder, BuildSide: join.BuildLeft},
	} {
		t.Run(name, func(t *testing.T) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 640 << 10})
			defer func() { require.NoError(t, done()) }()
			engine := smallEngine(t, device)
			spec.On = onK
			_, err := engine.Plan(t.Context(), left, right, spec)
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			engine.Undivided = false
			spec.On = []string{"k"}
			plan, err := engine.Plan(t.Context(), left, right, spec)
			require.NoError(t, err)
			spec.On[0] = "c" // a plan does not follow what the caller does with the specification
			require.Contains(t, plan.String(), "divided ")
			require.Contains(t, plan.String(), "raise device_memory to at least ")
			result, err := plan.Run(t.Context())
			if spec.Validate != join.Any {
				require.ErrorIs(t, err, backend.ErrInvalidInput)
				return
			}
			require.NoError(t, err)
			defer result.Close()
			parts, _ := result.Parts()
			require.GreaterOrEqual(t, parts, 8)
			var batches []arrow.RecordBatch
			for batch, err := range result.Batches(t.Context()) {
				require.NoError(t, err)
				defer batch.Release()
				batches = append(batches, batch)
			}
			oracle.Require(t, left, right, plan.Layout, batches)
		})
	}
}

// TestSmallGranulesAreNotWorthwhile: tables are divided as soon as that is predicted to take less time than granules so
// small that the build side is walked over and over, though a plan with those would fit.
func TestSmallGranulesAreNotWorthwhile(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipShort(t)
	tables := [2]arrow.Table{keyed(t, "k", 2_000_000, func(i int) int64 { return int64(i) * 7919 % 2_000_003 }),
		keyed(t, "k", 4_000_000, func(i int) int64 { return int64(i) * 7907 % 2_000_003 })}
	spec := join.Spec{On: onK}
	planned := func(capBytes uint64, undivided bool) (text string) {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
		defer func() { require.NoError(t, done()) }()
		engine := smallEngine(t, device)
		engine.GranuleRows, engine.WindowRows, engine.Undivided = 0, 0, undivided
		plan, err := engine.Plan(t.Context(), tables[0], tables[1], spec)
		require.NoError(t, err)
		return plan.String()
	}
	granules, capBytes := 0, uint64(160<<20)
	for ; !strings.Contains(planned(capBytes, false), "divided "); capBytes -= 4 << 20 {
		if strings.Contains(planned(capBytes, false), "granules of at most") {
			granules++
		}
	}
	require.Positive(t, granules, "a few granules are worthwhile")
	require.Contains(t, planned(capBytes, false), "granules is predicted to take ")
	require.Contains(t, planned(capBytes, true), "granules of at most")

	// A plan that is chosen for its memory is not compared with one that is faster, but takes as many granules.
	tables = [2]arrow.Table{keyed(t, "k", 4_000_000, func(i int) int64 { return int64(i % 2) }),
		keyed(t, "k", 40, func(i int) int64 { return int64(i % 2) })}
	frugal := 0
	for capBytes := uint64(32 << 20); capBytes <= 128<<20; capBytes += 8 << 20 {
		text := planned(capBytes, false)
		require.NotContains(t, text, "divided ")
		if strings.Contains(text, "the best in memory and time") && strings.Contains(text, "granules of at most") {
			frugal++
		}
	}
	require.Positive(t, frugal)
}

// TestUndividedTables: a refusal says what would let the tables be divided.
func TestUndividedTables(t *testing.T) {
	devicetest.HostTest(t)
	table := keyed(t, "k", 20_000, func(i int) int64 { return int64(i) })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 64 << 10})
	defer func() { require.NoError(t, done()) }()
	engine := limitedEngine(t, device, 64<<20)
	engine.Undivided = false
	_, err := engine.Plan(t.Context(), table, table, join.Spec{On: onK})
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	require.ErrorContains(t, err, "set temp_dir")
	_, err = engine.Plan(t.Context(), table, table, join.Spec{On: onK, Validate: join.ManyToOne,
		BuildSide: join.BuildLeft})
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	require.NotContains(t, err.Error(), "temp_dir", "keys of the probe side are not proved part by part")
}

// TestMemoryOfParts: where a part does not fit the device either, the error names what this part needs, and what is
// enough for whole tables, with which the join runs: other parts may need more.
func TestMemoryOfParts(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 1300, func(i int) int64 { return int64(i) })
	for _, rows := range []int{4, 400} {
		right := keyed(t, "k", rows, func(i int) int64 { return int64(i * 7 % 1500) })
		for _, spec := range []join.Spec{{}, {How: join.Left, BuildSide: join.BuildLeft}, {Validate: join.ManyToOne}} {
			run := func(capBytes uint64) error {
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
				defer func() { require.NoError(t, done()) }()
				engine := smallEngine(t, device)
				engine.Undivided = false
				spec.On = onK
				_, err := drain(t.Context(), engine, left, right, spec)
				return err
			}
			err := run(16 << 10)
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			part, whole, found := strings.Cut(err.Error(), ", for a part of both sides; undivided: ")
			require.True(t, found, err)
			require.Contains(t, part, "raise device_memory to at least ")
			require.NoError(t, run(needed(t, fmt.Errorf("%w%s", backend.ErrDeviceMemory, whole))), "after %v", err)
		}
	}
}
