//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRanksTrace: the ranks have one trace, with the times of all by the clock of rank 0.
func TestRanksTrace(t *testing.T) {
	_, args := sides(t)
	onLaunchers(t, 1, func(t *testing.T, launcher []string) {
		path := filepath.Join(t.TempDir(), "trace.json")
		o := runRanks(t, launcher, 2, append(slices.Clone(args), "--count", "--trace", path))
		require.Zero(t, o.Code, o.Stderr)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var trace struct {
			TraceEvents []struct {
				Name, Ph string
				Ts, Dur  float64
				Pid      int
				Args     map[string]any
			}
		}
		require.NoError(t, json.Unmarshal(content, &trace))
		hosts, ends := map[any]int{}, map[int]float64{}
		for _, e := range trace.TraceEvents {
			switch {
			case e.Name == "process_name":
				hosts[e.Args["name"]] = e.Pid
			case e.Ph == "X":
				ends[e.Pid] = max(ends[e.Pid], e.Ts+e.Dur)
			}
		}
		first, second := hosts["rank 0: host"], hosts["rank 1: host"]
		require.NotZero(t, first, hosts)
		require.Equal(t, first+64, second, hosts)
		require.Greater(t, ends[first], 1000.0)                        // microseconds
		require.InDelta(t, ends[first], ends[second], 0.2*ends[first]) // a round is the last that both do
	})
	missing := append(slices.Clone(args), "--count", "--trace", filepath.Join(t.TempDir(), "none", "trace.json"))
	onLaunchers(t, 0, func(t *testing.T, launcher []string) {
		o := runRanks(t, launcher, 2, missing)
		require.NotZero(t, o.Code)
		require.Contains(t, o.Stderr, "rank 0: --trace: ")
		require.NotContains(t, o.Stderr, "rank 1: --trace: ")
	})
}
