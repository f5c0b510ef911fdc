package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/tableio"
)

// years are partitions of CSV files, of which each has rows of one year.
func years(t *testing.T, count, rows int) (dir string) {
	dir = t.TempDir()
	for year := range count {
		path := filepath.Join(dir, fmt.Sprint("year=", 2000+year), "x.csv")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		var text strings.Builder
		text.WriteString("v\n")
		for row := range rows {
			fmt.Fprintf(&text, "%d\n", year*rows+row)
		}
		require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	}
	return dir
}

// A join by the column of partitions reads the files alone that may have a match, also for keys of another width.
func TestPartitionsThatAreSkipped(t *testing.T) {
	dir, wanted := years(t, 10, 3), filepath.Join(t.TempDir(), "wanted.parquet")
	batch := recordOf(ints("year", 2003, 2004))
	defer batch.Release()
	w, err := tableio.Create(wanted, batch.Schema(), tableio.WriteOptions{})
	require.NoError(t, err)
	defer w.Abort()
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Commit(t.Context()))
	p, err := Open(t.Context(), [2]string{dir, wanted}, [2]tableio.ReadOptions{}, For(onHost(t, spirjoin.Options{})))
	require.NoError(t, err)
	defer p.Close()
	layout, err := p.Layout(spirjoin.JoinSpec{LeftOn: []string{"year"}, RightOn: []string{"year"}})
	require.NoError(t, err)
	p.Choose(layout)
	for year := range 10 {
		if year != 3 && year != 4 {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, fmt.Sprint("year=", 2000+year))))
		}
	}
	joined, err := p.Join(t.Context(), layout, ToCount)
	require.NoError(t, err)
	defer joined.Close()
	require.EqualValues(t, 6, joined.Rows())
}

// Parts of several processes are disjoint, and together all rows.
func TestSharesOfPairs(t *testing.T) {
	dir, other := years(t, 7, 20), textFile(t, "other.csv", "v,w", "1,x", "2,y", "139,z")
	rows := [2]int64{}
	for rank := range 3 {
		p, err := Open(t.Context(), [2]string{dir, other}, [2]tableio.ReadOptions{}, For(onHost(t, spirjoin.Options{})))
		require.NoError(t, err)
		require.NoError(t, p.Share(rank, 3))
		for side, t := range p.tables {
			rows[side] += t.Rows()
		}
		require.Equal(t, map[bool]int64{true: 3}[rank == 0], p.tables[1].Rows(), "rank 0 has a small file")
		p.Close()
	}
	require.Equal(t, [2]int64{140, 3}, rows)
	p, err := Open(t.Context(), [2]string{other, other}, [2]tableio.ReadOptions{}, For(onHost(t, spirjoin.Options{})))
	require.NoError(t, err)
	defer p.Close()
	require.ErrorContains(t, p.Share(3, 3), "there is no part 3 of 3")
}

// Join takes inputs of several files, under a limit too.
func TestJoinOfSeveralFiles(t *testing.T) {
	dir, other := years(t, 30, 200), textFile(t, "other.csv", "v,w", "1,x", "2,y", "5999,z")
	for _, options := range []spirjoin.Options{{}, {MemoryLimitBytes: 256 << 20}} {
		out := filepath.Join(t.TempDir(), "out.csv")
		_, err := Join(t.Context(), onHost(t, options), filepath.Join(dir, "**", "*.csv"), other, out,
			JoinOptions{Spec: spirjoin.JoinSpec{On: []string{"v"}, Deterministic: true}})
		require.NoError(t, err)
		require.Equal(t, "v,year,w\n1,2000,x\n2,2000,y\n5999,2029,z\n", content(t, out))
	}
}
