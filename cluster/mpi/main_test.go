//go:build linux

package mpi

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/clustertest"
	"github.com/spirjoin/spirjoin/internal/leak"
)

// Variables for the test binary as a rank: the program that it runs, and a word that is in the environment of all
// processes of a job.
const (
	programVariable = "SPIRJOIN_TEST_RANK"
	jobVariable     = "SPIRJOIN_TEST_JOB"
)

func TestMain(m *testing.M) {
	if program := os.Getenv(programVariable); program != "" {
		os.Exit(runRank(program))
	}
	leak.Main(m)
}

// startCode is the exit code of a rank whose job does not start.
const startCode = 40

// runRank runs a program as a rank, and returns its exit code.
func runRank(name string) int {
	options := cluster.Options{ExitCode: clustertest.ExitCode}
	for _, c := range clustertest.Stalls {
		if c.Name == name {
			options.Stall = 500 * time.Millisecond
		}
	}
	job, err := Start(options)
	if err != nil {
		fmt.Println(err)
		return startCode
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := programs()[name](ctx, job); err != nil {
		fmt.Printf("rank %d: %v\n", job.Rank(), err)
		job.Abort(err)
	}
	if err := job.Close(); err != nil {
		fmt.Printf("rank %d: close: %v\n", job.Rank(), err)
		return 1
	}
	return 0
}

// programs are what ranks run, by name.
func programs() map[string]func(context.Context, cluster.Job) error {
	all := map[string]func(context.Context, cluster.Job) error{
		"contract": contract, "exit": exit, "panic": panics, "kill": kill, "interrupt": interrupt,
		"unfinished": unfinished, "two hosts": twoHosts,
		"mirror": mirror, "given up": givenUp,
		"start": func(context.Context, cluster.Job) error { return nil }, "benchmark": benchmark,
	}
	for _, c := range append(clustertest.Failures, clustertest.Stalls...) {
		all[c.Name] = c.Run
	}
	return all
}
