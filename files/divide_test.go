package files

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// keyedFile writes a file of the columns k, keys as text of which every 50th is missing, and v, the number of the row.
func keyedFile(t *testing.T, rows int, key func(i int) string) string {
	t.Helper()
	lines := []string{"k,v"}
	for i := range rows {
		k := key(i)
		if i%50 == 49 {
			k = ""
		}
		lines = append(lines, fmt.Sprintf("%s,%d", k, i))
	}
	return textFile(t, "t.csv", lines...)
}

// divided divides a file.
func divided(t *testing.T, path string, o DivideOptions) (parts []string) {
	t.Helper()
	o.On, o.Parts = []string{"k"}, 5
	folder := filepath.Join(t.TempDir(), "parts")
	d, err := Divide(t.Context(), path, folder, o)
	require.NoError(t, err)
	require.Len(t, d.Rows, o.Parts)
	for part, rows := range d.Rows {
		require.Positive(t, rows)
		parts = append(parts, filepath.Join(folder, fmt.Sprintf("part-%05d-of-%05d.parquet", part, o.Parts)))
	}
	return parts
}

func schemaOf(t *testing.T, path string) *arrow.Schema {
	t.Helper()
	r, err := tableio.Open(t.Context(), path, tableio.ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	return r.Schema()
}

// textsOf joins two files and returns the rows as texts, in order.
func textsOf(t *testing.T, engine *spirjoin.Engine, left, right string, spec spirjoin.JoinSpec) (rows []string, err error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.arrow")
	if _, err := Join(t.Context(), engine, left, right, out, JoinOptions{Spec: spec}); err != nil {
		return nil, err
	}
	r, err := tableio.Open(t.Context(), out, tableio.ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	var batches []arrow.RecordBatch
	for batch, err := range r.Batches(t.Context(), nil) {
		require.NoError(t, err)
		batches = append(batches, batch)
	}
	defer relation.ReleaseAll(batches)
	return oracle.BatchTexts(batches), nil
}

// TestDivide: joins of parts with the same number are, together, the join of the files, for keys of one type and of
// two, also such as the other type does not have.
func TestDivide(t *testing.T) {
	engine := onHost(t, spirjoin.Options{})
	number := func(step, most int) func(int) string {
		return func(i int) string { return fmt.Sprint(i * step % most) }
	}
	day := func(i int) string { return fmt.Sprintf("2026-01-%02d", 1+i%28) }
	hour := func(i int) string { return fmt.Sprintf("2026-01-%02d %02d:00:00", 1+i%31, i%2*12) }
	for name, c := range map[string]struct{ left, right func(int) string }{
		"integers":             {number(7, 211), number(3, 307)},
		"texts":                {func(i int) string { return "a" + number(7, 211)(i) }, func(i int) string { return "a" + number(3, 307)(i) }},
		"dates and timestamps": {day, hour},
		"integers and floats":  {number(7, 211), func(i int) string { return fmt.Sprintf("%.1f", float64(i%300)/2) }},
	} {
		t.Run(name, func(t *testing.T) {
			left, right := keyedFile(t, 600, c.left), keyedFile(t, 400, c.right)
			for _, nullsEqual := range []bool{false, true} {
				of := [2]DivideOptions{{With: schemaOf(t, right)}, {With: schemaOf(t, left)}}
				var parts [2][]string
				for side, path := range []string{left, right} {
					of[side].WithOn, of[side].NullsEqual = []string{"k"}, nullsEqual
					parts[side] = divided(t, path, of[side])
				}
				for _, how := range []spirjoin.JoinHow{spirjoin.Inner, spirjoin.Left, spirjoin.Full, spirjoin.Semi, spirjoin.Anti,
					spirjoin.RightAnti, spirjoin.Mark} {
					spec := spirjoin.JoinSpec{On: []string{"k"}, How: how, SeparateKeys: true}
					if nullsEqual {
						spec.NullsEqual = spec.On
					}
					want, err := textsOf(t, engine, left, right, spec)
					require.NoError(t, err)
					got := []string{}
					for i := range parts[0] {
						rows, err := textsOf(t, engine, parts[0][i], parts[1][i], spec)
						require.NoError(t, err)
						got = append(got, rows...)
					}
					slices.Sort(want)
					slices.Sort(got)
					require.Equal(t, want, got, "%s, nulls equal: %t", how, nullsEqual)
				}
			}
		})
	}
}

// TestDivideRefusals: parts that do not belong together are not joined, nor by what needs all parts.
func TestDivideRefusals(t *testing.T) {
	engine := onHost(t, spirjoin.Options{})
	path := keyedFile(t, 300, func(i int) string { return fmt.Sprint(i) })
	dates := keyedFile(t, 300, func(i int) string { return fmt.Sprintf("2026-01-%02d", 1+i%28) })
	parts, others := divided(t, path, DivideOptions{}), divided(t, dates, DivideOptions{})
	onK := []string{"k"}
	for _, c := range []struct {
		right string
		spec  spirjoin.JoinSpec
		text  string
	}{
		{parts[1], spirjoin.JoinSpec{On: onK}, "the right file is part 1 of 5 by k of type int64"},
		{parts[0], spirjoin.JoinSpec{On: []string{"v"}}, "rows with equal keys may be in other parts"},
		{parts[0], spirjoin.JoinSpec{On: onK, How: spirjoin.NotIn}, "rows of other parts count"},
		{parts[0], spirjoin.JoinSpec{How: spirjoin.Cross}, "rows of other parts count"},
		{parts[0], spirjoin.JoinSpec{On: onK, NullsEqual: onK}, "divide both with nulls_equal"},
		{others[0], spirjoin.JoinSpec{LeftOn: []string{"v"}, RightOn: []string{"v"}}, "of type date32"},
	} {
		_, err := textsOf(t, engine, parts[0], c.right, c.spec)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, c.text)
	}
	_, err := textsOf(t, engine, parts[0], path, spirjoin.JoinSpec{On: onK, How: spirjoin.Semi})
	require.NoError(t, err, "a part and a whole file")

	folder := filepath.Join(t.TempDir(), "parts")
	for _, o := range []DivideOptions{{On: onK}, {On: onK, Parts: MostParts + 1}, {On: []string{"z"}, Parts: 2},
		{On: onK, Parts: 2, With: schemaOf(t, dates), WithOn: onK}} {
		_, err := Divide(t.Context(), path, folder, o)
		require.Error(t, err)
		require.NoDirExists(t, folder)
	}
}

// TestDivideLimit: under a limit, blocks and row groups are smaller.
func TestDivideLimit(t *testing.T) {
	path := keyedFile(t, 100_000, func(i int) string { return fmt.Sprint(i) })
	parts := divided(t, path, DivideOptions{Limit: NewLimit(16<<20, 0)})
	rows := int64(0)
	for _, part := range parts {
		r, err := tableio.Open(t.Context(), part, tableio.ReadOptions{})
		require.NoError(t, err)
		rows += r.Rows()
		require.NoError(t, r.Close())
	}
	require.EqualValues(t, 100_000, rows)
}
