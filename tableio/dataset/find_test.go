package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree makes empty files, in a folder that becomes the current one.
func tree(t *testing.T, paths ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, path := range paths {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
}

func parquetFiles(name string) bool { return strings.HasSuffix(name, ".parquet") }

func pathsOf(files []File) (paths []string) {
	for _, file := range files {
		paths = append(paths, file.Path)
	}
	return paths
}

func TestFind(t *testing.T) {
	tree(t, "a.parquet", "b.txt", "in/2.parquet", "in/10.parquet", "in/_SUCCESS", "in/_meta.parquet",
		"in/.hidden.parquet",
		"in/sub/1.parquet", "in/sub-1/1.parquet", "in/_sub/1.parquet", "in/.sub/1.parquet", "in/_part=1/1.parquet",
		"in/notes.md", "odd/x[1].parquet", "odd/x1.parquet", "odd/@x", "odd/{a,b}", "odd/*", "none/x.md", "@y")
	require.NoError(t, os.Symlink("../in/sub", "odd/link"))
	for input, want := range map[string]string{
		"-":                 "-",
		"a.parquet":         "a.parquet",
		"b.txt":             "b.txt", // whatever its extension
		"odd/x[1].parquet":  "odd/x[1].parquet",
		"odd/x[12].parquet": "odd/x1.parquet",
		"odd/*":             "odd/*",
		"odd/{a,b}":         "odd/{a,b}",
		"@y":                "@y",
		"in":                "in/10.parquet in/2.parquet in/_part=1/1.parquet in/sub/1.parquet in/sub-1/1.parquet",
		"./in/":             "in/10.parquet in/2.parquet in/_part=1/1.parquet in/sub/1.parquet in/sub-1/1.parquet",
		"odd":               "odd/link/1.parquet odd/x1.parquet odd/x[1].parquet",
		"in/*":              "in/10.parquet in/2.parquet in/notes.md",
		"in/_*":             "in/_SUCCESS in/_meta.parquet",
		"in/.*.parquet":     "in/.hidden.parquet",
		"in/*/*.parquet":    "in/_part=1/1.parquet in/sub/1.parquet in/sub-1/1.parquet",
		"in/**/*.parquet":   "in/10.parquet in/2.parquet in/_part=1/1.parquet in/sub/1.parquet in/sub-1/1.parquet",
		"in/s*":             "in/sub/1.parquet in/sub-1/1.parquet", // folders, as there is no such file
		"in/{2,10}.parquet": "in/10.parquet in/2.parquet",
		"{in,odd}/?[0-9]*":  "in/10.parquet odd/x1.parquet",
		"?.parquet":         "a.parquet",
		"../*/a.parquet":    filepath.Join("..", filepath.Base(must(os.Getwd())), "a.parquet"),
	} {
		files, err := Find(input, parquetFiles)
		require.NoError(t, err, input)
		require.Equal(t, want, strings.Join(pathsOf(files), " "), input)
	}
	for input, want := range map[string]string{
		"no such file": "no such file", "in/x*": "no file matches the pattern",
		"nowhere/*": "no file matches the pattern",
		"in/[":      "malformed", "none": "no file in the folder", "@list": "no such file",
	} {
		_, err := Find(input, parquetFiles)
		require.ErrorContains(t, err, want, input)
	}
	require.NoError(t, os.Symlink("..", "in/sub/loop"))
	_, err := Find("in", parquetFiles)
	require.ErrorContains(t, err, "the link in/sub/loop leads back")
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestFindListed(t *testing.T) {
	tree(t, "b.parquet", "a.parquet", "k=1/x.parquet", "k=2/x.parquet", "@odd")
	list := func(lines string) ([]File, error) {
		require.NoError(t, os.WriteFile("list.txt", []byte(lines), 0o600))
		return Find("@list.txt", parquetFiles)
	}
	files, err := list("b.parquet\r\n\na.parquet\nb.parquet\nk=?/*.parquet\nk=2/x.parquet\n@odd")
	require.NoError(t, err)
	require.Equal(t, []string{"b.parquet", "a.parquet", "b.parquet", "k=1/x.parquet", "k=2/x.parquet",
		"k=2/x.parquet", "@odd"}, pathsOf(files))
	require.Equal(t, files[4], files[5], "partitions")
	require.Equal(t, []Partition{{Column: "k", Value: "2"}}, files[5].Partitions)
	for lines, want := range map[string]string{
		"": "the list has no lines", "a.parquet\nc.parquet": "line 2: c.parquet: no such file",
		"-": "line 1: -: a list holds neither", "@list.txt": "line 1: @list.txt: a list holds neither",
		"c*": "line 1: c*: no file matches",
	} {
		_, err := list(lines)
		require.ErrorContains(t, err, want, lines)
	}
}

func TestPartitionsOfPaths(t *testing.T) {
	tree(t, "data/x=9/in/day=2026-11-27/name=a%2Fb%20c/x.parquet",
		"data/x=9/in/day=__HIVE_DEFAULT_PARTITION__/=1/x.parquet",
		"data/x=9/in/day=1/day=2/bad=%zz/e=/f=a=b/x.parquet", "data/x=9/in/y.parquet")
	want := [][]Partition{
		{{Column: "day", Value: "2"}, {Column: "bad", Value: "%zz"}, {Column: "e"}, {Column: "f", Value: "a=b"}},
		{{Column: "day", Value: "2026-11-27"}, {Column: "name", Value: "a/b c"}},
		{{Column: "day", Value: nullPartition, Null: true}}, nil}
	for _, input := range []string{"data/x=9/in", "data/x=9/in/", "data/x=9/in/**", "./data/x=9/in/**/*.parquet"} {
		files, err := Find(input, parquetFiles)
		require.NoError(t, err)
		var got [][]Partition
		for _, file := range files {
			got = append(got, file.Partitions)
		}
		require.Equal(t, want, got, input)
	}
	files, err := Find("data/x=*/in/y.parquet", parquetFiles)
	require.NoError(t, err)
	require.Equal(t, []File{{Path: "data/x=9/in/y.parquet", Partitions: []Partition{{Column: "x", Value: "9"}}}}, files)
	files, err = Find("data/x=9/in/y.parquet", parquetFiles)
	require.NoError(t, err)
	require.Empty(t, files[0].Partitions, "a file is a file")
}
