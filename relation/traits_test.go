package relation

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// TestTraits compares the table with what Arrow says about the types.
func TestTraits(t *testing.T) {
	for _, group := range relationtest.KeyTypes {
		for _, dt := range group {
			trait := TraitOf(dt)
			require.NotEqual(t, ClassNone, trait.Class, dt)
			require.Equal(t, dt.(arrow.FixedWidthDataType).BitWidth(), trait.Bits, dt)
			require.Equal(t, trait.Class == ClassBool || arrow.IsUnsignedInteger(dt.ID()), trait.Unsigned, dt)
			require.Equal(t, trait, TraitOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: dt}))
		}
	}
	require.Equal(t, ClassNone, TraitOf(arrow.ListOf(arrow.PrimitiveTypes.Int8)).Class)
}
