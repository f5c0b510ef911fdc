package joins

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/resident"
)

// cell is a workload of few rows, changed.
func cell(change func(*Cell)) Cell {
	c := Cell{Spec: workload.DefaultPKFK(4000, 9000)}
	change(&c)
	return c
}

var cells = []Cell{
	cell(func(c *Cell) {}),
	cell(func(c *Cell) {
		c.Spec.KeyBytes, c.Spec.RPayloads, c.Spec.SPayloads, c.Spec.MatchRatio = 8, []int{8, 4}, []int{8}, 0.3
	}),
	cell(func(c *Cell) { c.Spec.Zipf, c.Spec.RPayloads, c.Spec.SPayloads = 1.5, nil, []int{4, 8, 4} }),
	cell(func(c *Cell) {
		c.Spec.Multiplicity, c.Spec.SelfJoin, c.Spec.SRows = workload.Multiplicity{8, 16}, true, 4000
	}),
	cell(func(c *Cell) {
		c.Spec.RPayloads, c.Spec.SPayloads, c.Spec.Multiplicity = nil, nil, workload.Multiplicity{3, 3}
	}),
	cell(func(c *Cell) { c.Dimensions = 3 }),
}

func init() { pieceRows = 1000 } // several pieces of each result

func TestMeasure(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t, device.Info())
		for n, c := range cells {
			if tuning != nil && n != 1 {
				continue // instrumented pipelines take seconds to compile
			}
			bed, err := NewBed(context.Background(), device, tuning, c)
			require.NoError(t, err)
			func() {
				defer bed.Release()
				results, err := bed.Measure(context.Background(), Algorithms(), 1, time.Millisecond, func(string) {})
				require.NoError(t, err, "%v", c)
				for i, a := range Algorithms() {
					r := results[i]
					require.Equal(t, a.Name, r.Algorithm)
					if a.unique() && !bed.unique {
						require.ErrorIs(t, r.Skipped, ErrNotUnique)
						continue
					}
					require.NoError(t, r.Skipped, "%s: %v", a.Name, c)
					require.Equal(t, 1, r.Times.Runs, "without those that warm")
					require.Positive(t, r.Rows)
					require.NotZero(t, r.PeakBytes)
					require.Positive(t, r.Times.Median)
					require.Positive(t, r.Wall.Median)
				}
			}()
		}
	})
}

// Algorithms are verified one after the other and then run in turn. One that does not fit is left out from then on.
func TestMeasureInTurn(t *testing.T) {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	defer func() { require.NoError(t, device.Close()) }()
	bed, err := NewBed(context.Background(), device, nil, cells[0])
	require.NoError(t, err)
	defer bed.Release()
	var order, told []string
	algorithms := Algorithms()[:3]
	for i := range algorithms {
		a := &algorithms[i]
		a.Name = string(rune('a' + i))
		right := a.join
		a.join = func(ctx context.Context, lane *exec.Lane, left, other resident.Relation) (*resident.Result, error) {
			order = append(order, a.Name)
			if a.Name == "b" && len(order) > 6 {
				return nil, fmt.Errorf("full: %w", backend.ErrDeviceMemory)
			}
			return right(ctx, lane, left, other)
		}
	}
	results, err := bed.Measure(context.Background(), algorithms, 3, 0, func(what string) { told = append(told, what) })
	require.NoError(t, err)
	require.Equal(t, "abc"+"abc"+"abc"+"ac", strings.Join(order, ""), "verified, and three rounds")
	require.Equal(t, []string{"verify a", "verify b", "verify c", "time"}, told)
	require.ErrorIs(t, results[1].Skipped, backend.ErrDeviceMemory)
	require.Zero(t, results[1].Times)
	require.Equal(t, []int{3, 3}, []int{results[0].Times.Runs, results[2].Times.Runs})
}

// The check must see each kind of fault, on each kind of workload, also in the last of the pieces that are downloaded.
func TestCheckSeesFaults(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		temporary, err := device.Allocate(context.Background(), backend.DeviceLocal, 8, "exchange")
		require.NoError(t, err)
		defer temporary.Release()
		word := func(buffer *backend.Buffer, row, bytes uint64) backend.Range { return buffer.Range(row*bytes, bytes) }
		exchange := func(list *backend.List, buffer *backend.Buffer, bytes, a, b uint64) {
			list.Copy(word(temporary, 0, bytes), word(buffer, a, bytes))
			list.Copy(word(buffer, a, bytes), word(buffer, b, bytes))
			list.Copy(word(buffer, b, bytes), word(temporary, 0, bytes))
		}
		faults := map[string]func(r *resident.Result, list *backend.List){
			"key": func(r *resident.Result, list *backend.List) { list.Fill(word(r.Keys, r.Rows-1, 4), 12345) },
			"R": func(r *resident.Result, list *backend.List) {
				list.Fill(word(r.Payload[0][0], 1234, 4), 12345)
			},
			"S": func(r *resident.Result, list *backend.List) {
				list.Fill(word(r.Payload[1][0], 0, 4), 12345)
			},
			"row missing": func(r *resident.Result, list *backend.List) { r.Rows-- },
			"row twice": func(r *resident.Result, list *backend.List) {
				for _, b := range slices.Concat([]*backend.Buffer{r.Keys}, r.Payload[0], r.Payload[1]) {
					list.Copy(word(b, 1, 4), word(b, r.Rows-1, 4))
				}
			},
			"halves exchanged": func(r *resident.Result, list *backend.List) {
				for _, b := range r.Payload[0] {
					exchange(list, b, 4, 1, r.Rows-1)
				}
			},
			"another column": func(r *resident.Result, list *backend.List) { r.Payload[0] = append(r.Payload[0], nil) },
		}
		for _, c := range []Cell{cells[0], cells[3], cells[5]} {
			bed, err := NewBed(context.Background(), device, jointest.Tuning(t, device.Info()), c)
			require.NoError(t, err)
			for name, plant := range faults {
				a := Algorithms()[0]
				right, joined := a.join, 0
				a.join = func(ctx context.Context, lane *exec.Lane, left,
					other resident.Relation) (*resident.Result, error) {
					r, err := right(ctx, lane, left, other)
					if joined++; err == nil && joined == max(c.Dimensions, 1) {
						var list backend.List
						plant(r, &list)
						err = device.Run(ctx, &list)
					}
					return r, err
				}
				_, err := bed.Measure(context.Background(), []Algorithm{a}, 1, 0, func(string) {})
				require.ErrorIs(t, err, measure.ErrWrong, "%s: %v", name, c)
			}
			bed.Release()
		}
	})
}
