package primitive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Override changes settings of the cases in a tuning; other settings stay. ErrInvalidInput for a setting that one of
// the primitives does not have.
func Override(base primitive.Tuning, cases []Case, settings backend.Config) (primitive.Tuning, error) {
	tuning := make(primitive.Tuning)
	seen := make(map[string]bool)
	for _, c := range cases {
		benchmark, err := find(c.Primitive)
		if err != nil {
			return nil, err
		}
		known := primitive.Settings(benchmark.Table)
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if !slices.Contains(known, name) {
				return nil, fmt.Errorf("%w: %s has no setting %s; it has %s", backend.ErrInvalidInput, c.Primitive, name, cmp.Or(strings.Join(known, ", "), "none"))
			}
		}
		variant := benchmark.variant(c.Key, c.Payload)
		row := base.Row(benchmark.Table, variant, c.Rows)
		key := fmt.Sprint(benchmark.Table, variant, row.MinRows, row.MaxRows)
		if len(settings) > 0 && !seen[key] {
			seen[key] = true
			config := maps.Clone(row.Config)
			maps.Copy(config, settings)
			tuning[benchmark.Table] = append(tuning[benchmark.Table], primitive.TuningRow{Variant: variant,
				MinRows: row.MinRows, MaxRows: row.MaxRows, Config: config, Measured: "chosen by hand"})
		}
	}
	return tuning, nil
}
