package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/internal/selftest"
)

func TestDevices(t *testing.T) {
	var devices []backend.DeviceInfo
	require.NoError(t, json.Unmarshal([]byte(tested.Require(t, command.ExitDone, "devices", "--json").Stdout), &devices))
	require.NotEmpty(t, devices)
	at := slices.IndexFunc(devices, func(d backend.DeviceInfo) bool { return d.Backend == "host" })
	require.GreaterOrEqual(t, at, 0)
	host := devices[at]
	require.Equal(t, "host", host.TypeName)
	require.Positive(t, host.Heaps[0].SizeBytes)

	text := tested.Require(t, command.ExitDone, "devices").Stdout
	for i, d := range devices {
		require.Equal(t, i, d.Index)
		require.Contains(t, text, "   id     "+d.ID+"\n")
		require.Contains(t, text, d.Name)
	}
	require.Regexp(t, `--device auto takes \S+\n$`, text)
}

func TestWriteDevices(t *testing.T) {
	memory := func(n uint64) []backend.Heap {
		return []backend.Heap{{SizeBytes: n, BudgetBytes: n, DeviceLocal: true}}
	}
	var b bytes.Buffer
	devices := []backend.DeviceInfo{
		{Index: 0, ID: "vulkan:nvidia:0fca", Backend: "vulkan", Name: "NVIDIA H200", Type: backend.Discrete,
			Driver: "NVIDIA", DriverVersion: "580.159.03", Heaps: memory(139 << 30), Subgroups: true, SubgroupSize: 32,
			MinSubgroupSize: 32, MaxSubgroupSize: 32},
		{Index: 1, ID: "vulkan:nvk:0fca", Backend: "vulkan", Name: "NVIDIA H200 (NVK)", Type: backend.Discrete,
			Driver: "NVK", DriverVersion: "Mesa 25.1.0", Heaps: memory(139 << 30), Subgroups: true, SubgroupSize: 32,
			MinSubgroupSize: 32, MaxSubgroupSize: 32, TwinOf: "vulkan:nvidia:0fca"},
		{Index: 2, ID: "vulkan:intel:8086", Backend: "vulkan", Name: "Intel HD\x1b[31m", Type: backend.Integrated,
			Driver: "Intel", DriverVersion: "22", Heaps: memory(3 << 29), Subgroups: true, SubgroupSize: 32,
			MinSubgroupSize: 8, MaxSubgroupSize: 32, Unusable: "it lacks bufferDeviceAddress"},
		{Index: 3, ID: "host:cpu", Backend: "host", Name: "AMD EPYC 7B13", Type: backend.Host, Driver: "Go kernels",
			DriverVersion: "go1.26.8", Heaps: memory(1 << 34), Subgroups: true, SubgroupSize: 1,
			MinSubgroupSize: 1, MaxSubgroupSize: 1},
	}
	writeDevices(&b, devices)
	golden.Require(t, "devices.txt", b.String())
	require.NotContains(t, b.String(), "--links", "there is one GPU")
	devices[1].TwinOf = ""
	writeDevices(&b, devices)
	require.Contains(t, b.String(), "\n--links measures the links")
}

func TestDoctor(t *testing.T) {
	o := tested.Require(t, command.ExitDone, "doctor", "--device", "host")
	require.Empty(t, o.Stderr)
	require.Regexp(t, `(?m)^ *\d+ +.+ +host +passed +[1-9]\d* +\d+\.\d\d$`, o.Stdout)

	var d diagnosis
	require.NoError(t,
		json.Unmarshal([]byte(tested.Require(t, command.ExitDone, "doctor", "--device", "host", "--json").Stdout), &d))
	require.Len(t, d.SelfTests, 1)
	require.True(t, d.SelfTests[0].Passed)
	require.Equal(t, "host:cpu", d.SelfTests[0].Device.ID)
	require.Contains(t, tested.Require(t, command.ExitNoDevice, "doctor", "--device", "abacus").Stderr,
		`no device matches "abacus"`)
}

func TestDoctorNamesTheDeviceThatFails(t *testing.T) {
	results := []deviceResult{
		{Report: selftest.Report{Device: backend.DeviceInfo{Index: 0, Name: "Bad GPU", Backend: "vulkan"},
			Checks: []selftest.Check{
				{Name: "move 4 bytes", Seconds: 0.25},
				{Name: "join 2 x 3 rows", Seconds: 1, Fault: "5 rows, there are 4"}}}},
		{Report: selftest.Report{Device: backend.DeviceInfo{Index: 1, Name: "Shy GPU", Backend: "vulkan"}},
			Error: "open: device lost"},
	}
	err := verdict(results)
	require.ErrorIs(t, err, backend.ErrNoDevice)
	require.EqualError(t, err, "no device passed the self-test; 2 tested")
	good := deviceResult{Report: selftest.Report{Device: backend.DeviceInfo{Index: 2, Name: "Good GPU",
		Backend: "vulkan"}, Checks: []selftest.Check{{Name: "move", Seconds: 0.5}}}, Passed: true}
	require.NoError(t, verdict(append(results, good)), "one that passes is enough")
	require.Error(t, verdict(nil))

	m := machineOf(map[string]string{"etc/os-release": debian}, nil)
	m.problems = []error{errors.New("vulkan: no loader")}
	d := diagnosis{Version: "v1.2.3", Findings: m.inspect(), SelfTests: append(results, good)}
	d.Advice = advise(d.Findings, d.SelfTests)
	var b bytes.Buffer
	writeDiagnosis(&b, &d)
	golden.Require(t, "doctor.txt", b.String())
	require.Equal(t, 2, strings.Count(b.String(), "do not use device"))
}

// A broken tuning file is reported by devices, doctor and join; joins and devices go on without it.
func TestBrokenTuningFileIsTold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tuning.json")
	t.Setenv("SPIRJOIN_TUNING", path)
	doctor := func() finding {
		var d diagnosis
		require.NoError(t,
			json.Unmarshal([]byte(tested.Require(t, command.ExitDone, "doctor", "--device", "host", "--json").Stdout), &d))
		return find(t, d.Findings, "tuning")
	}
	require.Equal(t, stateOK, doctor().State)
	require.Empty(t, tested.Require(t, command.ExitDone, "devices").Stderr)

	require.NoError(t, os.WriteFile(path, []byte("[{]"), 0o666))
	warning := "spirjoin: tuning file " + path
	require.Equal(t, 1, strings.Count(tested.Require(t, command.ExitDone, "devices").Stderr, warning),
		"once, not for each device")
	f := doctor()
	require.Equal(t, stateProblem, f.State)
	require.Contains(t, f.Seen[0], path)
	require.Equal(t, "spirjoin tune", f.Advice.Command)

	table := tableFile(t, filepath.Join(dir, "t.parquet"), ints("k", 1))
	join := []string{"join", table, table, "--on", "k", "--count", "--device", "host"}
	o := tested.Require(t, command.ExitDone, join...)
	require.Equal(t, "1\n", o.Stdout)
	require.Contains(t, o.Stderr, warning)
	require.Empty(t, tested.Require(t, command.ExitDone, append(join, "--quiet")...).Stderr)

	require.NoError(t, os.WriteFile(path, []byte("[]"), 0o666))
	require.Equal(t, stateOK, doctor().State)
}

// A GPU that is asked for by its index is not replaced by the CPU where its driver fails, and auto says that one failed.
func TestFailingDriverMovesNoIndex(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"broken`), 0o600))
	left := filepath.Join(t.TempDir(), "left.csv")
	require.NoError(t, os.WriteFile(left, []byte("k\n1\n2\n"), 0o600))
	for _, manifest := range []string{broken, "/nowhere.json"} {
		t.Setenv("VK_DRIVER_FILES", manifest)
		t.Setenv("VK_ICD_FILENAMES", manifest)
		join := []string{"join", left, left, "--on", "k", "--count"}
		got := tested.Require(t, command.ExitNoDevice, append(join, "--device", "0")...)
		require.Contains(t, got.Stderr, "no GPU has index 0; choose one of host:cpu (")
		require.Contains(t, got.Stderr, "Vulkan")
		got = tested.Require(t, command.ExitDone, join...)
		require.Equal(t, "2\n", got.Stdout)
		require.Contains(t, got.Stderr, "the CPU is used: vulkan: ")
	}
}
