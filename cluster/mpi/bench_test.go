//go:build linux

package mpi

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exec"
)

// The all-to-all of the benchmark.
const (
	benchRanks  = 4
	pairBytes   = 64 << 20
	benchRounds = 8
	benchBytes  = float64(benchRounds) * benchRanks * (benchRanks - 1) * pairBytes
)

// BenchmarkAllToAll measures ranks that send one another 64 MiB, and the same loop in C if the compiler of the MPI is
// installed. Metrics: GB/s of all ranks together, CPU seconds of all ranks for each GB.
func BenchmarkAllToAll(b *testing.B) {
	for _, r := range runners(b) {
		loop := buildLoop(b, r)
		for _, what := range []string{"C", "Go"} {
			b.Run(fmt.Sprintf("mpi=%s/loop=%s", strings.ReplaceAll(r.name, " ", ""), what), func(b *testing.B) {
				if what == "C" && loop == "" {
					b.Skip("no mpicc of this MPI")
				}
				best, cpu := 0.0, 0.0
				for range b.N {
					var got result
					if what == "C" {
						got = r.start(b, benchRanks, []string{loop, fmt.Sprint(pairBytes), fmt.Sprint(benchRounds)})
					} else {
						got = r.run(b, benchRanks, "benchmark")
					}
					require.Zero(b, got.code, got.output)
					var seconds, used float64
					at := strings.Index(got.output, "all to all: ")
					require.GreaterOrEqual(b, at, 0, got.output)
					_, err := fmt.Sscanf(got.output[at:], "all to all: %f s, %f CPU s", &seconds, &used)
					require.NoError(b, err)
					best, cpu = max(best, benchBytes/1e9/seconds), cpu+used/(benchBytes/1e9)
				}
				b.ReportMetric(best, "GB/s")
				b.ReportMetric(cpu/float64(b.N), "CPU-s/GB")
			})
		}
	}
}

// buildLoop compiles the loop in C; "": there is no compiler.
func buildLoop(b *testing.B, r runner) string {
	compiler := map[string]string{openMPI.name: "mpicc.openmpi", mpich.name: "mpicc.mpich"}[r.name]
	file := filepath.Join(b.TempDir(), "alltoall")
	if out, err := osexec.Command(compiler, "-O2", "-o", file, "testdata/alltoall.c").CombinedOutput(); err != nil {
		b.Logf("%s: %v %s", compiler, err, out)
		return ""
	}
	return file
}

// cpuSeconds is the time of the CPU that this process has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// benchmark is the program of the ranks.
func benchmark(ctx context.Context, job cluster.Job) error {
	memory, err := pages(2 * pairBytes * job.Size())
	if err != nil {
		return err
	}
	for i := range memory {
		memory[i] = byte(job.Rank()) // the memory to receive in, too
	}
	part := func(i int) []byte { return memory[i*pairBytes:][:pairBytes] }
	s := job.Open("all to all")
	if _, err := job.Gather(ctx, "begin", nil); err != nil {
		return err
	}
	began, used := time.Now(), cpuSeconds()
	flow := exec.NewFlow(ctx)
	for to := range job.Size() {
		if to == job.Rank() {
			continue
		}
		flow.Go("send", func(ctx context.Context) error {
			for range benchRounds {
				if err := s.Send(ctx, to, nil, part(to)); err != nil {
					return err
				}
			}
			return nil
		})
		flow.Go("receive", func(ctx context.Context) error {
			for range benchRounds {
				_, _, err := s.Receive(ctx, func(from int, _ []byte) ([][]byte, error) {
					return [][]byte{part(job.Size() + from)}, nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := errors.Join(flow.Wait(), s.End(ctx)); err != nil {
		return err
	}
	said, err := job.Gather(ctx, "cpu", binary.LittleEndian.AppendUint64(nil, math.Float64bits(cpuSeconds()-used)))
	if err != nil {
		return err
	}
	seconds, cpu := time.Since(began).Seconds(), 0.0
	for _, of := range said {
		cpu += math.Float64frombits(binary.LittleEndian.Uint64(of))
	}
	if _, some, err := s.Receive(ctx, nil); some || err != nil {
		return fmt.Errorf("after the end: %v, %w", some, err)
	}
	for from := range job.Size() {
		if got := part(job.Size() + from); from != job.Rank() && bytes.Count(got, []byte{byte(from)}) != len(got) {
			return fmt.Errorf("other bytes than those of rank %d", from)
		}
	}
	if job.Rank() == 0 {
		fmt.Printf("all to all: %g s, %g CPU s\n", seconds, cpu)
	}
	return nil
}
