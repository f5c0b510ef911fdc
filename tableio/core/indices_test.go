package core

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

func TestHasDictionary(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	inner := arrow.StructOf(arrow.Field{Name: "d", Type: dictionary})
	require.True(t, HasDictionary([]arrow.Field{{Type: arrow.ListOf(inner)}}))
	require.False(t, HasDictionary([]arrow.Field{{Type: arrow.ListOf(arrow.BinaryTypes.String)}}))
}
