package primitive

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/shaders"
)

// least is a device that offers what spirjoin requires and nothing more.
var least = &backend.DeviceInfo{Name: "least", Subgroups: true, SubgroupSize: 32,
	Limits: backend.Limits{MaxInvocations: 256, MaxSharedBytes: 16 << 10}}

func TestTuningTables(t *testing.T) {
	files, err := tuningFiles.ReadDir("tuning")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), path.Ext(file.Name())))
	}
	require.Equal(t, names, Tunable(), "every primitive has a table, and every table a primitive")
	roomy := &backend.DeviceInfo{Name: "roomy", Subgroups: true,
		Limits: backend.Limits{MaxInvocations: 1024, MaxSharedBytes: 48 << 10}}
	cores := &backend.DeviceInfo{Name: "cores", Type: backend.Host, Subgroups: true,
		Limits: backend.Limits{MaxInvocations: 1024, MaxSharedBytes: 1 << 20}}
	for _, name := range names {
		rows, err := tableRows(name)
		require.NoError(t, err)
		require.NotEmpty(t, rows)
		require.Equal(t, "any", rows[0].Device, "the first row of %s is the safe one", name)
		require.Empty(t, rows[0].Variant, name)
		for _, row := range rows {
			require.NotEmpty(t, row.Measured, row.source)
			require.Equal(t, strings.ToLower(row.Device), row.Device, row.source)
			require.NotEmpty(t, row.Device, row.source)
			require.Equal(t, row.Device == "any", row.Backend == "", "%s: a measurement names its backend", row.source)
			info := roomy
			switch row.Device {
			case "any":
				info = least
			case "host":
				info = cores
			}
			require.NoError(t, row.check(name, info))
		}
	}
}

// Every kernel of every primitive must build as every row that fits the device says.
func TestTuningRowsBuild(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning, err := TuningFor(device.Info())
		require.NoError(t, err)
		require.NoError(t, tuning.Check(device.Info()))
		built := 0
		for name, rows := range tuning {
			for _, row := range rows {
				for _, spec := range tunable[name].kernels {
					for _, v := range kernel.Variants(spec) {
						if !hasShape(v, row.Config) || !agreeWhereBoth(row.Variant, v) ||
							!device.Info().Subgroups && onlyWithSubgroups(spec, v, row.Config) {
							continue
						}
						code, err := shaders.SPIRV(kernel.SPIRVName(spec, v))
						require.NoError(t, err)
						if !device.Info().Subgroups && shaders.UsesSubgroups(code) {
							continue // as the walks, and the serial radix_scatter
						}
						if built++; !devicetest.Turn(built, 4) {
							continue
						}
						_, err = device.Kernel(spec, merge(row.Config, v))
						require.NoError(t, err, "%s: %s %v", row.source, spec.Name, v)
					}
				}
			}
		}
		require.GreaterOrEqual(t, built, len(tuning))
	})
}

// onlyWithSubgroups reports whether devices without subgroup operations never run a kernel as a row says: walks of more
// than one invocation, and look-back.
func onlyWithSubgroups(spec *backend.KernelSpec, variant, row backend.Config) bool {
	switch spec {
	case kernel.PartitionWalk.KernelSpec, kernel.MergeWalk.KernelSpec:
		return row["workgroup"] != 1
	}
	return spec == kernel.ScanLookback.KernelSpec || variant["lookback"] == 1
}

// The safe rows hold without subgroup operations too, on the least of devices.
func TestSafeRowsWithoutSubgroups(t *testing.T) {
	for _, name := range Tunable() {
		if !slices.Contains(Settings(name), "shared") {
			continue
		}
		rows, err := tableRows(name)
		require.NoError(t, err)
		for _, row := range rows {
			if row.Device == "any" {
				row.Config["shared"] = 1
				require.NoError(t, row.check(name, least))
			}
		}
	}
}

func TestTuningConfig(t *testing.T) {
	config := func(workgroup uint32) backend.Config { return backend.Config{"workgroup": workgroup} }
	tuning := Tuning{"sort": {
		{Config: config(1)},
		{Variant: backend.Config{"key_bits": 64}, Config: config(2)},
		{Variant: backend.Config{"key_bits": 64, "payload_bits": 32}, Config: config(3)},
		{Variant: backend.Config{"key_bits": 32}, Config: config(4)},
	}}
	for want, v := range []backend.Config{1: nil, 2: {"key_bits": 64}, 3: {"key_bits": 64, "payload_bits": 32},
		4: {"key_bits": 32, "payload_bits": 32}} {
		if want > 0 {
			require.Equal(t, config(uint32(want)), tuning.Config("sort", v), "%v", v)
		}
	}
	require.Equal(t, config(2), tuning.Config("sort", backend.Config{"key_bits": 64, "payload_bits": 0}))
	require.Equal(t, config(1), tuning.Config("sort", backend.Config{"payload_bits": 32}))
	require.Nil(t, tuning.Config("scan", nil))
	sized := Tuning{"sort": {{Config: config(1)}, {MaxRows: 99, Config: config(2)}, {MaxRows: 9, Config: config(3)},
		{MinRows: 1000, Config: config(4)}}}
	for rows, want := range map[uint64]uint32{0: 3, 9: 3, 10: 2, 99: 2, 100: 1, 999: 1, 1000: 4, 1 << 40: 4} {
		require.Equal(t, config(want), sized.ConfigFor("sort", nil, rows), "%d rows", rows)
	}
	require.Equal(t, uint64(99), sized.Row("sort", nil, 50).MaxRows)
	overridden := tuning.With(Tuning{"sort": {{Config: config(9)}}, "scan": {{Config: config(8)}}})
	require.Equal(t, config(9), overridden.Config("sort", backend.Config{"key_bits": 64}))
	require.Equal(t, config(8), overridden.Config("scan", nil))
	require.Equal(t, config(2), tuning.Config("sort", backend.Config{"key_bits": 64}),
		"With leaves its receiver as it was")
	require.Equal(t, config(8), Tuning(nil).With(overridden).Config("scan", nil))
}

// Few rows that stand for many have the kernels of many.
func TestTuningScaled(t *testing.T) {
	tuning, err := TuningFor(&backend.DeviceInfo{Backend: "vulkan", Name: "NVIDIA H200", Driver: "NVIDIA", Subgroups: true})
	require.NoError(t, err)
	variant, configs := backend.Config{"key_bits": 32, "payload_bits": 32}, make(map[string]bool)
	for _, scale := range []uint64{0, 1, 2, 3, 1000, 1 << 30} {
		for rows := uint64(1); rows < 1<<24; rows = rows*2 + 1 {
			config := tuning.ConfigFor("radix_sort", variant, rows*max(1, scale))
			require.Equal(t, config, tuning.scaled(scale).ConfigFor("radix_sort", variant, rows), "%d x %d", rows, scale)
			configs[config.String()] = true
		}
	}
	require.Greater(t, len(configs), 1)
	require.Equal(t, tuning["scan"], tuning.scaled(1000)["scan"])
}

func TestTuningForDevices(t *testing.T) {
	at := func(info backend.DeviceInfo, keyBits uint32) backend.Config {
		tuning, err := TuningFor(&info)
		require.NoError(t, err)
		return tuning.ConfigFor("radix_sort", backend.Config{"key_bits": keyBits, "payload_bits": 32}, 1<<27)
	}
	nvidia := backend.DeviceInfo{Backend: "vulkan", Name: "NVIDIA H200", Driver: "NVIDIA", Subgroups: true}
	require.NotEqual(t, at(nvidia, 32), at(nvidia, 64))
	unknown := backend.DeviceInfo{Backend: "vulkan", Name: "unheard of", Subgroups: true, SubgroupSize: 32}
	other := nvidia
	other.Backend = "another"
	require.Equal(t, at(unknown, 32), at(other, 32), "what was measured through Vulkan says nothing of another backend")
	require.NotEqual(t, at(nvidia, 32), at(other, 32))
	require.Equal(t, uint32(1), at(backend.DeviceInfo{Backend: "vulkan", Type: backend.Software,
		Name: "llvmpipe nvidia", Subgroups: true}, 32)["serial"], "a name counts for GPUs only")
	for _, subgroup := range []uint32{4, 8, 16} {
		require.Equal(t, subgroup, at(backend.DeviceInfo{Backend: "vulkan", Type: backend.Software,
			Subgroups: true, SubgroupSize: subgroup}, 32)["workgroup"], "a whole subgroup")
	}
	require.LessOrEqual(t, at(backend.DeviceInfo{Name: "unheard of", Type: backend.Integrated}, 32)["workgroup"],
		uint32(256))

	// lavapipe with vectors of 512 bits: a row that takes too much shared memory with a whole subgroup gives way.
	for subgroup, digits := range map[uint32]uint32{4: 1024, 8: 1024, 16: 0} {
		info := backend.DeviceInfo{Backend: "vulkan", Type: backend.Software, Subgroups: true, SubgroupSize: subgroup}
		info.Limits.MaxInvocations, info.Limits.MaxSharedBytes = 1024, 32<<10
		require.Equal(t, digits, at(info, 32)["digits"], "subgroups of %d", subgroup)
		tuning, err := TuningFor(&info)
		require.NoError(t, err)
		require.NoError(t, tuning.Check(&info))
	}
}

// Without subgroup operations wide shapes have shared=1, and rows whose kernels have such operations in any shape give
// way, unless each invocation is a subgroup.
func TestTuningWithoutSubgroups(t *testing.T) {
	info := backend.DeviceInfo{Backend: "vulkan", Type: backend.Software, SubgroupSize: 8,
		Limits: backend.Limits{MaxInvocations: 1024, MaxSharedBytes: 32 << 10}}
	tuning, err := TuningFor(&info)
	require.NoError(t, err)
	require.NoError(t, tuning.Check(&info))
	for name, want := range map[string]backend.Config{"radix_sort": {"shared": 1, "serial": 0}, "scan": {"serial": 1},
		"partition_join": {"shared": 1, "walk": 0}, "merge_join": {"shared": 1, "walk": 0}} {
		config := tuning.Config(name, backend.Config{"key_bits": 32, "payload_bits": 32, "columns": 1})
		for setting, value := range want {
			require.Equal(t, value, config[setting], "%s %v", name, config)
		}
		require.Equal(t, want["shared"], config["shared"], "%s %v", name, config)
	}
	serial := Tuning{"radix_sort": {{Config: backend.Config{"serial": 1, "workgroup": 8, "items": 9, "digits": 256}}}}
	walk := func(workgroup uint32) Tuning {
		return Override(backend.Config{"workgroup": workgroup, "items": 8, "walk": 1, "table": 64, "heads": 64},
			"partition_join", "merge_join")
	}
	require.ErrorContains(t, serial.Check(&info), "lacks the subgroup operations")
	require.ErrorContains(t, walk(8).Check(&info), "lacks the subgroup operations")
	info.SubgroupSize = 1
	require.NoError(t, serial.Check(&info))
	require.NoError(t, walk(1).Check(&info))
	require.ErrorContains(t, walk(8).Check(&info), "lacks the subgroup operations")
}

// A search by a whole workgroup divides it into halves.
func TestTuningOfHalves(t *testing.T) {
	for workgroup, refused := range map[uint32]bool{1: false, 2: false, 3: true, 64: false} {
		shared := backend.Config{"shared": 1, "workgroup": workgroup, "items": 9, "batch": 3, "stage": 4}
		err := Override(shared, "range_search", "range_expand").Check(least)
		require.Equal(t, refused, err != nil, "%d: %v", workgroup, err)
	}
	require.ErrorContains(t, Override(backend.Config{"workgroup": 1, "items": 9, "batch": 3, "stage": 4},
		"range_search").Check(least), "workgroup is even, or 1 with shared=1")
}

// A row that is wrong is refused, with its place and what is wrong.
func TestTuningCheck(t *testing.T) {
	good := backend.Config{"serial": 0, "workgroup": 256, "items": 7, "patience": 9}
	change := func(name string, value uint32) backend.Config { return merge(good, backend.Config{name: value}) }
	for fault, row := range map[string]TuningRow{
		"":                               {Config: good},
		"unknown setting bacth":          {Config: change("bacth", 1)},
		"lookback must be 0 to 1":        {Config: change("lookback", 2)},
		"counters must be 2048":          {Config: change("counters", 2047)},
		"patience must be 0 to 4096":     {Config: change("patience", 1<<12+1)},
		"workgroup is a multiple of 32":  {Config: change("workgroup", 80)},
		"unknown setting key_bits":       {Config: change("key_bits", 32)},
		"shared=2 workgroup=256":         {Config: change("shared", 2)},
		"and not both 1":                 {Config: merge(good, backend.Config{"serial": 1, "shared": 1})},
		"workgroup must be 1 to 256":     {Config: change("workgroup", 257)},
		"workgroup must be 1":            {Config: change("workgroup", 0)},
		"a tile holds 1 to":              {Config: change("items", 0)},
		"to 16777216 rows":               {Config: change("items", 1<<31)},
		"radix_scatter takes":            {Config: change("items", 8)},
		"radix_histogram takes 65536":    {Config: backend.Config{"serial": 1, "workgroup": 64, "items": 1}},
		"no kernel has the variant":      {Variant: backend.Config{"key_bits": 48}, Config: good},
		"has the variant color=1":        {Variant: backend.Config{"color": 1}, Config: good},
		"table.json, row 3, items=7 pat": {Config: change("serial", 2), source: "table.json, row 3"},
	} {
		err := Tuning{"radix_sort": {row}}.Check(least)
		if fault == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, fault)
	}
	require.NoError(t, Tuning{"radix_sort": {{MinRows: 7, MaxRows: 7, Config: good}}}.Check(least))
	require.ErrorContains(t, Tuning{"radix_sort": {{MinRows: 8, MaxRows: 7, Config: good}}}.Check(least), "min_rows 8")
	require.ErrorContains(t, Tuning{"scan": {{MaxRows: 7, Config: good}}}.Check(least), "max_rows 7")
	require.ErrorContains(t, Tuning{"raddix_sort": {{Config: good}}}.Check(least), "unknown primitive")
	require.ErrorContains(t, Override(backend.Config{"workgroup": 1, "items": 1}, "scan").Check(least),
		"a tile holds 2 to")
	require.NoError(t, Override(backend.Config{"workgroup": 1, "items": 1, "unknown": 7}, "gather").Check(least))
	require.Equal(t, Tunable(), slices.Sorted(maps.Keys(Override(good))))
}
