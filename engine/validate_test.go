package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// TestValidate: violations name the key and two rows that have it, on either side, with and without partners, in
// granules, and where rows are only counted; rows without a key do not count.
func TestValidate(t *testing.T) {
	repeated := func(first, second int) arrow.Table { // rows of one key, and NULLs
		return keyed(t, "k", 300, func(i int) int64 {
			switch {
			case i%3 == 2:
				return -1
			case i == second:
				return int64(first) * 10
			}
			return int64(i) * 10
		})
	}
	unique, far, near := repeated(0, 0), repeated(4, 297), repeated(100, 99)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, 4, 3, 3, len(algorithms), 2, 2, 3) {
			validate := join.Validate(c[0])
			tables := [2]arrow.Table{[]arrow.Table{unique, far, near}[c[1]], []arrow.Table{unique, far, near}[c[2]]}
			spec := join.Spec{On: onK, Validate: validate, Algorithm: algorithms[c[3]],
				Output: []join.Output{join.Rows, join.Count}[c[4]], BuildSide: join.BuildSide(c[6])}
			engine := smallEngine(t, device)
			engine.GranuleRows = 70 * uint64(c[5])
			describe := fmt.Sprintf("%+v of %d and %d", spec, c[1], c[2])
			plan, err := engine.Plan(context.Background(), tables[0], tables[1], spec)
			require.NoError(t, err, describe)
			result, err := plan.Run(context.Background())
			wrong := validate.Unique(0) && c[1] > 0 || validate.Unique(1) && c[2] > 0
			if !wrong {
				require.NoError(t, err, describe)
				result.Close()
				continue
			}
			require.ErrorIs(t, err, backend.ErrInvalidInput, describe)
			texts := map[string]bool{}
			for side, name := range []string{"left", "right"} {
				if n := c[1+side]; n > 0 && validate.Unique([]relation.Side{relation.Left, relation.Right}[side]) {
					what := []string{"", "rows 4 and 297 both have k=40", "rows 99 and 100 both have k=1000"}[n]
					texts[fmt.Sprintf("keys of the %s table must be unique, but %s", name, what)] = true
				}
			}
			found := false
			for text := range texts {
				found = found || strings.Contains(err.Error(), text)
			}
			require.True(t, found, "%s: %v, not one of %v", describe, err, texts)
		}
		noMemoryInUse(t, device)
	})
}

// TestValidateKeysThatMatchNothing: a key that repeats is one even where the other table cannot have it, as it cannot
// have a fraction, or a value beyond the ranges that are packed.
func TestValidateKeysThatMatchNothing(t *testing.T) {
	devicetest.HostTest(t)
	column := func(values ...float64) arrow.Table {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(values, nil)
		a := b.NewArray()
		defer a.Release()
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: a.DataType()}}, nil)
		batch := array.NewRecordBatch(schema, []arrow.Array{a}, int64(a.Len()))
		defer batch.Release()
		table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
		t.Cleanup(table.Release)
		return table
	}
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine, ctx := smallEngine(t, device), context.Background()
	few, many := keyed(t, "k", 10, primary), keyed(t, "k", 30, func(i int) int64 { return 1<<40 + int64(i%29) })
	for name, c := range map[string]struct {
		left, right arrow.Table
		on          []string
		want        string
	}{
		"fractions": {few, column(1, 0.75, 2, 0.75), onK, "rows 1 and 3 both have k=0.75"},
		"far":       {few, many, []string{"k", "k"}, "rows 0 and 29 both have (k="}, // together they need 82 bits
	} {
		spec := join.Spec{On: c.on, Validate: join.ManyToOne, Output: join.Count}
		_, err := drain(ctx, engine, c.left, c.right, spec)
		require.ErrorIs(t, err, backend.ErrInvalidInput, name)
		require.ErrorContains(t, err, "keys of the right table must be unique, but "+c.want, name)
	}
	spec := join.Spec{On: onK, Validate: join.ManyToOne, Output: join.Count}
	built, err := engine.Build(ctx, few, many.Schema(), 0, spec)
	require.NoError(t, err)
	_, err = built.Join(ctx, many)
	require.ErrorContains(t, err, "rows 0 and 29 both have k=1099511627776")
	built.Close()
	require.NoError(t, done())
}

// TestValidateKeysThatCollide takes work linear in the number of rows, more than are read at a time.
func TestValidateKeysThatCollide(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	const last = 1<<20 + 2
	table := keyed(t, "k", last+1, func(i int) int64 { return int64(i%last) << 42 })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // pair by pair it would take hours
	defer cancel()
	for _, bits := range []int{0, 4} {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
		engine := smallEngine(t, device)
		engine.HashBits = new(bits)
		_, err := drain(ctx, engine, keyed(t, "k", 10, primary), table,
			join.Spec{On: []string{"k", "k"}, Validate: join.ManyToOne, Output: join.Count})
		require.ErrorContains(t, err, fmt.Sprintf("rows 0 and %d both have (k=0, k=0)", last), "%d bits", bits)
		require.NoError(t, done())
	}
}

// TestValidateKeysOfSeveralColumns names all columns of the key.
func TestValidateKeysOfSeveralColumns(t *testing.T) {
	devicetest.HostTest(t)
	table := keyed(t, "k", 100, func(i int) int64 { return int64(i % 50) })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	run := func(on ...string) error {
		plan, err := engine.Plan(context.Background(), table, table,
			join.Spec{On: on, Validate: join.OneToOne, Output: join.Count})
		require.NoError(t, err)
		result, err := plan.Run(context.Background())
		if err == nil {
			result.Close()
		}
		return err
	}
	require.NoError(t, run("k", "a"))
	require.ErrorContains(t, run("k", "k"), "rows 0 and 50 both have (k=0, k=0)")
	require.NoError(t, done())
}
