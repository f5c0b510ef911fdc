package measure

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestCommit(t *testing.T) {
	require.Equal(t, "unknown", commitOf(nil))
	require.Equal(t, "unknown", commitOf(&debug.BuildInfo{}))
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}
	require.Equal(t, "abc", commitOf(&debug.BuildInfo{Settings: settings}))
	settings[1].Value = "true"
	require.Equal(t, "abc-dirty", commitOf(&debug.BuildInfo{Settings: settings}))
}

// A file names what measured; what a skipped case lacks stays empty; and a file that is given up leaves nothing.
func TestFile(t *testing.T) {
	device := &backend.DeviceInfo{Name: "GPU", Backend: "vulkan", Driver: "a driver", DriverVersion: "1.2"}
	columns := Columns{Texts: []string{"name"}, Numbers: []string{"rows", "runs"}, Measures: []string{"seconds"}}
	dir := t.TempDir()
	path := filepath.Join(dir, "results.csv")
	file, err := Create(path, "spirjoin bench x", device, columns)
	require.NoError(t, err)
	file.Add([]string{"sort"}, []uint64{7, 3}, []float64{0.5})
	file.Add([]string{"skipped"}, []uint64{8}, nil)
	require.NoError(t, file.Commit(t.Context()))
	file.Abort()
	opened, err := os.Open(path)
	require.NoError(t, err)
	defer opened.Close()
	rows, err := csv.NewReader(opened).ReadAll()
	require.NoError(t, err)
	head := "started,machine,device,backend,driver,driver_version,commit,command,name,rows,runs,seconds"
	require.Equal(t, head, strings.Join(rows[0], ","))
	require.Equal(t, []string{"GPU", "vulkan", "a driver", "1.2"}, rows[1][2:6])
	require.Equal(t, []string{"spirjoin bench x", "sort", "7", "3", "0.5"}, rows[1][7:])
	require.Equal(t, []string{"skipped", "8", "", ""}, rows[2][8:])

	file, err = Create(filepath.Join(dir, "other.csv"), "", device, columns)
	require.NoError(t, err)
	file.Add([]string{"sort"}, nil, nil)
	file.Abort()
	none, err := Create("", "", device, columns)
	require.NoError(t, err)
	none.Add([]string{"sort"}, nil, nil)
	require.NoError(t, none.Commit(t.Context()))
	none.Abort()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
