package engine_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// TestManyPairsUnderCaps: keys that are frequent on both sides make many times more output than there is memory for, in
// units that no window has room for. Whatever is planned runs.
func TestManyPairsUnderCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	few := keyed(t, "k", 6000, func(i int) int64 { return int64(i % 12) })
	hot := keyed(t, "k", 20_000, func(i int) int64 { return int64(max(1200, i)) })
	ran := 0
	for _, c := range []struct {
		table arrow.Table
		rows  int64
	}{{few, 12 * 500 * 500}, {hot, 1201*1201 + 20_000 - 1201}} {
		for _, algorithm := range algorithms {
			for capBytes := uint64(3 << 20); capBytes <= 24<<20; capBytes = capBytes * devicetest.Short[uint64](18, 4) / 3 {
				describe := fmt.Sprintf("%s, %d bytes, %d rows of output", algorithm, capBytes, c.rows)
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
				engine := smallEngine(t, device)
				plan, err := engine.Plan(context.Background(), c.table, c.table,
					join.Spec{On: onK, Algorithm: algorithm, BatchRows: 1 << 16})
				if err == nil {
					rows, err := drawn(context.Background(), plan)
					require.NoError(t, err, describe)
					require.Equal(t, c.rows, rows, describe)
					ran++
				}
				require.NoError(t, done())
			}
		}
	}
	require.Greater(t, ran, devicetest.Short(7, 40))
}

// TestHotKeyUnderCaps: a sample misses the only key that both sides have, which all rows of one side have, so that there
// are many times more pairs than are planned for, and the other side seems to be in order. Whatever is planned runs.
func TestHotKeyUnderCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	const rows = 400_000
	left := keyed(t, "k", 300_000, func(i int) int64 { return int64(i + 1) })
	right := keyed(t, "k", rows, func(int) int64 { return 7 })
	ran, step := 0, devicetest.Short[uint64](15<<20, 2<<20)
	if devicetest.Full() {
		step = 1 << 20
	}
	for _, columns := range [][]string{{"k"}, nil} {
		for _, algorithm := range algorithms[1:] {
			for _, build := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
				for capBytes := uint64(5 << 20); capBytes <= 20<<20; capBytes += step {
					device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
					ops, err := primitive.New(device, nil)
					require.NoError(t, err)
					plan, err := engine.NewEngine(ops, memory.DefaultAllocator, 0).Plan(t.Context(), left, right,
						join.Spec{On: onK, Algorithm: algorithm, BuildSide: build, Columns: columns})
					if err == nil {
						n, err := drawn(t.Context(), plan)
						require.NoError(t, err, "%s, build side %s, columns %v, %d bytes", algorithm, build, columns, capBytes)
						require.EqualValues(t, rows, n)
						ran++
					}
					require.NoError(t, done())
				}
			}
		}
	}
	require.Greater(t, ran, devicetest.Short(15, 45))
}

// forKeyPlaces runs a test of the host backend with key codes made by the host, and with key codes made by the device.
func forKeyPlaces(t *testing.T, test func(t *testing.T, place query.KeyPlace)) {
	devicetest.HostTest(t)
	for name, place := range map[string]query.KeyPlace{"host": query.KeysOnHost, "device": query.KeysOnDevice} {
		t.Run("keys by the "+name, func(t *testing.T) { test(t, place) })
	}
}

// TestViolationUnderCap: the memory that the plan asks for covers the join and the proof. With it a key that repeats is
// named, wherever it is in the order of the keys.
func TestViolationUnderCap(t *testing.T) {
	devicetest.SkipRace(t)
	forKeyPlaces(t, testViolationUnderCap)
}

func testViolationUnderCap(t *testing.T, place query.KeyPlace) {
	const rows = 1<<20 + 5
	for _, second := range devicetest.Short([]int{1 << 20}, []int{1, 1 << 20, rows - 1}) { // of the rows, which are in order
		table := keyed(t, "k", rows, func(i int) int64 {
			if i >= second {
				i--
			}
			return int64(rows - i) // not in order
		})
		run := func(capBytes uint64) error {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			defer func() { require.NoError(t, done()) }()
			engine := smallEngine(t, device)
			engine.Keys = place
			_, err := drain(context.Background(), engine, table, table,
				join.Spec{On: onK, How: join.Semi, Columns: []string{"k"}, Validate: join.OneToOne})
			return err
		}
		err := run(needed(t, run(2<<20)))
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, fmt.Sprintf("rows %d and %d both have k=%d", second-1, second, rows-second+1))
	}
}

// TestExactCap: the proof that keys are unique runs with exactly the device memory that errors name.
func TestExactCap(t *testing.T) {
	devicetest.SkipRace(t)
	forKeyPlaces(t, testExactCap)
}

func testExactCap(t *testing.T, place query.KeyPlace) {
	proofs := 0
	for _, rows := range [][2]int{{300, 200}, {2033, 20_170}, {61_519, 59_165}, {172_636, 157_376}, {193_606, 113_873}} {
		for _, step := range []int64{1, 1 << 33} { // keys of 4 and of 8 bytes
			table := func(rows int) arrow.Table {
				return keyed(t, "k", rows, func(i int) int64 { return int64(i*7919%rows) * step })
			}
			left, right := table(rows[0]), table(rows[1])
			within := func(capBytes uint64) error {
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
				defer func() { require.NoError(t, done()) }()
				engine := smallEngine(t, device)
				engine.Keys = place
				_, err := drain(t.Context(), engine, left, right, join.Spec{On: onK, How: join.Semi, Columns: []string{"k"},
					Validate: join.OneToMany, BuildSide: join.BuildRight})
				return err
			}
			err := within(1)
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			named := regexp.MustCompile(`(are unique) takes (\d+) bytes|needs (\d+) bytes`).FindStringSubmatch(err.Error())
			require.NotNil(t, named, "%v", err)
			if named[1] != "" {
				proofs++
			}
			need, err := strconv.ParseUint(named[2]+named[3], 10, 64)
			require.NoError(t, err)
			require.NoError(t, within(need), "%d x %d rows", rows[0], rows[1])
		}
	}
	require.Positive(t, proofs)
}

// TestOrderUnderCaps: runs of row numbers are as long as memory allows, whatever the cap, and what is free lies in
// several places.
func TestOrderUnderCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	const rows = 300_000
	left, right := keyed(t, "k", 6000, primary), keyed(t, "k", rows, foreign(6000))
	ran := 0
	for capBytes := uint64(3 << 20); capBytes < 24<<20; capBytes = capBytes * 9 / 8 {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		plan, err := engine.NewEngine(ops, memory.DefaultAllocator, 0).Plan(t.Context(), left, right,
			join.Spec{On: onK, Columns: []string{"k"}, Order: join.RightOrder, Algorithm: "phj-om"})
		if err == nil {
			n, err := drawn(t.Context(), plan)
			require.NoError(t, err, "%d bytes", capBytes)
			require.EqualValues(t, rows, n)
			ran++
		}
		require.NoError(t, done())
	}
	require.Greater(t, ran, 10)
}

// TestKeylessUnderCap: rows without a key are on the device while they are left out, and plans know it.
func TestKeylessUnderCap(t *testing.T) {
	devicetest.SkipRace(t)
	forKeyPlaces(t, testKeylessUnderCap)
}

func testKeylessUnderCap(t *testing.T, place query.KeyPlace) {
	const rows = 400_000
	left, turn := keyed(t, "k", 20_000, primary), 0
	for name, null := range map[string]func(i int) bool{
		"half": func(i int) bool { return i%2 > 0 }, "most": func(i int) bool { return i%100 > 0 },
		"the last": func(i int) bool { return i > rows/4 }, "all": func(int) bool { return true }, // in one granule or two
	} {
		right := keyed(t, "k", rows, func(i int) int64 {
			if null(i) {
				return -1
			}
			return foreign(20_000)(i)
		})
		for _, algorithm := range algorithms {
			for _, materialize := range []join.Materialize{join.MaterializeHost, join.MaterializeDevice} {
				for _, build := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
					if turn++; !devicetest.Turn(turn, 3) {
						continue
					}
					spec := join.Spec{On: onK, Algorithm: algorithm, Columns: []string{"b", "a_right"}, BuildSide: build,
						Materialize: materialize, How: join.Left}
					within := func(capBytes uint64) error {
						device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
						defer func() { require.NoError(t, done()) }()
						ops, err := primitive.New(device, nil)
						require.NoError(t, err)
						engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
						engine.Keys, engine.Undivided = place, true
						_, err = drain(t.Context(), engine, left, right, spec)
						return err
					}
					least := needed(t, within(1))
					for _, capBytes := range devicetest.Short([]uint64{least}, []uint64{least, least * 5 / 4, least * 3 / 2}) {
						require.NoError(t, within(capBytes), "%s by %s, %s, build side %s, %d bytes", name, algorithm,
							materialize, build, capBytes)
					}
				}
			}
		}
	}
}

// TestSmallJoins: whatever the size, a join runs with exactly the device memory that its refusal names, and small ones
// take little: two tables of 1,000 rows less than 256 KiB.
func TestSmallJoins(t *testing.T) {
	devicetest.SkipRace(t)
	forKeyPlaces(t, testSmallJoins)
}

func testSmallJoins(t *testing.T, place query.KeyPlace) {
	for n, rows := range [][2]int{{1, 1}, {10, 30}, {1000, 1000}, {1638, 14_666}, {30_000, 20_000}, {112_354, 93_721}} {
		left := keyed(t, "k", rows[0], primary)
		right := keyed(t, "k", rows[1], func(i int) int64 {
			if n%2 > 0 && i%3 == 0 {
				return -1
			}
			return foreign(rows[0])(i)
		})
		for a, algorithm := range algorithms[1:] {
			for s, spec := range []join.Spec{{Materialize: join.MaterializeHost}, {Materialize: join.MaterializeDevice},
				{How: join.Full, Materialize: join.MaterializeDevice}, {How: join.Full, Order: join.LeftOrder},
				{How: join.Semi, Materialize: join.MaterializeHost}, {How: join.RightAnti, Output: join.Count}} {
				if !devicetest.Turn(n+a+s, 3) {
					continue
				}
				spec.On, spec.Algorithm = onK, algorithm
				within := func(capBytes uint64) error {
					device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
					defer func() { require.NoError(t, done()) }()
					ops, err := primitive.New(device, nil)
					require.NoError(t, err)
					engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
					engine.Keys, engine.Undivided = place, true
					if spec.Output == join.Count {
						plan, err := engine.Plan(t.Context(), left, right, spec)
						if err != nil {
							return err
						}
						result, err := plan.Run(t.Context())
						if err == nil {
							result.Close()
						}
						return err
					}
					_, err = drain(t.Context(), engine, left, right, spec)
					return err
				}
				err := within(1)
				require.ErrorIs(t, err, backend.ErrDeviceMemory)
				named := regexp.MustCompile(`needs (\d+) bytes`).FindStringSubmatch(err.Error())
				require.NotNil(t, named, err)
				need, err := strconv.ParseUint(named[1], 10, 64)
				require.NoError(t, err)
				describe := fmt.Sprintf("%s of %d x %d rows by %s: %d bytes", spec.How, rows[0], rows[1], algorithm, need)
				require.NoError(t, within(need), describe)
				if rows[0] == 1000 && spec.Materialize == join.MaterializeHost {
					require.Less(t, need, uint64(256<<10), describe)
				}
			}
		}
	}
}

// TestBothCaps: where the device and the host are short of memory, what the one error says and what the other says are
// enough, one after the other.
func TestBothCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	table, ctx := keyed(t, "k", 100, primary), context.Background()
	tried, more := 0, devicetest.Short[uint64](16, 4) // quarters of a cap that the next one has more
	if devicetest.Full() {
		more = 1
	}
	for _, order := range []join.Order{join.Unordered, join.LeftOrder} {
		for deviceBytes := uint64(100 << 10); deviceBytes < 4<<20; deviceBytes += deviceBytes * more / 4 {
			for hostBytes := uint64(200 << 10); hostBytes < 8<<20; hostBytes += hostBytes * more / 4 {
				plan := func(deviceBytes uint64) error {
					device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: deviceBytes})
					engine := limitedEngine(t, device, hostBytes)
					built, err := engine.Build(ctx, table, table.Schema(), 0, join.Spec{On: onK, Order: order})
					if err == nil {
						built.Close()
					}
					require.NoError(t, done())
					return err
				}
				err := plan(deviceBytes)
				if errors.Is(err, backend.ErrDeviceMemory) {
					tried++
					require.NotErrorIs(t, plan(needed(t, err)), backend.ErrDeviceMemory, "after %v", err)
				}
			}
		}
	}
	require.Positive(t, tried)
}

// TestProofOfProbeSideUnderCap: that the keys of a table are unique which a kept build side is joined with is proved in
// what memory is free, or refused with as much as would be enough. The build side is as good as before then.
func TestProofOfProbeSideUnderCap(t *testing.T) {
	devicetest.HostTest(t)
	ascending := func(i int) int64 { return int64(i) }
	few, some, many := keyed(t, "k", 1000, primary), keyed(t, "k", 2000, ascending), keyed(t, "k", 300_000, ascending)
	run := func(capBytes uint64) error {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
		defer func() { require.NoError(t, done()) }()
		built, err := smallEngine(t, device).Build(t.Context(), few, many.Schema(), 1000,
			join.Spec{On: onK, Validate: join.OneToOne, Output: join.Count})
		require.NoError(t, err)
		defer built.Close()
		joined := func(probe arrow.Table) (*engine.Result, error) {
			result, err := built.Join(t.Context(), probe)
			if err == nil {
				result.Close()
			}
			return result, err
		}
		_, err = joined(many)
		first, again := joined(some)
		require.NoError(t, again)
		second, again := joined(some)
		require.NoError(t, again)
		require.Same(t, first.Query().Unique[0], second.Query().Unique[0], "the build side is proved once")
		return err
	}
	least := needed(t, run(1<<20))
	require.Greater(t, least, uint64(2<<20))
	require.NoError(t, run(least))
}

// TestMemoryOfBothProofs: where the keys of both sides are proved to be unique, the larger proof counts, whichever side is
// the build side, so that the memory that an error names is enough.
func TestMemoryOfBothProofs(t *testing.T) {
	devicetest.HostTest(t)
	for _, rows := range [][2]int{{0, 1}, {1, 0}, {1, 2}, {40, 300}, {300, 40}} {
		left, right := keyed(t, "k", rows[0], primary), keyed(t, "k", rows[1], primary)
		for _, build := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
			run := func(limitBytes uint64) error {
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
				defer func() { require.NoError(t, done()) }()
				_, err := drain(t.Context(), limitedEngine(t, device, limitBytes), left, right,
					join.Spec{On: onK, Validate: join.OneToOne, BuildSide: build, Columns: []string{"k"}})
				return err
			}
			require.NoError(t, run(neededOfHost(t, run(1))), "%d x %d rows, build side %s", rows[0], rows[1], build)
		}
	}
}

// neededOfHost is the memory_limit that an error says is enough.
func neededOfHost(t *testing.T, err error) (sizeBytes uint64) {
	require.ErrorIs(t, err, backend.ErrHostMemory)
	named := regexp.MustCompile(`need (\d+) bytes`).FindStringSubmatch(err.Error())
	require.NotNil(t, named, err)
	sizeBytes, err = strconv.ParseUint(named[1], 10, 64)
	require.NoError(t, err)
	return sizeBytes
}

// TestRestOfBuiltUnderCap: rows of a kept build side that have no partner are output with the memory that the build side
// was planned with, though its plan expects a partner for each.
func TestRestOfBuiltUnderCap(t *testing.T) {
	devicetest.HostTest(t)
	none := keyed(t, "k", 0, primary)
	for _, rows := range []int{2, 300, 5000} {
		table := keyed(t, "k", rows, primary)
		run := func(limitBytes uint64) error {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
			defer func() { require.NoError(t, done()) }()
			built, err := limitedEngine(t, device, limitBytes).Build(t.Context(), table, none.Schema(), 100,
				join.Spec{On: onK, How: join.RightAnti, BuildSide: join.BuildRight})
			if err != nil {
				return err
			}
			defer built.Close()
			result, err := built.Join(t.Context(), none)
			require.NoError(t, err)
			defer result.Close()
			for batch, err := range result.Batches(t.Context()) {
				require.NoError(t, err, "%d rows, %d bytes", rows, limitBytes)
				batch.Release()
			}
			require.EqualValues(t, rows, result.Rows())
			return nil
		}
		require.NoError(t, run(neededOfHost(t, run(1))))
	}
}
