package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/tableio"
)

// The generator of TPC-H runs in a child process, which is this program. It takes ten seconds, so a child that speaks
// its protocol replaces it here; bench/workload tests the real one.
func TestMain(m *testing.M) {
	runOpenCLChildIfAsked()
	if task, asked := os.LookupEnv(workload.TPCHChild); asked {
		if err := standIn(task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	plantPanic()
	tested.RunIfAsked()
	leak.Main(m)
}

// standInMode is the environment variable that makes the child fail or hang.
const standInMode = "SPIRJOIN_TEST_GENERATOR"

func standIn(task string) error {
	switch os.Getenv(standInMode) {
	case "fail":
		return errors.New("no numbers left")
	case "hang":
		time.Sleep(time.Hour)
	}
	var t struct {
		Orders int64
		Dir    string
	}
	if err := json.Unmarshal([]byte(task), &t); err != nil {
		return err
	}
	for name, schema := range map[string]*arrow.Schema{"orders": workload.OrdersSchema,
		"lineitem": workload.LineitemSchema} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for _, column := range b.Fields() {
			for range t.Orders {
				column.AppendEmptyValue()
			}
		}
		w, err := tableio.Create(filepath.Join(t.Dir, name+".parquet"), schema, tableio.WriteOptions{})
		if err != nil {
			return err
		}
		if err := errors.Join(w.Write(context.Background(), b.NewRecordBatch()),
			w.Commit(context.Background())); err != nil {
			return err
		}
	}
	fmt.Printf("{\"Orders\": %d, \"Lines\": %d, \"Done\": true}\n", t.Orders, t.Orders)
	return nil
}

func TestGenTPCH(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "tpch")
	o := tested.Require(t, command.ExitDone, "gen", "tpch", "--sf", "0.00001", "-o", dir)
	require.Regexp(t,
		`^\S+orders.parquet: 15 rows x 9 columns\n\S+lineitem.parquet: 15 rows x 16 columns\ngenerated in \d+\.\d\d s\n$`,
		o.Stdout)
	require.Empty(t, o.Stderr)
	commandtest.RequireFiles(t, dir, "lineitem.parquet", "orders.parquet")
	orders, lineitem := filepath.Join(dir, "orders.parquet"), filepath.Join(dir, "lineitem.parquet")
	require.Equal(t, "225\n", tested.Require(t, command.ExitDone, "join", orders, lineitem, "--on",
		"o_orderkey=l_orderkey", "--device", "host", "--count").Stdout)
}

func TestGenTPCHFailsCleanly(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(standInMode, "fail")
	require.Contains(t, tested.Require(t, command.ExitInputOutput, "gen", "tpch", "--sf", "1", "-o", dir).Stderr,
		"no numbers left")
	commandtest.RequireFiles(t, dir)

	t.Setenv(standInMode, "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	o := tested.Run(ctx, nil, "gen", "tpch", "--sf", "1", "-o", dir)
	require.Equal(t, command.ExitInterrupted, o.Code)
	commandtest.RequireFiles(t, dir)
}

func TestGenPKFK(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pkfk")
	o := tested.Require(t, command.ExitDone, "gen", "pkfk", "-r", "1k", "-s", "2^12", "--zipf", "0.5", "--key-bytes", "8",
		"--r-payloads", "2", "--s-payloads=0", "-o", dir)
	require.Regexp(t,
		`^\S+r.parquet: 1,000 rows x 3 columns\n\S+s.parquet: 4,096 rows x 1 column\ngenerated in \d+\.\d\d s\n$`,
		o.Stdout)
	commandtest.RequireFiles(t, dir, "r.parquet", "s.parquet")
	r, s := filepath.Join(dir, "r.parquet"), filepath.Join(dir, "s.parquet")
	names, rows := rowsOf(t, r, nil)
	require.Equal(t, []string{"r_key", "r_1", "r_2"}, names)
	require.Len(t, rows, 1000)
	require.Equal(t, "4096\n", tested.Require(t, command.ExitDone, "join", r, s, "--on", "r_key=s_key", "--device", "host",
		"--count").Stdout, "all foreign keys match")

	tested.Require(t, command.ExitDone, "gen", "pkfk", "-r", "1000", "-s", "4096", "--match-ratio", "0.5", "-o", dir)
	_, half := rowsOf(t, r, nil)
	require.NotEqual(t, rows, half, "the files are replaced")

	tested.Require(t, command.ExitDone, "gen", "pkfk", "-r", "1000", "-s", "4096", "--payload-texts", "-o", dir)
	_, texts := rowsOf(t, r, nil)
	require.Regexp(t, `^\d+\|[0-9a-f]{4,12}\|?$`, texts[0])
}

func TestGenFailures(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	for line, c := range map[string]struct {
		code int
		want string
	}{
		"gen":                              {command.ExitUsage, "gen needs a command: tpch or pkfk"},
		"gen tpch":                         {command.ExitUsage, "--sf is needed; --output is needed"},
		"gen tpch more --sf 1 -o DIR":      {command.ExitUsage, `tpch takes flags only, not "more"`},
		"gen tpch --sf 1.5 -o DIR":         {command.ExitUsage, "scale factor is 1.5"},
		"gen tpch --sf x -o DIR":           {command.ExitUsage, `invalid value "x" for flag --sf`},
		"gen pkfk -r 5 -o DIR":             {command.ExitUsage, "-s is needed"},
		"gen pkfk -r 5x -s 5 -o DIR":       {command.ExitUsage, `invalid value "5x" for flag -r`},
		"gen pkfk -r 5 -s 5 --zipf -1":     {command.ExitUsage, "--output is needed"},
		"gen pkfk -r 5 -s 5 --zpf 1":       {command.ExitUsage, "did you mean --zipf?"},
		"gen pkfk --r 0 -s 5 -o DIR":       {command.ExitUsage, "there is no primary key to refer to"},
		"gen pkfk -r 5 -s 5 -o FILE":       {command.ExitInputOutput, "not a directory"},
		"gen pkfk -r 5 -s 5 -o FILE/below": {command.ExitInputOutput, "not a directory"},
		"gen tpch --sf 1 -o FILE/below":    {command.ExitInputOutput, "not a directory"},
	} {
		o := tested.Require(t, c.code, strings.Fields(strings.NewReplacer("DIR", dir, "FILE", file).Replace(line))...)
		require.Contains(t, o.Stderr, c.want, line)
		commandtest.RequireFiles(t, dir, "file")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := tested.Run(ctx, nil, "gen", "pkfk", "-r", "1000", "-s", "1000", "-o", dir)
	require.Equal(t, command.ExitInterrupted, o.Code)
	commandtest.RequireFiles(t, dir, "file")
}
