package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// machine is one of n devices, equal or of four speeds, behind a switch.
func machine(n int, unequal bool) *Machine {
	m := Of(Switch(n, wires))
	for i := range m.Devices {
		if unequal {
			m.Devices[i].Speed = float64(1 + i%4)
		}
	}
	return m
}

// each calls test for 16 and 64 devices, in a short run 32, equal and unequal, with random keys and with keys of which
// few are frequent.
func each(t *testing.T, test func(t *testing.T, m *Machine, in rowsOf)) {
	devicetest.HostTest(t)
	for _, c := range devicetest.Combinations(t, 2, 2, 2) {
		n, unequal, keys := []int{16, devicetest.Short(32, 64)}[c[0]], c[1] == 1, []string{"uniform", "zipf"}[c[2]]
		t.Run(fmt.Sprintf("devices=%d/unequal=%t/keys=%s", n, unequal, keys), func(t *testing.T) {
			if n > 16 {
				devicetest.SkipRace(t)
			}
			next := map[string]func() func() uint64{"uniform": uniform, "zipf": zipf}[keys]
			test(t, machine(n, unequal), keyed(n, 4096, next()))
		})
	}
}

// requireMovedOnce checks that each row that is on another rank than before has crossed links once, and no other row;
// of g ranks, that is (g-1)/g of rows that are spread at random.
func requireMovedOnce(t *testing.T, got moved) {
	t.Helper()
	require.EqualValues(t, got.strangers()*rowBytes, got.MovedBytes())
	g := float64(len(got.rowsOf))
	require.InEpsilon(t, (g-1)/g, float64(got.strangers())/float64(got.count()), 0.01)
}

// requireEven checks that an exchange of all ranks with all loads no wire between equal devices with more than most
// times the mean.
func requireEven(t *testing.T, m *Machine, got moved, most float64) {
	t.Helper()
	if m.Weights() != nil {
		return
	}
	n := uint64(len(m.Devices))
	for _, movement := range m.Judge(got.Traffic).Movements {
		for segment, bytes := range movement.Loads[2+2*n:] { // behind the slots
			require.LessOrEqual(t, float64(bytes), most*float64(got.MovedBytes()/n), "%+v", m.Wires.Segments[2+2*n:][segment])
		}
	}
}

// TestHash: rows with equal keys meet, each crosses links once, and no rank is fuller than the buckets and the hottest
// key make it.
func TestHash(t *testing.T) {
	each(t, func(t *testing.T, m *Machine, in rowsOf) {
		got := exchange(t, m, in, func(r *peers.Rank) (peers.Partitioner, error) { return r.Hash(1), nil })
		requireRows(t, in, got.rowsOf)
		owners := make(map[uint64]int)
		for rank, of := range got.rowsOf {
			for _, r := range of {
				if owner, met := owners[r.key]; met {
					require.Equal(t, owner, rank, "key %d", r.key)
				}
				owners[r.key] = rank
			}
		}
		requireMovedOnce(t, got)
		require.Equal(t, 1, got.Movements)
		require.Equal(t, 4, got.Rounds)
		hottest := float64(in.hottest()) / 4096 // of the mean share
		require.LessOrEqual(t, got.fullest(m.Weights()), max(1.1, 1.05*hottest*leastShare(m)))
		requireEven(t, m, got, max(1.1, 1.05*hottest))
	})
}

// leastShare is the mean share divided by the share of the device with the least weight.
func leastShare(m *Machine) float64 {
	weights := m.Weights()
	if weights == nil {
		return 1
	}
	total := uint32(0)
	for _, w := range weights {
		total += w
	}
	return float64(total) / float64(len(weights)) / float64(slices.Min(weights))
}

// TestSorts: all methods give the same order, with shares that are exact, or nearly so by radix partition. By stages of
// 2^k ranks a row crosses links k(k+1)/4 times, otherwise once.
func TestSorts(t *testing.T) {
	times := map[int]float64{16: 5, 64: 10.5}
	each(t, func(t *testing.T, m *Machine, in rowsOf) {
		n := len(m.Devices)
		for _, method := range []peers.Method{peers.RadixPartition, peers.MergeOnce, peers.MergeStages} {
			if testing.Short() && n > 16 && method != peers.RadixPartition {
				continue
			}
			got := sorted(t, m, in, method)
			requireRows(t, in, got.rowsOf)
			requireOrder(t, got.rowsOf)
			slack := 0.001 // of a row, as shares are not whole
			switch method {
			case peers.RadixPartition:
				slack = 0.015 // 0.5% of an even share: of the share of a slow device up to 2.5 times as much
				require.LessOrEqual(t, got.Movements, 3)
				require.LessOrEqual(t, got.Rounds, 20)
			case peers.MergeOnce:
				require.Equal(t, 1, got.Movements)
				require.LessOrEqual(t, got.Rounds, 12)
			case peers.MergeStages:
				require.Equal(t, n-1, got.Movements)
				require.LessOrEqual(t, got.Rounds, 9*n)
				crossed := float64(got.MovedBytes()) / rowBytes / float64(in.count())
				require.InEpsilon(t, times[n], crossed, 0.07, "unequal shares move less")
			}
			require.InDelta(t, 1, got.fullest(m.Weights()), slack, method)
			if method != peers.MergeStages {
				requireMovedOnce(t, got)
				requireEven(t, m, got, 1.05)
			}
		}
	})
}

// TestOneSmallDevice: if one of 16 devices lacks the memory for what it is to receive, all ranks are told, and a share
// that fits moves.
func TestOneSmallDevice(t *testing.T) {
	devicetest.HostTest(t)
	m, in := machine(16, false), keyed(16, 24_576, uniform())
	m.Devices[5].MemoryBytes = 1 << 20
	_, err := m.Run(t.Context(), func(ctx context.Context, r *peers.Rank) error {
		chunk, err := upload(ctx, r, in[r.Rank()])
		if err != nil {
			return err
		}
		_, err = r.Exchange(ctx, r.Hash(1), chunk)
		return err
	})
	var large *peers.TooLarge
	require.True(t, errors.As(err, &large), "%v", err)
	require.Equal(t, 5, large.Rank)
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	in = keyed(16, 8192, uniform())
	got := exchange(t, m, in, func(r *peers.Rank) (peers.Partitioner, error) { return r.Hash(1), nil })
	requireRows(t, in, got.rowsOf)
}
