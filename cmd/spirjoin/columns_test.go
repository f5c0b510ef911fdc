package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// The time of a join is linear in the number of its columns: these take half a second, and were ten when it was not.
func TestManyColumns(t *testing.T) {
	devicetest.SkipRace(t)
	const columns = 8000
	names, values := make([]string, columns), make([]string, columns)
	for i := range columns {
		names[i], values[i] = fmt.Sprint("c", i), fmt.Sprint(i)
	}
	dir := t.TempDir()
	wide, one := filepath.Join(dir, "wide.csv"), filepath.Join(dir, "one.csv")
	content := strings.Join(names, ",") + "\n" + strings.Join(values, ",") + "\n"
	require.NoError(t, os.WriteFile(wide, []byte(content), 0o666))
	require.NoError(t, os.WriteFile(one, []byte("c1\n1\n"), 0o666))
	start := time.Now()
	for _, out := range []string{"out.parquet", "out.csv"} {
		tested.Require(t, command.ExitDone, "join", wide, one, "--on", "c1", "--device", "host", "-o", filepath.Join(dir,
			out), "--columns", strings.Join(names, ","))
	}
	require.Less(t, time.Since(start), 8*time.Second)
	text, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	require.NoError(t, err)
	require.Equal(t, content, string(text))
}
