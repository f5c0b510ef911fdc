package join_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"

	"github.com/spirjoin/spirjoin/relation"
)

var everyHow = []join.How{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.RightSemi,
	join.RightAnti, join.Mark, join.NotIn, join.Cross}

func TestParseHow(t *testing.T) {
	for _, how := range everyHow {
		got, err := join.ParseHow(strings.ToUpper(how.String()))
		require.NoError(t, err)
		require.Equal(t, how, got)
	}
	for text, want := range map[string]join.How{"outer": join.Full, "left-semi": join.Semi, "left_anti": join.Anti,
		"right_semi": join.RightSemi, "Right_Anti": join.RightAnti, "NOT_IN": join.NotIn} {
		got, err := join.ParseHow(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	_, err := join.ParseHow("lfet")
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.EqualError(t, err, `invalid input: how="lfet"; did you mean "left"? There are inner, left, right, full, `+
		`semi, anti, right-semi, right-anti, mark, not-in, cross`)
	_, err = join.ParseHow("")
	require.ErrorContains(t, err, `how=""; there are inner`)
}

func TestParseOptions(t *testing.T) {
	for _, v := range []join.Validate{join.Any, join.OneToOne, join.OneToMany, join.ManyToOne, join.ManyToMany} {
		got, err := join.ParseValidate(v.String())
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	for _, o := range []join.Order{join.Unordered, join.LeftOrder, join.RightOrder} {
		got, err := join.ParseOrder(o.String())
		require.NoError(t, err)
		require.Equal(t, o, got)
	}
	for _, b := range []join.BuildSide{join.BuildAuto, join.BuildLeft, join.BuildRight} {
		got, err := join.ParseBuildSide(b.String())
		require.NoError(t, err)
		require.Equal(t, b, got)
	}
	_, err := join.ParseValidate("1:n")
	require.EqualError(t, err, `invalid input: validate="1:n"; did you mean "1:m"? There are m:m, 1:1, 1:m, m:1`)
	_, err = join.ParseOrder("up")
	require.EqualError(t, err, `invalid input: order="up"; there are none, left, right`)
	_, err = join.ParseBuildSide("both")
	require.ErrorContains(t, err, `build_side="both"`)
}

// The sides as the words for the kinds of join say.
func TestSidesOfKinds(t *testing.T) {
	sides := func(has func(relation.Side) bool) (text string) {
		for _, side := range []relation.Side{relation.Left, relation.Right} {
			if has(side) {
				text += side.String()[:1]
			}
		}
		return text
	}
	for how, want := range map[join.How][3]string{ // columns, kept without partner, NULL without partner
		join.Inner: {"lr", "", ""}, join.Left: {"lr", "l", "r"}, join.Right: {"lr", "r", "l"},
		join.Full: {"lr", "lr", "lr"}, join.Semi: {"l", "", ""}, join.Anti: {"l", "l", ""},
		join.RightSemi: {"r", "", ""}, join.RightAnti: {"r", "r", ""}, join.Mark: {"l", "l", ""},
		join.NotIn: {"l", "l", ""}, join.Cross: {"lr", "", ""},
	} {
		require.Equal(t, want, [3]string{sides(how.Has), sides(how.Keeps), sides(how.Optional)}, how)
		require.Equal(t, want[0] == "lr", how.Pairs(), how)
	}
	require.Equal(t, [2]bool{true, true}, [2]bool{join.OneToOne.Unique(0), join.OneToOne.Unique(1)})
	require.Equal(t, [2]bool{true, false}, [2]bool{join.OneToMany.Unique(0), join.OneToMany.Unique(1)})
	require.Equal(t, [2]bool{false, true}, [2]bool{join.ManyToOne.Unique(0), join.ManyToOne.Unique(1)})
	require.Equal(t, [2]bool{false, false}, [2]bool{join.ManyToMany.Unique(0), join.Any.Unique(1)})
}

func TestSpecDefaults(t *testing.T) {
	table := schemaOf("k", "a")
	for _, how := range everyHow {
		spec := join.Spec{How: how, On: []string{"k"}, Deterministic: true}
		if how == join.Cross {
			spec.On = nil
		}
		layout, err := join.NewLayout(table, table, spec)
		require.NoError(t, err, how)
		want := join.LeftOrder
		if how == join.Right || how == join.RightSemi || how == join.RightAnti {
			want = join.RightOrder
		}
		require.Equal(t, want, layout.Spec.Order, how)
		require.Equal(t, "_right", layout.Spec.Suffix)
		require.Equal(t, 1<<20, layout.Spec.BatchRows)
		if how.Pairs() {
			spec.Order = join.LeftOrder + join.RightOrder - want // the other one, if it is asked for
			layout, err = join.NewLayout(table, table, spec)
			require.NoError(t, err)
			require.Equal(t, spec.Order, layout.Spec.Order, how)
		}
		spec.Order, spec.Deterministic = join.Unordered, false
		layout, err = join.NewLayout(table, table, spec)
		require.NoError(t, err)
		require.Equal(t, join.Unordered, layout.Spec.Order)
	}
}

func TestSpecFaults(t *testing.T) {
	k := []string{"k"}
	for _, c := range []struct {
		spec join.Spec
		want string
	}{
		{join.Spec{}, "no key columns; give on, or left_on and right_on"},
		{join.Spec{On: k, LeftOn: k}, "give either on or left_on and right_on"},
		{join.Spec{LeftOn: k, RightOn: []string{"a", "b"}}, "1 columns in left_on, 2 in right_on"},
		{join.Spec{How: join.Cross, On: k}, "a cross join takes no key columns"},
		{join.Spec{How: join.Cross, RightOn: k}, "a cross join takes no key columns"},
		{join.Spec{How: join.Cross, Validate: join.OneToOne}, "a cross join has no keys to validate"},
		{join.Spec{On: k, How: join.Left, Output: join.Pairs}, "output pairs is for inner joins; a left join returns"},
		{join.Spec{On: k, NullsEqual: []string{"k", "a"}}, `nulls_equal names "a", which is not a left key column`},
		{join.Spec{LeftOn: k, RightOn: []string{"r"}, NullsEqual: []string{"r"}}, `nulls_equal names "r", which is not`},
		{join.Spec{How: join.Cross, NullsEqual: k}, "a cross join has no keys for nulls_equal"},
		{join.Spec{How: join.NotIn, On: []string{"k", "a"}}, "a not-in join takes one key column"},
		{join.Spec{How: join.NotIn, On: []string{"k", "a"}}, "use anti, for which such rows have no partner"},
		{join.Spec{How: join.NotIn, On: k, NullsEqual: k}, "use anti with nulls_equal"},
		{join.Spec{On: k, How: join.Semi, Order: join.RightOrder}, "cannot be in the order of the right one"},
		{join.Spec{On: k, How: join.RightAnti, Order: join.LeftOrder}, "cannot be in the order of the left one"},
		{join.Spec{On: k, How: join.Mark, Indicator: "x"}, "a mark join returns rows of one"},
		{join.Spec{On: k, MarkName: "x"}, "mark_name is for mark joins; an inner join has no such column"},
		{join.Spec{On: k, BatchRows: -1}, "batch_rows is -1"},
		{join.Spec{On: k, How: 77}, "unknown kind of join 77; there are inner, left, right, full, semi, anti, right-semi, "},
		{join.Spec{On: k, Validate: 9, Order: 9, BuildSide: 9, Output: 9, Algorithm: "quick", Materialize: 9},
			"unknown validate 9; there are m:m, 1:1, 1:m, m:1; unknown output 9; there are rows, count, pairs; " +
				"unknown order 9; there are none, left, right; unknown materialize 9; there are auto, host, device; " +
				`unknown algorithm "quick"; there are auto, phj-om, phj-um, hj, smj-om, smj-um, graphics; ` +
				"unknown build_side 9; there are auto, left, right"},
		{join.Spec{On: k, Algorithm: "smjum"}, `unknown algorithm "smjum"; did you mean "smj-um"? There are auto, phj-om`},
	} {
		err := c.spec.Check()
		require.ErrorIs(t, err, backend.ErrInvalidInput, c.want)
		require.ErrorContains(t, err, c.want)
		_, err = join.NewLayout(schemaOf("k"), schemaOf("k"), c.spec)
		require.ErrorContains(t, err, c.want, "the layout checks too")
	}
	require.EqualError(t, join.Spec{How: join.Semi, Indicator: "x", Output: join.Pairs}.Check(),
		"invalid input: join: no key columns; give on, or left_on and right_on; output pairs is for inner joins; a semi "+
			"join returns rows or their count; an indicator says which tables a row comes from; a semi join returns "+
			"rows of one", "all together")
	require.NoError(t, join.Spec{On: k, How: join.Semi, Order: join.LeftOrder, Validate: join.OneToOne}.Check())
	require.NoError(t, join.Spec{How: join.NotIn, On: k, Order: join.LeftOrder, Validate: join.ManyToOne}.Check())
	require.NoError(t, join.Spec{On: k, NullsEqual: k, How: join.Full}.Check())
	require.NoError(t, join.Spec{How: join.Cross, Order: join.RightOrder, Indicator: "x"}.Check())
}

func TestCheckCross(t *testing.T) {
	spec := join.Spec{How: join.Cross}
	require.NoError(t, spec.CheckCross(10_000, 10_000))
	require.NoError(t, spec.CheckCross(0, math.MaxUint64))
	err := spec.CheckCross(10_000, 10_001)
	require.ErrorIs(t, err, backend.ErrLimit)
	require.EqualError(t, err, "cross join: limit exceeded (10000 x 10001 rows make 100010000, the limit is 100000000; "+
		"raise max_output_rows)")
	require.ErrorContains(t, spec.CheckCross(math.MaxUint64, 2), "make 36893488147419103230")

	spec.MaxOutputRows = 6
	require.NoError(t, spec.CheckCross(2, 3))
	require.ErrorContains(t, spec.CheckCross(1, 7), "the limit is 6")
	spec.Output = join.Count
	require.ErrorIs(t, spec.CheckCross(1, 7), backend.ErrLimit)
	spec.MaxOutputRows = 0
	require.NoError(t, spec.CheckCross(1<<32, 1<<31), "a number is made, no rows")
	require.ErrorIs(t, spec.CheckCross(1<<32, 1<<32), backend.ErrLimit)
}
