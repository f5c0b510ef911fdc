package peers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/relation"
)

// exchanged runs an exchange of tables and returns what each rank received.
func (c *cluster) exchanged(t *testing.T, weights []uint32, by func(*Rank) Partitioner, tables ...[]*table) [][]*table {
	got := make([][]*table, len(tables))
	for i := range got {
		got[i] = make([]*table, len(c.lanes))
	}
	require.NoError(t, c.run(t.Context(), weights, func(ctx context.Context, r *Rank) error {
		var chunks []*relation.Chunk
		for i := range tables {
			chunks = append(chunks, tables[i][r.Rank()].upload(t, r.Lane))
		}
		all, err := r.Exchange(ctx, by(r), chunks...)
		if err != nil {
			return err
		}
		for i, received := range all {
			got[i][r.Rank()] = download(t, r.Lane, &received.Chunk)
			received.Release()
		}
		return nil
	}))
	for _, lane := range c.lanes {
		lane.Memory.ReleaseAll()
	}
	return got
}

// TestHash: no row is lost, equal keys of both chunks meet on one rank, rows of one rank and bucket keep their order,
// and ranks have rows by their weights where keys are many.
func TestHash(t *testing.T) {
	forEachCluster(t, 8, func(t *testing.T, all *cluster) {
		for i, s := range scenarios(t, 8, 0, 1, 1000, 20_000) {
			tables := s.tables(uint64(i))
			others := (&scenario{s.distribution, s.size, s.rows / 2, "uneven", s.widths[:1], nil}).tables(uint64(i) + 100)
			got := all.first(s.size).exchanged(t, s.weights, func(r *Rank) Partitioner {
				by := r.Hash(uint32(i))
				if i%3 == 1 { // as for more ranks: two passes
					by.(*hash).bits = 10
				}
				return by
			}, tables, others)
			require.Equal(t, sorted(tables...), sorted(got[0]...), "%v", &s)
			require.Equal(t, sorted(others...), sorted(got[1]...), "%v", &s)
			where, fullest := make(map[uint64]int), 0.0
			for _, side := range got {
				for rank, table := range side {
					for _, key := range table.columns[0] {
						if of, known := where[key]; known {
							require.Equal(t, of, rank, "%v: key %d", &s, key)
						}
						where[key] = rank
					}
				}
			}
			for rank := range s.size {
				rows := got[0][rank].rows() + got[1][rank].rows()
				weights := weightsOf(s.size, s.weights)
				share := float64(weights[rank]) / float64(sum(weights))
				if share == 0 {
					require.Zero(t, rows, "%v", &s)
					continue
				}
				fullest = max(fullest, float64(rows)/share/float64(max(1, s.rows+len(others))))
			}
			if s.name == "random" && s.rows == 20_000 {
				require.Less(t, fullest, 1.7, "%v", &s)
			}
		}
	})
}

// TestTooLarge: where one rank has no room, all return the same error, no memory is left, and another exchange works.
func TestTooLarge(t *testing.T) {
	devicetest.HostTest(t)
	forEachCluster(t, 3, func(t *testing.T, all *cluster) {
		random := rand.New(rand.NewPCG(1, 2))
		tables := spread(random, distributions[0].make(random, 3000), []int{1000, 1000, 1000}, []int{8, 4})
		device := all.lanes[1].Device()
		budget := exec.NewBudget(exec.Need{Host: exec.Unlimited,
			Device: map[*backend.Device]uint64{device: 200 << 10}})
		grant := budget.Empty()
		defer grant.Release()
		all.lanes[1] = exec.NewLane(t.Context(), all.lanes[1].Ops, grant)
		for name, test := range map[string]struct {
			taken  uint64 // bytes that rank 1 has taken before
			chunks int
		}{
			"one chunk":  {165 << 10, 1},
			"two chunks": {115 << 10, 2},
		} {
			var rows [3]uint64
			require.NoError(t, all.run(t.Context(), []uint32{0, 1, 0}, func(ctx context.Context, r *Rank) error {
				chunk := tables[r.Rank()].upload(t, r.Lane)
				defer r.Lane.Memory.ReleaseAll()
				taken := r.Lane.Scope(ctx)
				if r.Rank() == 1 {
					taken.New(test.taken, "taken")
				}
				_, err := r.Exchange(ctx, r.Hash(1), slices.Repeat([]*relation.Chunk{chunk}, test.chunks)...)
				var large *TooLarge
				if !errors.As(err, &large) || !errors.Is(err, backend.ErrDeviceMemory) {
					return fmt.Errorf("%s: %w", name, err)
				}
				require.ErrorContains(t, err, "rank 1 has no room for 3000 rows")
				if large.Rank != 1 || large.Rows != 3000 || large.NeedBytes < 36_000 {
					return fmt.Errorf("%s: %+v", name, large)
				}
				taken.ReleaseAll()
				received, err := r.Exchange(ctx, r.Hash(1), chunk)
				if err != nil {
					return err
				}
				rows[r.Rank()] = received[0].Rows
				received[0].Release()
				return nil
			}))
			require.Equal(t, [3]uint64{1: 3000}, rows)
			require.Equal(t, uint64(200<<10), unused(budget, device, grant))
		}
	})
}

// unused is what of a budget no scope uses.
func unused(budget *exec.Budget, device *backend.Device, grant *exec.Grant) uint64 {
	grant.Shrink(exec.Need{})
	return budget.Free().Device[device]
}

// TestDisagreement: columns of other widths, or another number of chunks, are refused on all ranks.
func TestDisagreement(t *testing.T) {
	forEachCluster(t, 2, func(t *testing.T, all *cluster) {
		for _, widths := range [][]int{{8, 4}, {4}, {4, 8}} {
			err := all.run(t.Context(), nil, func(ctx context.Context, r *Rank) error {
				layout := []int{4, 4}
				if r.Rank() == 1 {
					layout = widths
				}
				chunk := newTable([]uint64{1, 2, 3}, 0, layout...).upload(t, r.Lane)
				received, err := r.Exchange(ctx, r.Hash(0), chunk)
				for _, one := range received {
					one.Release()
				}
				return err
			})
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			for _, lane := range all.lanes {
				lane.Memory.ReleaseAll()
			}
		}
	})
}

// TestNarrow: keys that have one high word on all ranks keep it, and no others.
func TestNarrow(t *testing.T) {
	forEachCluster(t, 2, func(t *testing.T, all *cluster) {
		for _, c := range []struct {
			narrow    [2]bool
			highWords [2]uint32
			want      bool
		}{
			{[2]bool{true, true}, [2]uint32{5, 5}, true},
			{[2]bool{true, true}, [2]uint32{5, 6}, false},
			{[2]bool{true, true}, [2]uint32{6, 0}, false},
			{[2]bool{true, false}, [2]uint32{5, 0}, false},
		} {
			require.NoError(t, all.run(t.Context(), nil, func(ctx context.Context, r *Rank) error {
				highWord := c.highWords[r.Rank()]
				high := uint64(highWord) << 32
				chunk := newTable([]uint64{high | 1, high | 2, high | 3}, 0, 8).upload(t, r.Lane)
				chunk.Narrow, chunk.HighWord = c.narrow[r.Rank()], highWord
				received, err := r.Exchange(ctx, r.Hash(1), chunk)
				if err != nil {
					return err
				}
				defer received[0].Release()
				if got := &received[0].Chunk; got.Narrow != c.want || c.want && got.HighWord != highWord {
					return fmt.Errorf("%v: narrow %v, high word %d", c, got.Narrow, got.HighWord)
				}
				return nil
			}))
			for _, lane := range all.lanes {
				lane.Memory.ReleaseAll()
			}
		}
	})
}

// TestLinksThatFail: a link that cannot be made fails the exchange, and is tried again by the next one.
func TestLinksThatFail(t *testing.T) {
	devicetest.HostTest(t)
	forEachCluster(t, 3, func(t *testing.T, all *cluster) {
		planted, failures := errors.New("planted"), atomic.Int32{}
		all.links = NewLinks(func(ctx context.Context, from, to *backend.Device) (Link, error) {
			if failures.Add(1) == 2 {
				return nil, planted
			}
			return simple(ctx, from, to)
		})
		random := rand.New(rand.NewPCG(3, 4))
		tables := spread(random, distributions[0].make(random, 3000), []int{1000, 1000, 1000}, []int{4})
		err := all.run(t.Context(), nil, func(ctx context.Context, r *Rank) error {
			_, err := r.Exchange(ctx, r.Hash(1), tables[r.Rank()].upload(t, r.Lane))
			return err
		})
		require.ErrorIs(t, err, planted)
		for _, lane := range all.lanes {
			lane.Memory.ReleaseAll()
		}
		got := all.exchanged(t, nil, func(r *Rank) Partitioner { return r.Hash(1) }, tables)
		require.Equal(t, sorted(tables...), sorted(got[0]...))
	})
}

// TestLinks: rows arrive over every path that package backend knows, also where ranks share a device.
func TestLinks(t *testing.T) {
	devicetest.ForEachGroup(t, 2, func(t *testing.T, devices []*backend.Device) {
		paths := linked(t, devices)
		require.Contains(t, paths, link.SameDevice)
		require.Len(t, paths, 2)
		l, err := link.Connect(t.Context(), devices[0], devices[1], link.DMABuf)
		if err != nil {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			return
		}
		require.NoError(t, l.Close())
		require.Contains(t, linked(t, devices, link.DMABuf), link.DMABuf)
	})
	t.Run("forced", func(t *testing.T) {
		devicetest.HostTest(t)
		b := host.New(host.Options{Shuffle: 3, Poison: true, Discrete: true, DMABuf: true})
		devices := make([]*backend.Device, 2)
		for i := range devices {
			driver, err := b.Open("host:cpu")
			require.NoError(t, err)
			devices[i] = backend.NewDevice(driver, backend.DeviceOptions{})
			t.Cleanup(func() { require.NoError(t, devices[i].Close()) })
		}
		for _, path := range []link.Path{link.ImportedHost, link.HostStaged, link.DMABuf} {
			require.Contains(t, linked(t, devices, path), path)
		}
	})
}

// linked exchanges rows over the links of package backend, on the best path or on the given one, and returns their
// paths.
func linked(t *testing.T, devices []*backend.Device, forced ...link.Path) map[link.Path]bool {
	paths, mu := make(map[link.Path]bool), sync.Mutex{}
	all := &cluster{links: NewLinks(func(ctx context.Context, from, to *backend.Device) (Link, error) {
		by := forced
		if from == to {
			by = nil
		}
		l, err := link.Connect(ctx, from, to, by...)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		paths[l.Path] = true
		return l, nil
	})}
	t.Cleanup(func() { require.NoError(t, all.links.Close()) })
	for _, d := range []*backend.Device{devices[0], devices[1], devices[0]} {
		all.lanes = append(all.lanes, jointest.Lane(t, d, nil))
	}
	random := rand.New(rand.NewPCG(3, 4))
	tables := spread(random, distributions[0].make(random, 30_000), []int{10_000, 15_000, 5000}, []int{8, 4})
	got := all.exchanged(t, nil, func(r *Rank) Partitioner { return r.Hash(0) }, tables)
	require.Equal(t, sorted(tables...), sorted(got[0]...))
	return paths
}
