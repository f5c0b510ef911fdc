package primitive

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// tampered is a host driver whose kernels do something else in some configurations.
type tampered struct {
	backend.Driver
	run func(config backend.Config) func(args [][]byte, group uint32, run func(uint32)) // nil: as it is
}

func (d *tampered) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	if run := d.run(config); run != nil {
		other, before := *spec, spec.Reference
		other.Reference = func(config backend.Config) backend.Reference {
			return func(args [][]byte, params []uint32) func(group uint32) {
				reference := before(config)(args, params)
				return func(group uint32) { run(args, group, reference) }
			}
		}
		spec = &other
	}
	return d.Driver.Compile(spec, config)
}

func tamperedDevice(t *testing.T,
	run func(config backend.Config) func([][]byte, uint32, func(uint32))) *backend.Device {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(&tampered{driver, run}, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

var gatherProblem = Problem{Case{Primitive: "gather", Key: 32, Rows: 10_000, Distribution: workload.Uniform}, "gather",
	backend.Config{"value_bits": 32}}

func items(n uint32) backend.Config { return backend.Config{"workgroup": 1, "items": n} }

// The present configuration is slow, one candidate does nothing, one leaves out a row, one does not build: the right
// and fast one is chosen, and takes effect as a user row.
func TestTune(t *testing.T) {
	device := tamperedDevice(t, func(config backend.Config) func([][]byte, uint32, func(uint32)) {
		switch config["items"] {
		case 65536: // the present one
			return func(args [][]byte, group uint32, run func(uint32)) {
				time.Sleep(20 * time.Millisecond)
				run(group)
			}
		case 1000:
			return func([][]byte, uint32, func(uint32)) {}
		case 2000:
			return func(args [][]byte, group uint32, run func(uint32)) {
				run(group)
				if out := backend.Words(args[2]); group == 3 {
					out[3*2000+17]++
				}
			}
		}
		return nil
	})
	rig := rigOn(t, device, nil)
	var seen []int
	choice, err := rig.Tune(t.Context(), gatherProblem, []backend.Config{items(1000), items(2000), items(4000),
		items(65536), {"workgroup": 0, "items": 1}}, func(done, total int) {
		require.Equal(t, 5, total, "the present one counts once")
		seen = append(seen, done)
	})
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3, 4}, seen)
	require.True(t, choice.Better)
	require.Equal(t, items(4000), choice.Best.Config)
	require.Equal(t, uint32(65536), choice.Present.Config["items"])
	require.GreaterOrEqual(t, choice.Present.Times.Median, 20*time.Millisecond)
	require.Less(t, choice.Best.Times.Median, 20*time.Millisecond)
	require.Len(t, choice.Trials, 5)
	faults := make(map[string]error)
	for i, trial := range choice.Trials {
		if i < 2 {
			require.NoError(t, trial.Fault)
			continue
		}
		faults[trial.Config.String()] = trial.Fault
	}
	require.ErrorIs(t, faults[items(1000).String()], measure.ErrWrong)
	require.ErrorIs(t, faults[items(2000).String()], measure.ErrWrong)
	require.ErrorContains(t, faults[items(2000).String()], "row 6017")
	require.ErrorIs(t, faults["items=1 workgroup=0"], backend.ErrInvalidInput)

	row := choice.UserRow(device.Info(), "2026-11-21")
	require.Contains(t, row.Measured, "2026-11-21, primitive=gather key=32")
	require.Contains(t, row.Measured, "items=65536 workgroup=1 took")
	user, problems := primitive.UserTuning([]primitive.UserRow{row}, device.Info())
	require.Empty(t, problems)
	again := rigOn(t, device, user)
	require.Equal(t, items(4000), again.ops.Tuning().Config("gather", backend.Config{"value_bits": 32}))
	require.Equal(t, uint32(65536), again.ops.Tuning().Config("gather", backend.Config{"value_bits": 64})["items"],
		"the other variant stays")
}

// A wrong present configuration is an error, as is a device that is lost; neither is a candidate that is refused.
func TestTuneFails(t *testing.T) {
	present := func(do func(args [][]byte)) *backend.Device {
		return tamperedDevice(t, func(config backend.Config) func([][]byte, uint32, func(uint32)) {
			if config["items"] != 65536 {
				return nil
			}
			return func(args [][]byte, _ uint32, _ func(uint32)) { do(args) }
		})
	}
	_, err := rigOn(t, present(func([][]byte) {}), nil).Tune(t.Context(), gatherProblem, []backend.Config{items(64)},
		nil)
	require.ErrorIs(t, err, measure.ErrWrong)

	driver, err := host.New(host.Options{Faults: host.Faults{LoseAtSubmit: 12}}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	defer device.Close() // a lost device may say so
	_, err = rigOn(t, device, nil).Tune(t.Context(), gatherProblem,
		[]backend.Config{items(64), items(65), items(66), items(67), items(68)}, nil)
	require.ErrorIs(t, err, backend.ErrDeviceLost)
}

// Every table is tuned on every device, with the candidates of its class.
func TestTuneEverywhere(t *testing.T) {
	require.Equal(t, primitive.Tunable(), Tuned(), "every table has a benchmark that tunes it")
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		problems, err := Problems(nil, 3000)
		require.NoError(t, err)
		rig := rigOn(t, device, nil)
		for _, p := range problems {
			candidates, err := Candidates(p, device.Info())
			require.NoError(t, err)
			require.NotEmpty(t, candidates, "%v", p)
			candidates = []backend.Config{candidates[0], candidates[len(candidates)/2], candidates[len(candidates)-1]}
			if vulkantest.Validation(t) == vulkan.GPUAssisted {
				candidates = candidates[1:2] // instrumented pipelines take seconds to compile
			}
			choice, err := rig.Tune(t.Context(), p, candidates, nil)
			require.NoError(t, err)
			for _, trial := range choice.Trials {
				if errors.Is(trial.Fault, backend.ErrUnsupported) && vulkantest.Validation(t) == vulkan.GPUAssisted {
					continue // lavapipe takes whole subgroups only under it
				}
				require.NoError(t, trial.Fault, "%v with %v", p.Case, trial.Config)
			}
			require.NoError(t, rig.ops.Tuning().With(p.row(choice.Best.Config)).Check(device.Info()))
		}
	})
}

func TestCandidates(t *testing.T) {
	large := &backend.DeviceInfo{Subgroups: true, Limits: backend.Limits{MaxInvocations: 1024, MaxSharedBytes: 48 << 10}}
	small := &backend.DeviceInfo{Subgroups: true, Limits: backend.Limits{MaxInvocations: 256, MaxSharedBytes: 16 << 10}}
	problems, err := Problems(nil, 1)
	require.NoError(t, err)
	of := func(p Problem, info *backend.DeviceInfo) []backend.Config {
		candidates, err := Candidates(p, info)
		require.NoError(t, err)
		return candidates
	}
	radix := Problem{Table: "radix_sort"}
	all := of(radix, large)
	require.True(t, slices.ContainsFunc(all, func(c backend.Config) bool {
		return maps.Equal(c, backend.Config{"serial": 0, "workgroup": 448, "items": 11, "lookback": 0})
	}))
	require.Greater(t, len(all), len(of(radix, small)))
	cores := &backend.DeviceInfo{Backend: "opencl", Type: backend.Software, SubgroupSize: 1, Limits: large.Limits}
	ofOne := func(c backend.Config) bool { return c["workgroup"] == 1 }
	require.True(t, slices.ContainsFunc(of(radix, cores), ofOne), "as PoCL likes them")
	cores.Backend = "vulkan"
	require.False(t, slices.ContainsFunc(of(radix, cores), ofOne))
	for _, p := range problems {
		for _, info := range []*backend.DeviceInfo{large, small,
			{Type: backend.Software, Subgroups: true, Limits: small.Limits},
			{Type: backend.Host, Subgroups: true, Limits: large.Limits}} {
			candidates := of(p, info)
			require.NotEmpty(t, candidates)
			for _, c := range candidates {
				require.NoError(t, p.row(c).Check(info))
			}
		}
	}
	for _, table := range Tuned() {
		rows, err := candidateRows(table)
		require.NoError(t, err)
		for _, row := range rows {
			require.Contains(t, []string{"gpu", "software", "host"}, row.Device, table)
			for name := range row.combinations()[0] {
				require.Contains(t, primitive.Settings(table), name, table)
			}
		}
	}
	_, err = Candidates(Problem{Table: "iota"}, large)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = Problems([]string{"iota"}, 1)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}

func TestBeats(t *testing.T) {
	trial := func(median, spread time.Duration) *Trial {
		return &Trial{Result: Result{Sample: measure.Sample{Times: measure.Summary{Median: median, Spread: spread}}}}
	}
	require.True(t, beats(trial(90, 5), trial(100, 9)))
	require.False(t, beats(trial(90, 5), trial(100, 10)))
	require.False(t, beats(trial(90, 10), trial(100, 5)))
	require.False(t, beats(trial(100, 0), trial(100, 0)))
}

func TestRevise(t *testing.T) {
	info := &backend.DeviceInfo{Name: "gpu", Driver: "driver", DriverVersion: "2",
		Limits: backend.Limits{MaxInvocations: 256, MaxSharedBytes: 1 << 14}}
	row := func(device, version, table string, bits, items uint32) primitive.UserRow {
		return primitive.UserRow{Device: device, Driver: "driver", DriverVersion: version, Primitive: table,
			Variant: backend.Config{"value_bits": bits}, Config: backend.Config{"workgroup": 8, "items": items}}
	}
	others := []primitive.UserRow{row("another", "2", "gather", 32, 1), row("gpu", "1", "gather", 64, 2),
		row("gpu", "1", "scan", 32, 3)}
	outdated, counting := row("gpu", "1", "gather", 32, 4), row("gpu", "2", "gather", 32, 5)
	choice := Choice{Problem: gatherProblem, Best: Trial{Result: Result{Config: items(6)}}}
	with := func(rows ...primitive.UserRow) []primitive.UserRow { return slices.Concat(others, rows) }

	require.Equal(t, with(), choice.Revise(with(outdated), info, "day"), "what does not count goes")
	require.Equal(t, with(counting), choice.Revise(with(counting), info, "day"), "what counts stays")
	broken := counting
	broken.Config = items(0)
	require.Equal(t, with(), choice.Revise(with(broken), info, "day"))
	choice.Better = true
	revised := choice.Revise(with(outdated, counting), info, "day")
	require.Equal(t, with(choice.UserRow(info, "day")), revised)
	require.Equal(t, items(6), revised[3].Config)
	choice.MinRows, choice.MaxRows = 5, 9
	revised = choice.Revise(with(counting), info, "day")
	require.Equal(t, with(counting, choice.UserRow(info, "day")), revised, "other numbers of rows")
	require.Equal(t, [2]uint64{5, 9}, [2]uint64{revised[4].MinRows, revised[4].MaxRows})
	require.Equal(t, revised, choice.Revise(revised, info, "day"))
	require.Len(t, with(outdated, counting), 5)
}

func TestRefusable(t *testing.T) {
	require.True(t, refusable(fmt.Errorf("x: %w", measure.ErrWrong)))
	require.False(t, refusable(errors.Join(measure.ErrWrong, backend.ErrDeviceLost)))
	require.False(t, refusable(backend.ErrCancelled))
	require.False(t, refusable(errors.New("a bug")))
}
