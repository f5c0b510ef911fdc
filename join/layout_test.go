package join_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

func schemaOf(names ...string) *arrow.Schema {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}
	}
	return arrow.NewSchema(fields, nil)
}

func namesOf(layout *join.Layout) (names []string) {
	for _, field := range layout.Schema.Fields() {
		names = append(names, field.Name)
	}
	return names
}

// layoutText is the output: for each column its name, where it comes from, and its type, with a question mark where it
// can be NULL. The value of a key comes from the side that is named first.
func layoutText(l *join.Layout) string {
	var texts []string
	for i, c := range l.Columns {
		var from string
		switch c.Role {
		case join.ValueColumn:
			from = c.Side.String()[:1] + "." + c.Source
		case join.KeyColumn:
			sides := []string{"l." + c.Source, "r." + c.Other}
			if c.Side == relation.Right {
				slices.Reverse(sides)
			}
			from = strings.Join(sides, "|")
		case join.IndicatorColumn:
			from = "indicator"
		case join.MarkColumn:
			from = "mark"
		}
		field, null := l.Schema.Field(i), ""
		if field.Nullable {
			null = "?"
		}
		texts = append(texts, fmt.Sprintf("%s=%s %s%s", field.Name, from, field.Type, null))
	}
	return strings.Join(texts, ", ")
}

// Every kind of join, with keys as one column and as two, whose names are the same or not and clash with others or not.
func TestLayoutOfEveryKind(t *testing.T) {
	i32, i64, text := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	same := [2]*arrow.Schema{
		arrow.NewSchema([]arrow.Field{{Name: "v", Type: text}, {Name: "k", Type: i32}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "k", Type: i64, Nullable: true}, {Name: "w", Type: text}}, nil),
	}
	renamed := [2]*arrow.Schema{
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: i32}, {Name: "v", Type: text}, {Name: "mark", Type: text}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "v", Type: text}, {Name: "b", Type: i32}, {Name: "a", Type: i64}}, nil),
	}
	for _, c := range []struct {
		how           join.How
		separate      bool
		same, renamed string
	}{
		{how: join.Inner,
			same:    "v=l.v utf8, k=l.k|r.k int32, w=r.w utf8",
			renamed: "a=l.a|r.b int32, v=l.v utf8, mark=l.mark utf8, v_right=r.v utf8, a_right=r.a int64"},
		{how: join.Inner, separate: true,
			same:    "v=l.v utf8, k=l.k int32, k_right=r.k int64?, w=r.w utf8",
			renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8, v_right=r.v utf8, b=r.b int32, a_right=r.a int64"},
		{how: join.Left,
			same:    "v=l.v utf8, k=l.k|r.k int32, w=r.w utf8?",
			renamed: "a=l.a|r.b int32, v=l.v utf8, mark=l.mark utf8, v_right=r.v utf8?, a_right=r.a int64?"},
		{how: join.Left, separate: true,
			same:    "v=l.v utf8, k=l.k int32, k_right=r.k int64?, w=r.w utf8?",
			renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8, v_right=r.v utf8?, b=r.b int32?, a_right=r.a int64?"},
		{how: join.Right,
			same:    "v=l.v utf8?, k=r.k|l.k int64?, w=r.w utf8",
			renamed: "a=r.b|l.a int32, v=l.v utf8?, mark=l.mark utf8?, v_right=r.v utf8, a_right=r.a int64"},
		{how: join.Right, separate: true,
			same:    "v=l.v utf8?, k=l.k int32?, k_right=r.k int64?, w=r.w utf8",
			renamed: "a=l.a int32?, v=l.v utf8?, mark=l.mark utf8?, v_right=r.v utf8, b=r.b int32, a_right=r.a int64"},
		{how: join.Full,
			same:    "v=l.v utf8?, k=l.k|r.k int64?, w=r.w utf8?",
			renamed: "a=l.a|r.b int32, v=l.v utf8?, mark=l.mark utf8?, v_right=r.v utf8?, a_right=r.a int64?"},
		{how: join.Full, separate: true,
			same:    "v=l.v utf8?, k=l.k int32?, k_right=r.k int64?, w=r.w utf8?",
			renamed: "a=l.a int32?, v=l.v utf8?, mark=l.mark utf8?, v_right=r.v utf8?, b=r.b int32?, a_right=r.a int64?"},
		{how: join.Semi,
			same: "v=l.v utf8, k=l.k int32", renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8"},
		{how: join.Anti,
			same: "v=l.v utf8, k=l.k int32", renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8"},
		{how: join.Anti, separate: true,
			same: "v=l.v utf8, k=l.k int32", renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8"},
		{how: join.RightSemi,
			same: "k=r.k int64?, w=r.w utf8", renamed: "v=r.v utf8, b=r.b int32, a=r.a int64"},
		{how: join.RightAnti,
			same: "k=r.k int64?, w=r.w utf8", renamed: "v=r.v utf8, b=r.b int32, a=r.a int64"},
		{how: join.Mark,
			same:    "v=l.v utf8, k=l.k int32, mark=mark bool",
			renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8, mark_right=mark bool"},
		{how: join.Cross,
			same: "v=l.v utf8, k=l.k int32, k_right=r.k int64?, w=r.w utf8",
			renamed: "a=l.a int32, v=l.v utf8, mark=l.mark utf8, v_right=r.v utf8, b=r.b int32, " +
				"a_right=r.a int64"},
	} {
		for _, side := range []struct {
			schemas  [2]*arrow.Schema
			on       [2]string
			expected string
		}{{same, [2]string{"k", "k"}, c.same}, {renamed, [2]string{"a", "b"}, c.renamed}} {
			spec := join.Spec{How: c.how, SeparateKeys: c.separate, LeftOn: side.on[:1], RightOn: side.on[1:]}
			if c.how == join.Cross {
				spec.LeftOn, spec.RightOn = nil, nil
			}
			layout, err := join.NewLayout(side.schemas[0], side.schemas[1], spec)
			require.NoError(t, err, c.how)
			require.Equal(t, side.expected, layoutText(layout), "%s, separate keys: %v", c.how, c.separate)
			for s, schema := range side.schemas { // all of a side whose columns are returned, otherwise the keys
				want := side.on[s : s+1]
				if c.how.Has(relation.Side(s)) {
					want = nil
					for _, field := range schema.Fields() {
						want = append(want, field.Name)
					}
				}
				require.Equal(t, want, layout.Needed[s], "%s, side %d", c.how, s)
			}
			if !c.how.Pairs() {
				continue
			}
			spec.Indicator = "v" // a name that is taken
			with, err := join.NewLayout(side.schemas[0], side.schemas[1], spec)
			require.NoError(t, err, c.how)
			indicator := "v_right_right"
			if side.schemas == same {
				indicator = "v_right"
			}
			require.Equal(t, side.expected+", "+indicator+"=indicator utf8", layoutText(with), c.how)
		}
	}
}

// Only what is asked for is read, and keys; of both sides where they are one column.
func TestLayoutOfChosenColumns(t *testing.T) {
	left, right := schemaOf("k", "a", "b"), schemaOf("j", "a", "c")
	spec := join.Spec{How: join.Full, LeftOn: []string{"k"}, RightOn: []string{"j"}, Indicator: "from",
		Columns: []string{"from", "a_right", "k"}}
	layout, err := join.NewLayout(left, right, spec)
	require.NoError(t, err)
	require.Equal(t, "from=indicator utf8, a_right=r.a int64?, k=l.k|r.j int64", layoutText(layout))
	require.Equal(t, [2][]string{{"k"}, {"j", "a"}}, layout.Needed)

	spec.Columns = []string{"j"}
	_, err = join.NewLayout(left, right, spec)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.ErrorContains(t, err, `no column "j": the right key is returned as "k"`)
	spec.Columns = []string{"a", "k", "a"}
	_, err = join.NewLayout(left, right, spec)
	require.ErrorContains(t, err, `"a" is asked for twice`)
	spec.Columns = []string{"a_rihgt"}
	_, err = join.NewLayout(left, right, spec)
	require.ErrorContains(t, err, `did you mean "a_right"?`)

	layout, err = join.NewLayout(left, right, join.Spec{How: join.Mark, LeftOn: []string{"k"}, RightOn: []string{"j"},
		MarkName: "found", Columns: []string{"found"}})
	require.NoError(t, err)
	require.Equal(t, "found=mark bool", layoutText(layout))
	require.Equal(t, [2][]string{{"k"}, {"j"}}, layout.Needed)

	layout, err = join.NewLayout(left, right, join.Spec{How: join.Cross, Output: join.Count})
	require.NoError(t, err)
	require.Empty(t, layout.Columns)
	require.Equal(t, [2][]string{{}, {}}, layout.Needed, "not nil, which would be all columns to a reader")
}

// A left key column that is compared with two right ones is one column with the first of them only.
func TestLayoutOfKeysUsedTwice(t *testing.T) {
	layout, err := join.NewLayout(schemaOf("a", "b"), schemaOf("c", "d"),
		join.Spec{How: join.Full, LeftOn: []string{"a", "a", "b"}, RightOn: []string{"c", "d", "c"}})
	require.NoError(t, err)
	require.Equal(t, "a=l.a|r.c int64, b=l.b|r.c int64, d=r.d int64?", layoutText(layout))
}

// Keys of types that no type holds together are refused in full joins, where they are returned as one column.
func TestLayoutOfKeysWithoutCommonType(t *testing.T) {
	left := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, nil)
	right := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.PrimitiveTypes.Float64}}, nil)
	spec := join.Spec{How: join.Full, LeftOn: []string{"a"}, RightOn: []string{"b"}}
	for _, columns := range [][]string{nil, {"x", "a"}} {
		spec.Columns = columns
		_, err := join.NewLayout(left, right, spec)
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, `left key column "a" (int64) and right key column "b" (float64)`)
		require.ErrorContains(t, err, "set separate_keys")
	}
	texts := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	spec.Columns = nil
	_, err := join.NewLayout(texts, right, spec)
	require.EqualError(t, err, `unsupported: left key column "a" (utf8) and right key column "b" (float64): their values `+
		"mean different things; cast one of them", "separate keys would not help")
	for _, spec := range []join.Spec{{How: join.Full, SeparateKeys: true}, {How: join.Full, Columns: []string{"x"}},
		{How: join.Left}, {How: join.Right}, {How: join.Inner}, {How: join.Full, Output: join.Count}} {
		spec.LeftOn, spec.RightOn = []string{"a"}, []string{"b"}
		_, err := join.NewLayout(left, right, spec)
		require.NoError(t, err, spec.How)
	}
}

// A name that two columns have is a fault only where one of them is asked for, and the fault names the table.
func TestLayoutOfAmbiguousNames(t *testing.T) {
	for _, c := range []struct {
		left, right, columns []string
		fault                string
	}{
		{[]string{"k", "a", "a"}, []string{"k", "b"}, nil, `the left table has 2 columns "a"`},
		{[]string{"k", "b"}, []string{"k", "a", "a"}, nil, `the right table has 2 columns "a"`},
		{[]string{"k", "a"}, []string{"k", "a", "a"}, nil, `the right table has 2 columns "a"`},
		{[]string{"k", "a", "a"}, []string{"k", "b"}, []string{"a"}, `the left table has 2 columns "a"`},
		{[]string{"k"}, []string{"k", "a", "a"}, []string{"a"}, `the right table has 2 columns "a"`},
		{[]string{"k", "a"}, []string{"k", "a", "a"}, []string{"a_right"}, `the right table has 2 columns "a"`},
		{[]string{"k", "a", "a"}, []string{"k", "b"}, []string{"b", "k"}, ""},
		{[]string{"k", "b"}, []string{"k", "a", "a"}, []string{"b"}, ""},
		{[]string{"k", "a", "a_right"}, []string{"k", "a"}, []string{"a"}, ""},
	} {
		layout, err := join.NewLayout(schemaOf(c.left...), schemaOf(c.right...),
			join.Spec{LeftOn: []string{"k"}, RightOn: []string{"k"}, Columns: c.columns})
		if c.fault != "" {
			require.ErrorIs(t, err, backend.ErrInvalidInput, "%v", c)
			require.ErrorContains(t, err, c.fault, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, c.columns, namesOf(layout))
		require.NotContains(t, layout.Needed[0], "a_right")
	}
}

// A name of the right table that the left one has gets the suffix until it is free, whichever table has the longer
// names; the other names of the right table stay.
func TestLayoutOfTakenNames(t *testing.T) {
	short, long := schemaOf("k", "a"), schemaOf("k", "a", "a_right")
	names := func(left, right *arrow.Schema) []string {
		layout, err := join.NewLayout(left, right, join.Spec{On: []string{"k"}})
		require.NoError(t, err)
		return namesOf(layout)
	}
	require.Equal(t, []string{"k", "a", "a_right"}, names(short, short))
	require.Equal(t, []string{"k", "a", "a_right_right", "a_right"}, names(short, long))
	require.Equal(t, []string{"k", "a", "a_right", "a_right_right"}, names(long, short))
	require.Equal(t, []string{"k", "a", "a_right", "a_right_right", "a_right_right_right"}, names(long, long))
}

// Whatever the names: each is there once, left ones are kept, right ones unless a left one is the same, and the others
// are theirs with suffixes.
// TestLayoutOfNamelessColumns: a column without a name, as CSV files of pandas have one, is a column like any other.
func TestLayoutOfNamelessColumns(t *testing.T) {
	left, right := schemaOf("", "a"), schemaOf("a", "")
	for on, want := range map[string]string{
		"a": "=l. int64, a=l.a|r.a int64, _right=r. int64",
		"":  "=l.|r. int64, a=l.a int64, a_right=r.a int64",
	} {
		layout, err := join.NewLayout(left, right, join.Spec{LeftOn: []string{on}, RightOn: []string{on}})
		require.NoError(t, err)
		require.Equal(t, want, layoutText(layout))
		require.Equal(t, [2][]string{{"", "a"}, {"a", ""}}, layout.Needed)
	}
}

func TestLayoutNamesAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "_r", "b"}), 1, 4),
			func(parts []string) string { return strings.Join(parts, "") })
		names := rapid.SliceOfDistinct(name, rapid.ID)
		left, right := names.Draw(t, "left"), names.Draw(t, "right")
		layout, err := join.NewLayout(schemaOf(left...), schemaOf(right...),
			join.Spec{How: join.Cross, Suffix: "_r", Indicator: name.Draw(t, "indicator")})
		require.NoError(t, err)
		got := namesOf(layout)
		require.Len(t, got, len(left)+len(right)+1)
		require.Equal(t, left, append([]string{}, got[:len(left)]...))
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), len(got), "%v", got)
		for i, was := range right {
			now := got[len(left)+i]
			if !slices.Contains(left, was) {
				require.Equal(t, was, now)
			} else {
				require.Regexp(t, "^"+was+"(_r)+$", now)
			}
		}
	})
}
