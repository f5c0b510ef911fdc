package groupby_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// limited is an engine with a limit of host memory.
func limited(t testing.TB, device *backend.Device, limitBytes uint64) *groupby.Engine {
	ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
	require.NoError(t, err)
	on := query.NewEngine(ops, memory.DefaultAllocator, limitBytes)
	t.Cleanup(on.Close)
	on.Budget().AllowDisk(1 << 30)
	return &groupby.Engine{Engine: on, Knobs: groupby.Knobs{GranuleRows: 1 << 14}}
}

// inParts has an engine group streams in parts of this number of rows, whose groups are merged soon.
func inParts(e *groupby.Engine, rows int64) *groupby.Engine {
	e.PartRows, e.MergeRows = rows, 10
	return e
}

// drawn draws a result; the groups are compared with the oracle where there is no error.
func drawn(t testing.TB, tab arrow.Table, r *groupby.Result, err error) error {
	if err != nil {
		return err
	}
	defer r.Close()
	var batches []arrow.RecordBatch
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	for batch, err := range r.Batches(context.Background()) {
		if err != nil {
			return err
		}
		batches = append(batches, batch)
	}
	oracle.RequireGroups(t, tab, r.Layout, batches)
	return nil
}

// manyAggregates take every kind of memory: texts by row, moments, different values, converted columns.
var manyAggregates = []groupby.Aggregate{{Func: groupby.Count}, {Func: groupby.Sum, Column: "x"},
	{Func: groupby.CountDistinct, Column: "x"}, {Func: groupby.CountDistinct, Column: "h"},
	{Func: groupby.First, Column: "x"}, {Func: groupby.Var, Column: "x"}, {Func: groupby.Max, Column: "k"},
	{Func: groupby.Count, Column: "k"}}

func memoryTable(t testing.TB, rows, groups int) arrow.Table {
	null := func(row int) bool { return row%1000 == 7 }
	return table(t, rows,
		column{"k", arrow.BinaryTypes.String, func(row int) uint64 { return uint64(row % groups) }, null},
		column{"h", arrow.PrimitiveTypes.Int8, func(row int) uint64 { return uint64(row % 3) }, null},
		column{"x", arrow.PrimitiveTypes.Int64, func(row int) uint64 { return uint64(row % 5) }, nil})
}

// TestEveryMemoryLimit: with any limit a group-by gives the groups of the reference or ErrHostMemory, never takes more
// than the limit as the budget counts it, and leaves nothing behind. With a folder for groups, a stream needs less.
func TestEveryMemoryLimit(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		tab := memoryTable(t, 4000, 1500)
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"h", "k"}, BatchRows: 3000,
			Aggregates: manyAggregates})
		require.NoError(t, err)
		dir := t.TempDir()
		var least [3]uint64 // of a table, a stream, and one that may divide
		for limit := uint64(1 << 17); limit <= 1<<23; limit *= devicetest.Short[uint64](4, 2) {
			for i := range least {
				e := inParts(limited(t, device, limit), 1<<10)
				free := e.Budget().Free()
				var r *groupby.Result
				var err error
				switch i {
				case 0:
					r, err = e.GroupLayout(t.Context(), layout, tab)
				case 2:
					e.TempDir = dir
					fallthrough
				case 1:
					r, err = e.Stream(t.Context(), layout, batchesOf(tab))
				}
				if err = drawn(t, tab, r, err); err == nil && least[i] == 0 {
					least[i] = limit
				} else if err != nil {
					require.ErrorIs(t, err, backend.ErrHostMemory, "limit %d, way %d", limit, i)
				}
				require.Equal(t, free, e.Budget().Free(), "limit %d, way %d", limit, i)
				require.LessOrEqual(t, e.Budget().Most().Host, limit)
			}
		}
		require.Positive(t, least[0])
		require.Positive(t, least[1])
		require.Positive(t, least[2])
		require.Less(t, least[2], least[1], "division needs less")
	})
}

// TestEveryDeviceMemoryLimit: a table of which a device holds only some rows, or some groups, is grouped in parts, and
// the groups are divided, without a folder too.
func TestEveryDeviceMemoryLimit(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	const rows = 50_001
	unique := func(row int) uint64 { return uint64(row * 7919 % rows) }
	tab := table(t, rows, column{"unique", arrow.PrimitiveTypes.Int32, unique, nil},
		column{"text", arrow.BinaryTypes.String, unique, nil},
		column{"few", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 10) }, nil},
		column{"x", arrow.PrimitiveTypes.Int64, func(row int) uint64 { return uint64(row % 1000) }, nil})
	for _, capBytes := range []uint64{1 << 20, 4 << 20} {
		devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
			device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			defer func() { require.NoError(t, device.Close()) }()
			for i, by := range [][]string{{"unique"}, {"text"}, {"few"}, nil} {
				t.Run(fmt.Sprintf("%v/%d", by, capBytes), func(t *testing.T) {
					r, err := engine(t, device).Group(t.Context(), tab, groupby.Spec{By: by, BatchRows: 20_000,
						Aggregates: []groupby.Aggregate{{Func: groupby.Count}, {Func: groupby.Sum, Column: "x"},
							{Func: groupby.First, Column: "x"}, {Func: groupby.CountDistinct, Column: "few"}}})
					require.NoError(t, err)
					if divided := strings.Contains(r.Explain(), "divided"); capBytes == 1<<20 || i >= 2 {
						require.Equal(t, i < 2, divided, r.Explain())
					}
					require.NoError(t, drawn(t, tab, r, err))
				})
			}
		})
	}
}

// TestNarrowGroups: rows in large batches, each a group, which takes more memory than they do, are grouped under a
// memory limit.
func TestNarrowGroups(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 60_013
	tab := table(t, rows,
		column{"k", arrow.PrimitiveTypes.Int64, func(row int) uint64 { return uint64(row * 7919 % rows) }, nil})
	layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"k"}, BatchRows: 10_000,
		Aggregates: []groupby.Aggregate{{Func: groupby.Count}, {Func: groupby.Sum, Column: "k"},
			{Func: groupby.Var, Column: "k"}}})
	require.NoError(t, err)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		if !device.Info().InHostMemory() {
			return
		}
		e := limited(t, device, 8<<20)
		e.GranuleRows, e.TempDir = 0, t.TempDir()
		r, err := e.Stream(t.Context(), layout, func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return groupby.BatchesOf(tab, 1<<22)
		})
		require.NoError(t, drawn(t, tab, r, err))
	})
}

// TestMergeWithoutMemory: any merge of a stream that has no room divides the groups.
func TestMergeWithoutMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		if !device.Info().InHostMemory() {
			return
		}
		tab := memoryTable(t, 4000, 1500)
		divided := 0
		for _, aggregates := range [][]groupby.Aggregate{manyAggregates, manyAggregates[:2]} {
			layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"h", "k"}, Aggregates: aggregates})
			require.NoError(t, err)
			e := inParts(limited(t, device, 64<<20), 1<<10) // so that nothing is divided before a merge
			e.TempDir = t.TempDir()
			free := e.Budget().Free()
			for allowed := 0; allowed < 60; allowed += devicetest.Short(3, 1) {
				restore := groupby.FailMerge(e, allowed)
				r, err := e.Stream(t.Context(), layout, batchesOf(tab))
				failed := restore()
				require.NoError(t, err)
				explained := r.Explain()
				require.NoError(t, drawn(t, tab, r, err))
				require.Equal(t, free, e.Budget().Free())
				if !failed {
					require.NotContains(t, explained, "on disk")
					break
				}
				require.Contains(t, explained, "on disk")
				divided++
			}
		}
		require.Greater(t, divided, devicetest.Short(1, 4))
	})
}

// TestEndsAtEachStage: a context that ends in any phase ends the group-by, and leaves nothing behind.
func TestEndsAtEachStage(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tab := memoryTable(t, 4000, 1500)
		dirs := []string{t.TempDir(), ""}
		if devicetest.RaceDetector {
			dirs = dirs[:1]
		}
		for _, dir := range dirs {
			phases := 0
			for stop := 1; ; stop *= devicetest.Short(3, 2) {
				e := inParts(limited(t, device, 64<<20), 1<<10)
				if dir != "" {
					e = inParts(limited(t, device, 1<<20), 1<<10)
				}
				e.TempDir = dir
				free := e.Budget().Free()
				ctx, cancel := context.WithCancel(t.Context())
				seen, last := 0, ""
				layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"h", "k"},
					Aggregates: manyAggregates, Progress: func(s exec.Status) {
						if s.Phase != last {
							last = s.Phase
							if seen++; seen == stop {
								cancel()
							}
						}
					}})
				require.NoError(t, err)
				r, err := e.Stream(ctx, layout, batchesOf(tab))
				err = drawn(t, tab, r, err) // which merges what was divided
				ended := ctx.Err() != nil
				cancel()
				if ended {
					require.ErrorIs(t, err, backend.ErrCancelled, "phase %d, %s", stop, last)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, free, e.Budget().Free(), "phase %d, %s", stop, last)
				if !ended {
					break
				}
				phases++
			}
			require.Greater(t, phases, 2)
		}
	})
}

// TestFolders: a folder that does not exist, or is a file, is an error of the system that names it; one that is removed
// while its file is in use does no harm.
func TestFolders(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		if !device.Info().InHostMemory() {
			return
		}
		tab := memoryTable(t, 4000, 1500)
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"h", "k"}, Aggregates: manyAggregates})
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		removed := t.TempDir()
		for _, dir := range []string{filepath.Join(t.TempDir(), "none"), file, removed} {
			e := inParts(limited(t, device, 1<<20), 1<<10)
			e.TempDir = dir
			free := e.Budget().Free()
			r, err := e.Stream(t.Context(), layout, batchesOf(tab))
			if dir == removed {
				require.NoError(t, err)
				require.Contains(t, r.Explain(), "on disk")
				require.NoError(t, os.RemoveAll(dir))
				require.NoError(t, drawn(t, tab, r, err))
			} else {
				require.Error(t, err)
				require.ErrorContains(t, err, dir)
			}
			require.Equal(t, free, e.Budget().Free())
		}
	})
}

// TestShapes: no rows, keys that are all NULL, one group and as many groups as rows, from a table, a stream, and one
// that divides its groups.
func TestShapes(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		all, turn := func(int) bool { return true }, 0
		for _, rows := range []int{0, 1, 1500} {
			for shape, number := range map[string]func(int) uint64{"one": func(int) uint64 { return 3 },
				"each": func(row int) uint64 { return uint64(row) }, "null": nil} {
				k := column{"k", arrow.BinaryTypes.String, number, nil}
				i := column{"h", arrow.PrimitiveTypes.Int32, number, nil}
				if number == nil {
					k.number, k.nulls = func(int) uint64 { return 5 }, all
					i.number, i.nulls = k.number, all
				}
				tab := table(t, rows, k, i, column{"x", arrow.PrimitiveTypes.Int64,
					func(row int) uint64 { return uint64(row % 7) }, nil})
				for _, by := range [][]string{nil, {"k"}, {"h"}, {"k", "h"}} {
					for _, limit := range []uint64{0, 1 << 20, 24 << 20} {
						if turn++; !devicetest.Turn(turn, 5) {
							continue
						}
						t.Run(fmt.Sprint(rows, shape, by, limit>>20), func(t *testing.T) {
							e := inParts(limited(t, device, limit), 1<<9)
							e.TempDir = t.TempDir()
							spec := groupby.Spec{By: by, Aggregates: manyAggregates}
							layout, err := groupby.NewLayout(tab.Schema(), spec)
							require.NoError(t, err)
							r, err := e.GroupLayout(t.Context(), layout, tab)
							if err = drawn(t, tab, r, err); !errors.Is(err, backend.ErrHostMemory) || limit != 1<<20 {
								require.NoError(t, err)
							}
							r, err = e.Stream(t.Context(), layout, batchesOf(tab))
							if err = drawn(t, tab, r, err); !errors.Is(err, backend.ErrHostMemory) || limit != 1<<20 {
								require.NoError(t, err)
							}
						})
					}
				}
			}
		}
	})
}

// TestManyGroupsOfTexts: 2^20 groups, of which the least text is wanted; and none if the context has ended before.
func TestManyGroupsOfTexts(t *testing.T) {
	devicetest.SkipRace(t)
	if testing.Short() {
		t.Skip("it takes seconds; stages host and devices run it")
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		const rows = 1<<20 + 3
		tab := table(t, rows, column{"h", arrow.PrimitiveTypes.Int64,
			func(row int) uint64 { return uint64(row) * 7919 % (1 << 20) }, nil},
			column{"k", arrow.BinaryTypes.String, func(row int) uint64 { return uint64(row % 100) }, nil})
		e := engine(t, device)
		r, err := e.Group(t.Context(), tab, groupby.Spec{By: []string{"h"},
			Aggregates: []groupby.Aggregate{{Func: groupby.Min, Column: "k"}}})
		require.NoError(t, drawn(t, tab, r, err))
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		_, err = e.Group(ctx, tab, groupby.Spec{By: []string{"h"}})
		require.ErrorIs(t, err, backend.ErrTimedOut)
	})
}
