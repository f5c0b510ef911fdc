package primitive

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

//go:embed tuning/*.json
var tuningFiles embed.FS

// Tuning holds the rows of each primitive's table that fit one device, by the name of the primitive, from safe and
// general to specific. [Tuning.Config] looks a configuration up.
type Tuning map[string][]TuningRow

// TuningRow is a line of a tuning table: according to the measurement in Measured, Config is best for the calls that
// have the values in Variant (of the axes of the primitive's kernels and of constants that its plan sets; none means
// all calls) on the devices that Device names: "any", a class ("gpu", "software", "host"), or a part of the name or the
// driver of a GPU. Backend names the backend, or several with commas in between, or is empty for any: the kernels of two
// backends are different programs, and what suits one says little about the other.
type TuningRow struct {
	Device   string         `json:"device,omitempty"`
	Backend  string         `json:"backend,omitempty"`
	Variant  backend.Config `json:"variant,omitempty"`
	MinRows  uint64         `json:"min_rows,omitempty"`
	MaxRows  uint64         `json:"max_rows,omitempty"`
	Config   backend.Config `json:"config"`
	Measured string         `json:"measured"`

	source string // for errors: file and place
}

// knobs says what the rows of a primitive may set: the constants of its kernels, their shape, and settings of its plan.
type knobs struct {
	kernels   []*backend.KernelSpec
	settings  []string // of the plan
	fixed     []string // constants that the plan sets and no row may
	sized     bool     // rows may be for calls of some numbers of rows
	leastTile uint32   // rows; 1 unless stated
	limits    map[string][2]uint32
	// What the shaders of the wide shape, which the host does not run, need besides.
	wideTile  uint32 // the rows of a tile are a multiple of it; 0: any
	wideItems uint32 // most items; 0: any
	whole     bool   // workgroups consist of whole subgroups
	halves    bool   // workgroups have two halves; with shared=1 they may also be of one invocation
}

// tunable are the primitives, each with a table of that name.
var tunable = map[string]knobs{
	"cascade": {kernels: []*backend.KernelSpec{kernel.CascadeEncode.KernelSpec, kernel.CascadePlace.KernelSpec,
		kernel.CascadeDecode.KernelSpec, kernel.CascadeSizes.KernelSpec}, settings: []string{"slots"},
		fixed: []string{"scheme", "value_bits"}, whole: true, wideItems: kernel.MaxCascadeItems,
		limits: map[string][2]uint32{"slots": {1, 1 << 20}}},
	"compact": {kernels: []*backend.KernelSpec{kernel.CompactCount.KernelSpec, kernel.Compact.KernelSpec}, wideTile: 32,
		fixed: []string{"inverted", "mixed"}, wideItems: kernel.MaxCompactItems},
	"copy": {kernels: []*backend.KernelSpec{kernel.Copy.KernelSpec}, settings: []string{"engine"}, wideTile: 4},
	"gather": {kernels: []*backend.KernelSpec{kernel.Gather.KernelSpec, kernel.MarkCounts.KernelSpec,
		kernel.Iota.KernelSpec}},
	"merge": {kernels: []*backend.KernelSpec{kernel.MergeTiles.KernelSpec}},
	"merge_join": {kernels: []*backend.KernelSpec{kernel.MergeJoin.KernelSpec, kernel.MergeWalk.KernelSpec,
		kernel.MergeCount.KernelSpec, kernel.MergeMark.KernelSpec},
		settings: []string{"walk"},
		fixed:    []string{"placing", "left_words", "right_words", "left_words_2", "right_words_2", "sides"},
		whole:    true, wideItems: kernel.MaxMarkItems,
		limits: map[string][2]uint32{"table": {1, 1 << 20}, "walk": {0, 1}}},
	"merge_sort": {kernels: []*backend.KernelSpec{kernel.BlockSort.KernelSpec}},
	"partition_join": {kernels: []*backend.KernelSpec{kernel.PartitionJoin.KernelSpec, kernel.PartitionWalk.KernelSpec,
		kernel.PartitionCount.KernelSpec, kernel.PartitionMark.KernelSpec},
		settings: []string{"walk"}, fixed: []string{"mixed", "placing", "unique", "seed", "left_words", "right_words",
			"left_words_2", "right_words_2", "page_rows", "widened", "decided", "distinct", "sides"},
		whole: true, wideItems: kernel.MaxMarkItems,
		limits: map[string][2]uint32{"table": {1, 1<<16 - 1}, "heads": {1, 1 << 16}, "walk": {0, 1}}},
	"radix_sort": {kernels: []*backend.KernelSpec{kernel.RadixCounts.KernelSpec, kernel.RadixHistogram.KernelSpec,
		kernel.RadixScatter.KernelSpec}, settings: []string{"lookback", "portion"}, sized: true,
		fixed: []string{"mixed", "columns", "far", "subgroup", "narrow"}, whole: true, limits: map[string][2]uint32{
			"lookback": {0, 1}, "patience": {0, mostPatience}, "ahead": {1, kernel.MaxAhead},
			"early":    {0, 1},
			"counters": {8 * maxDigits, maxTileRows}, "digits": {maxDigits, kernel.MaxSerialDigits}}},
	// A reduction and a scan shrink from level to level only if a tile holds more than one row.
	"reduce": {kernels: []*backend.KernelSpec{kernel.Reduce.KernelSpec, kernel.VaryingBits.KernelSpec},
		fixed: []string{"op"}, leastTile: 2, wideTile: 4},
	"scan": {kernels: []*backend.KernelSpec{kernel.Reduce.KernelSpec, kernel.ScanTiles.KernelSpec,
		kernel.ScanLookback.KernelSpec},
		settings: []string{"lookback"}, fixed: []string{"op"}, leastTile: 2, wideTile: 4,
		wideItems: kernel.MaxScanItems, whole: true,
		limits: map[string][2]uint32{"lookback": {0, 1}, "patience": {0, mostPatience}}},
	"range_expand": {kernels: []*backend.KernelSpec{kernel.RangeExpand.KernelSpec}, halves: true},
	"range_search": {kernels: []*backend.KernelSpec{kernel.RangeSearch.KernelSpec}, halves: true},
	"table_join": {kernels: []*backend.KernelSpec{kernel.TableBuild.KernelSpec, kernel.TableProbe.KernelSpec,
		kernel.TableCount.KernelSpec, kernel.TableMark.KernelSpec},
		fixed: []string{"patience", "seed", "unique", "distinct", "placing", "left_words", "right_words", "left_words_2",
			"right_words_2", "page_rows", "sides", "among"},
		whole: true, wideItems: kernel.MaxMarkItems},
	"texts": {kernels: []*backend.KernelSpec{kernel.HashTexts.KernelSpec, kernel.CompareTexts.KernelSpec,
		kernel.MarkKept.KernelSpec}, fixed: []string{"piece"}, wideItems: kernel.MaxTextItems},
	"words": {kernels: []*backend.KernelSpec{kernel.PackWords.KernelSpec, kernel.UnpackWords.KernelSpec,
		kernel.CopyStrided.KernelSpec, kernel.EncodeKeys.KernelSpec}, wideTile: 32},
}

// Tunable returns the names of the primitives that have a tuning table, sorted.
func Tunable() []string { return slices.Sorted(maps.Keys(tunable)) }

// Settings returns the names of the settings that a row of the primitive may have, sorted; none for an unknown
// primitive.
func Settings(primitive string) []string {
	k := tunable[primitive]
	names := slices.Clone(k.settings)
	for _, spec := range k.kernels {
		for _, constant := range spec.Constants {
			names = append(names, constant.Name)
		}
		for _, axis := range spec.Axes {
			if axis.Name == "serial" || axis.Name == "shared" {
				names = append(names, axis.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return slices.Contains(k.fixed, name) })
}

// TuningFor returns the rows of the embedded tables that fit a device. Workgroups have at least one whole subgroup,
// whatever a row says: the subgroups of software drivers are as wide as the CPU's vectors. On a device without subgroup
// operations wide shapes have shared=1.
func TuningFor(info *backend.DeviceInfo) (Tuning, error) {
	tuning := make(Tuning)
	for _, name := range Tunable() {
		rows, err := tableRows(name)
		if err != nil {
			return nil, err
		}
		tuning[name] = slices.DeleteFunc(rows,
			func(row TuningRow) bool {
				return !row.fits(info) || !row.widen(name, info) || row.lacksSubgroups(name, info)
			})
	}
	return tuning.on(info), nil
}

// on returns the rows as a device runs them: without subgroup operations, wide shapes have shared=1.
func (t Tuning) on(info *backend.DeviceInfo) Tuning {
	if info.Subgroups {
		return t
	}
	shared := make(Tuning, len(t))
	for name, rows := range t {
		rows = slices.Clone(rows)
		for i, row := range rows {
			if row.Config["serial"] == 0 && slices.Contains(Settings(name), "shared") {
				rows[i].Config = merge(row.Config, backend.Config{"shared": 1})
			}
		}
		shared[name] = rows
	}
	return shared
}

// lacksSubgroups reports whether a row names kernels whose subgroup operations the device lacks: the walks and the
// serial [kernel.RadixScatter] have no other shape. These are right where each invocation is a subgroup, walks in
// workgroups of one.
func (r *TuningRow) lacksSubgroups(primitive string, info *backend.DeviceInfo) bool {
	switch {
	case info.Subgroups:
		return false
	case r.Config["walk"] == 1:
		return info.SubgroupSize != 1 || r.Config["workgroup"] != 1
	}
	return primitive == "radix_sort" && r.Config["serial"] == 1 && info.SubgroupSize != 1
}

// widen gives a row workgroups of a whole subgroup. It reports whether the row still fits the device: it takes more
// shared memory then, and where that is too much the row before it counts.
func (r *TuningRow) widen(primitive string, info *backend.DeviceInfo) bool {
	if r.Config["workgroup"] >= info.SubgroupSize {
		return true
	}
	r.Config["workgroup"] = info.SubgroupSize
	return info.Limits.MaxSharedBytes == 0 || r.check(primitive, info) == nil
}

// tableRows reads the embedded table of a primitive.
func tableRows(primitive string) (rows []TuningRow, err error) {
	file := "tuning/" + primitive + ".json"
	text, err := tuningFiles.ReadFile(file)
	if err == nil {
		err = decodeStrictly(text, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("tuning table %s: %w", file, err)
	}
	for i := range rows {
		rows[i].source = fmt.Sprintf("%s, row %d", file, i+1)
	}
	return rows, nil
}

// decodeStrictly refuses fields that are not known: a misspelt one would be lost.
func decodeStrictly(text []byte, v any) error {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

func (r *TuningRow) fits(info *backend.DeviceInfo) bool { return DeviceFits(r.Device, r.Backend, info) }

// DeviceFits reports whether a row of a table applies to a device: it must be for the device's backend (several have
// commas in between) or for any (""), and for "any" device, for its class, or for a part of the name or the driver of a
// GPU.
func DeviceFits(row, rowBackend string, info *backend.DeviceInfo) bool {
	if rowBackend != "" && !slices.Contains(strings.Split(rowBackend, ","), info.Backend) {
		return false
	}
	class := DeviceClass(info)
	return row == "any" || row == class || class == "gpu" &&
		strings.Contains(strings.ToLower(info.Name+" "+info.Driver), row)
}

// DeviceClass returns the class of a device in the tables: "gpu", "software" or "host".
func DeviceClass(info *backend.DeviceInfo) string {
	switch info.Type {
	case backend.Host:
		return "host"
	case backend.Software:
		return "software"
	}
	return "gpu"
}

// Config returns the configuration of a primitive's kernels for calls of a variant, such as key_bits=64, from the last
// row whose variant does not exclude the call. It is shared and must not be changed; nil for a primitive without rows.
func (t Tuning) Config(primitive string, variant backend.Config) backend.Config {
	return t.ConfigFor(primitive, variant, 0)
}

// ConfigFor is Config where it depends on the number of rows.
func (t Tuning) ConfigFor(primitive string, variant backend.Config, rows uint64) backend.Config {
	return t.Row(primitive, variant, rows).Config
}

// Row returns the row that decides the configuration of a call; an empty one if there is none.
func (t Tuning) Row(primitive string, variant backend.Config, rows uint64) TuningRow {
	all := t[primitive]
	for i := len(all) - 1; i >= 0; i-- {
		row := &all[i]
		if row.MinRows <= rows && (row.MaxRows == 0 || rows <= row.MaxRows) && agree(row.Variant, variant) {
			return *row
		}
	}
	return TuningRow{}
}

// scaled returns the tuning for rows that stand for scale rows each.
func (t Tuning) scaled(scale uint64) Tuning {
	all := maps.Clone(t)
	for name, rows := range t {
		if scale <= 1 || !tunable[name].sized {
			continue
		}
		all[name] = nil
		for _, row := range rows {
			below := row.MaxRows > 0 && row.MaxRows < scale
			row.MinRows, row.MaxRows = (row.MinRows+scale-1)/scale, row.MaxRows/scale
			if !below {
				all[name] = append(all[name], row)
			}
		}
	}
	return all
}

// agree reports whether all settings of a are in b.
func agree(a, b backend.Config) bool {
	for name, value := range a {
		if other, ok := b[name]; !ok || other != value {
			return false
		}
	}
	return true
}

// With returns the rows of t followed by the rows of overrides, which take precedence where they match.
func (t Tuning) With(overrides Tuning) Tuning {
	all := maps.Clone(t)
	if all == nil {
		all = make(Tuning)
	}
	for name, rows := range overrides {
		all[name] = slices.Concat(all[name], rows)
	}
	return all
}

// Override returns a tuning with one configuration for every variant of the named primitives, or of all if none is
// named. Settings that a primitive does not have are ignored.
func Override(config backend.Config, primitives ...string) Tuning {
	if len(primitives) == 0 {
		primitives = Tunable()
	}
	tuning := make(Tuning)
	for _, name := range primitives {
		own := make(backend.Config)
		for _, setting := range Settings(name) {
			if value, ok := config[setting]; ok {
				own[setting] = value
			}
		}
		tuning[name] = []TuningRow{{Config: own, Measured: "override", source: "override of " + name}}
	}
	return tuning
}

// Check validates every row against its primitive's settings and the device's limits. The error is ErrInvalidInput and
// names the table and the row.
func (t Tuning) Check(info *backend.DeviceInfo) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		for i := range t[name] {
			if err := t[name][i].check(name, info); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *TuningRow) check(primitive string, info *backend.DeviceInfo) error {
	fail := func(format string, a ...any) error {
		return &backend.OpError{Op: "tune " + primitive, Device: info.Name, Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%s, %v: %s", r.source, r.Config, fmt.Sprintf(format, a...))}
	}
	k, ok := tunable[primitive]
	if !ok {
		return fail("unknown primitive; there are %s", strings.Join(Tunable(), ", "))
	}
	if r.MinRows|r.MaxRows > 0 && !k.sized || r.MaxRows > 0 && r.MaxRows < r.MinRows {
		return fail("min_rows %d and max_rows %d: the former is less, and few tables have them", r.MinRows, r.MaxRows)
	}
	known := Settings(primitive)
	for _, name := range slices.Sorted(maps.Keys(r.Config)) {
		if !slices.Contains(known, name) {
			return fail("unknown setting %s; there are %s", name, strings.Join(known, ", "))
		}
		if l, ok := k.limits[name]; ok && (r.Config[name] < l[0] || r.Config[name] > l[1]) {
			return fail("%s must be %d to %d", name, l[0], l[1])
		}
	}
	if r.Config["serial"] > 1 || r.Config["shared"] > 1 || r.Config["serial"]+r.Config["shared"] > 1 {
		return fail("serial and shared are 0 or 1, and not both 1")
	}
	invocations := info.Limits.MaxInvocations
	if workgroup := r.Config["workgroup"]; workgroup == 0 || workgroup > invocations {
		return fail("workgroup must be 1 to %d here", invocations)
	}
	if rows := uint64(r.Config["workgroup"]) * uint64(r.Config["items"]); rows > maxTileRows ||
		kernel.TileRows(kernel.Named(r.Config)) < max(1, k.leastTile) {
		return fail("a tile holds %d to %d rows", max(1, k.leastTile), maxTileRows)
	}
	if wide := r.Config["serial"] == 0 && info.Type != backend.Host; wide {
		if k.wideTile > 0 && kernel.TileRows(kernel.Named(r.Config))%k.wideTile != 0 {
			return fail("the rows of a tile are a multiple of %d", k.wideTile)
		}
		if k.wideItems > 0 && r.Config["items"] > k.wideItems {
			return fail("items is at most %d", k.wideItems)
		}
		size, usesSubgroups := max(1, info.SubgroupSize), r.Config["shared"] == 0 || r.Config["walk"] == 1
		if k.whole && usesSubgroups && r.Config["workgroup"]%size != 0 {
			return fail("workgroup is a multiple of %d here, the size of a subgroup", size)
		}
		if k.halves && r.Config["workgroup"]%2 != 0 && r.Config["shared"]*r.Config["workgroup"] != 1 {
			return fail("workgroup is even, or 1 with shared=1")
		}
	}
	if r.lacksSubgroups(primitive, info) {
		return fail("the device lacks the subgroup operations of this shape")
	}
	axes := maps.Clone(r.Variant) // without what the plan sets
	maps.DeleteFunc(axes, func(name string, _ uint32) bool { return slices.Contains(k.fixed, name) })
	offered := len(axes) == 0
	for _, spec := range k.kernels {
		for _, variant := range kernel.Variants(spec) {
			if !hasShape(variant, r.Config) || !agreeWhereBoth(axes, variant) {
				continue
			}
			offered = offered || agree(axes, variant)
			config, err := spec.Complete(merge(r.Config, variant))
			if err != nil {
				return fail("%v", err)
			}
			if spec.SharedBytes == nil {
				continue
			}
			if need, limit := spec.SharedBytes(config), info.Limits.MaxSharedBytes; need > limit {
				return fail("%s takes %d bytes of shared memory, the device has %d", spec.Name, need, limit)
			}
		}
	}
	if !offered {
		return fail("no kernel has the variant %v", r.Variant)
	}
	return nil
}

// hasShape reports whether a variant is one of the shape that a row asks for; kernels without that shape have another.
func hasShape(variant, row backend.Config) bool {
	for _, axis := range []string{"serial", "shared"} {
		if value, ok := variant[axis]; ok && value != row[axis] {
			return false
		}
	}
	return true
}

// mostPatience keeps the looks of an invocation, for up to eight digits, below the 65,535 loop trips after which
// lavapipe ends all its loops.
const mostPatience = 1 << 12

// maxTileRows keeps the number of a tile's rows far from the end of 32 bits.
const maxTileRows = 1 << 24

// agreeWhereBoth reports whether no setting has different values in a and b.
func agreeWhereBoth(a, b backend.Config) bool {
	for name, value := range a {
		if other, ok := b[name]; ok && other != value {
			return false
		}
	}
	return true
}

// merge returns the settings of a and b; b wins.
func merge(a, b backend.Config) backend.Config {
	c := make(backend.Config, len(a)+len(b))
	maps.Copy(c, a)
	maps.Copy(c, b)
	return c
}
