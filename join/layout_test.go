package join_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
)

func schemaOf(names ...string) *arrow.Schema {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}
	}
	return arrow.NewSchema(fields, nil)
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
		{[]string{"k"}, []string{"k", "a", "a"}, []string{"a_right"}, `the right table has 2 columns "a"`},
		{[]string{"k", "a", "a"}, []string{"k", "b"}, []string{"b", "k"}, ""},
		{[]string{"k", "b"}, []string{"k", "a", "a"}, []string{"b"}, ""},
		{[]string{"k", "a", "a_right"}, []string{"k", "a"}, []string{"a"}, ""},
	} {
		layout, err := join.NewLayout(schemaOf(c.left...), schemaOf(c.right...), join.Spec{LeftOn: []string{"k"}, RightOn: []string{"k"}, Columns: c.columns})
		if c.fault != "" {
			require.ErrorIs(t, err, backend.ErrInvalidInput, "%v", c)
			require.ErrorContains(t, err, c.fault, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		for i, name := range c.columns {
			require.Equal(t, name, layout.Schema.Field(i).Name)
		}
		require.NotContains(t, layout.Needed[0], "a_right")
	}
}

// A name of the right table that is taken gets the suffix until it is free, whichever table has the longer names.
func TestLayoutOfTakenNames(t *testing.T) {
	short, long := schemaOf("k", "a"), schemaOf("k", "a", "a_right")
	names := func(left, right *arrow.Schema) (names []string) {
		layout, err := join.NewLayout(left, right, join.Spec{On: []string{"k"}})
		require.NoError(t, err)
		for _, field := range layout.Schema.Fields() {
			names = append(names, field.Name)
		}
		return names
	}
	require.Equal(t, []string{"k", "a", "a_right"}, names(short, short))
	require.Equal(t, []string{"k", "a", "a_right", "a_right_right"}, names(short, long))
	require.Equal(t, []string{"k", "a", "a_right", "a_right_right"}, names(long, short))
	require.Equal(t, []string{"k", "a", "a_right", "a_right_right", "a_right_right_right"}, names(long, long))
}
