//go:build linux

package ranks_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/mpi"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
)

// asRank is the variable of a process that is a rank of TestMPI.
const asRank = "SPIRJOIN_TEST_RANK"

// TestMPI: joins of processes that an MPI launcher has started.
func TestMPI(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	launchers := [][]string{{"mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "4"},
		{"mpirun.mpich", "-n", "3"}}
	ran := false
	for _, l := range launchers {
		if _, err := exec.LookPath(l[0]); err != nil {
			continue
		}
		ran = true
		t.Run(l[0], func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			arguments := append(l[1:], os.Args[0], "-test.run=^TestAsRank$", "-test.count=1")
			command := exec.CommandContext(ctx, l[0], arguments...)
			command.Env = append(os.Environ(), asRank+"=1", "OMPI_ALLOW_RUN_AS_ROOT=1",
				"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			output, err := command.CombinedOutput()
			require.NoError(t, err, "%s", output)
		})
	}
	if !ran {
		t.Skip("neither mpirun.openmpi nor mpirun.mpich is installed (tools/setup.sh test installs both)")
	}
}

// TestAsRank is a rank of TestMPI, which joins tables with the others. All have the whole tables, to compare with.
func TestAsRank(t *testing.T) {
	if os.Getenv(asRank) == "" {
		t.Skip("for processes of TestMPI")
	}
	job, err := mpi.Start(cluster.Options{Stall: 30 * time.Second})
	require.NoError(t, err)
	defer func() {
		if t.Failed() {
			job.Abort(context.Canceled)
		}
		require.NoError(t, job.Close())
	}()
	e, err := spirjoin.Open(t.Context(), spirjoin.Options{Device: spirjoin.HostDevice, MemoryLimitBytes: 64 << 20})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	left := table(t, 1, keyTypes[2][0], shape{5000, 1500, 0.01, 0.1})
	many, few := table(t, 2, keyTypes[2][1], shape{4000, 100, 0, 0}), table(t, 3, keyTypes[2][1], shape{30, 100, 0, 0})
	for _, how := range kinds[:len(kinds)-1] {
		for _, right := range []spirjoin.Source{spirjoin.FromTable(many), spirjoin.FromTable(few)} {
			spec := join.Spec{How: how, On: onK}
			layout, err := join.NewLayout(left.Schema(), right.Schema, spec)
			require.NoError(t, err)
			r, err := e.JoinDistributed(t.Context(), job, share(left, job.Rank(), job.Size()),
				share(right.Table(), job.Rank(), job.Size()), spec)
			require.NoError(t, err)
			var got []string
			for batch, err := range r.Batches(t.Context()) {
				require.NoError(t, err)
				got = append(got, oracle.BatchTexts([]arrow.RecordBatch{batch})...)
				batch.Release()
			}
			totals, err := r.Finish(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, len(got), totals.Rows[job.Rank()])
			r.Close()
			text, err := json.Marshal(got)
			require.NoError(t, err)
			said, err := job.Gather(t.Context(), "rows", text)
			require.NoError(t, err)
			var all []string
			for _, text := range said {
				var theirs []string
				require.NoError(t, json.Unmarshal(text, &theirs))
				all = append(all, theirs...)
			}
			want := oracle.Texts(left, right.Table(), layout)
			slices.Sort(all)
			slices.Sort(want)
			require.True(t, slices.Equal(want, all), "%s: %d rows, want %d", how, len(all), len(want))
		}
	}
}
