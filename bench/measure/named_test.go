package measure

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestTitleLine(t *testing.T) {
	require.Equal(t, "f-1: joins of 2^9 rows", TitleLine("f-1", "joins of 2^9 rows", 0))
	require.Equal(t, "f-1: joins of 2^9 rows; rows divided by 2^3", TitleLine("f-1", "joins of 2^9 rows", 3))
}

func TestCheckCell(t *testing.T) {
	require.NoError(t, CheckCell("", []string{"here"}))
	require.NoError(t, CheckCell("er", []string{"there", "here"}))
	err := CheckCell("of", []string{"here", "there", "here"})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.EqualError(t, err, `invalid input: no cell contains "of"; there are here, there`)
	var places []string
	for i := range 15 {
		places = append(places, fmt.Sprint("n=", i))
	}
	require.ErrorContains(t, CheckCell("m", places), "n=10, n=11 and 3 more")
}
