package measure

import (
	"fmt"
	"strings"
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

type sweep Heading

func (s sweep) Heading() Heading { return Heading(s) }

func TestFigures(t *testing.T) {
	all := []sweep{{Name: "f-1", Title: "joins", Cells: 1}, {Name: "f-10", Title: "more joins", Note: "Ours", Cells: 2}}
	var b strings.Builder
	WriteFigures(&b, all)
	require.Equal(t, "f-1  joins; 1 cell\nf-10 more joins; 2 cells. Ours.\n", b.String())

	found, err := FindFigures(all, []string{"all"})
	require.NoError(t, err)
	require.Equal(t, all, found)
	found, err = FindFigures(all, []string{"f-10", "f-1"})
	require.NoError(t, err)
	require.Equal(t, []sweep{all[1], all[0]}, found)
	found, err = FindFigures(all, nil)
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = FindFigures(all, []string{"f-2"})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.EqualError(t, err, `invalid input: no figure "f-2"; there are f-1, f-10, and all`)
}

func TestScaleOn(t *testing.T) {
	gpu, cpu := &backend.DeviceInfo{Type: backend.Discrete}, &backend.DeviceInfo{Type: backend.Host}
	for _, c := range []struct {
		on          *backend.DeviceInfo
		given, want int
	}{{gpu, -1, 0}, {cpu, -1, 8}, {gpu, 3, 3}, {cpu, 0, 0}} {
		require.Equal(t, c.want, ScaleOn(c.on, c.given, 8))
	}
}
