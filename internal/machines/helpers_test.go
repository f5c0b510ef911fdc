package machines

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/relation"
)

// wires are the links of a host of H100s: NVLink 4, PCIe 5, 12 channels of DDR5 a socket, 400 Gb/s a GPU between nodes.
var wires = Wires{Host: 300e9, Slot: 50e9, Peer: 350e9, Bridge: 60e9, Network: 8 * 45e9,
	Latency: 2 * time.Microsecond, NetworkLatency: 10 * time.Microsecond}

// rowBytes is the size of a row: a key, and its number among the rows of all ranks.
const rowBytes = 16

// row is a row of the host.
type row struct{ key, number uint64 }

// rowsOf are the rows of all ranks.
type rowsOf [][]row

// keyed makes rows whose keys are made by next, as many on each rank.
func keyed(ranks, each int, next func() uint64) rowsOf {
	all := make(rowsOf, ranks)
	for rank := range all {
		for i := range each {
			all[rank] = append(all[rank], row{next(), uint64(rank*each + i)})
		}
	}
	return all
}

// uniform makes random keys.
func uniform() func() uint64 { return rand.New(rand.NewPCG(1, 2)).Uint64 }

// zipf makes keys of which the k-th of 100,000 has a frequency proportional to 1/k; they are spread over all keys.
func zipf() func() uint64 {
	random, sums, sum := rand.New(rand.NewPCG(3, 4)), make([]float64, 100_000), 0.0
	for k := range sums {
		sum += 1 / float64(k+1)
		sums[k] = sum
	}
	return func() uint64 {
		k, _ := slices.BinarySearch(sums, random.Float64()*sum)
		return uint64(k) * 0x9e3779b97f4a7c15
	}
}

// count is the number of rows of all ranks.
func (all rowsOf) count() (rows int) {
	for _, of := range all {
		rows += len(of)
	}
	return rows
}

// hottest is how many rows the most frequent key has.
func (all rowsOf) hottest() (most int) {
	counts := make(map[uint64]int)
	for _, of := range all {
		for _, r := range of {
			counts[r.key]++
			most = max(most, counts[r.key])
		}
	}
	return most
}

// fullest is how many rows the rank has that has most for its weight, in multiples of its share.
func (all rowsOf) fullest(weights []uint32) (most float64) {
	total := 0.0
	for rank := range all {
		total += weight(weights, rank)
	}
	for rank, of := range all {
		share := weight(weights, rank) / total * float64(all.count())
		most = max(most, float64(len(of))/share)
	}
	return most
}

func weight(weights []uint32, rank int) float64 {
	if weights == nil {
		return 1
	}
	return float64(weights[rank])
}

// strangers is how many rows are on another rank than they were in the beginning, when all ranks had as many.
func (all rowsOf) strangers() (rows int) {
	each := uint64(all.count() / len(all))
	for rank, of := range all {
		for _, r := range of {
			if r.number/each != uint64(rank) {
				rows++
			}
		}
	}
	return rows
}

// upload puts rows on the device of a rank.
func upload(ctx context.Context, r *peers.Rank, rows []row) (*relation.Chunk, error) {
	keys, numbers := make([]byte, 0, 8*len(rows)), make([]byte, 0, 8*len(rows))
	for _, of := range rows {
		keys = binary.LittleEndian.AppendUint64(keys, of.key)
		numbers = binary.LittleEndian.AppendUint64(numbers, of.number)
	}
	columns := make([]relation.Values, 2)
	for i, content := range [][]byte{keys, numbers} {
		columns[i] = relation.Values{Data: r.Lane.Memory.New(uint64(len(content)), "input").All(), Bytes: 8}
		if err := r.Lane.Memory.Err(); err != nil {
			return nil, err
		}
		point, err := r.Lane.Device().Upload(ctx, columns[i].Data, content)
		if err != nil {
			return nil, err
		}
		if err := point.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return &relation.Chunk{Rows: uint64(len(rows)), Keys: columns[0], Payload: columns[1:]}, nil
}

// download gets the rows of a chunk.
func download(ctx context.Context, r *peers.Rank, c *relation.Chunk) ([]row, error) {
	if c.Rows == 0 {
		return nil, nil
	}
	rows := make([]row, c.Rows)
	for i, values := range append([]relation.Values{c.Keys}, c.Payload...) {
		content := make([]byte, values.Data.SizeBytes)
		if err := r.Lane.Download(ctx, content, values.Data); err != nil {
			return nil, err
		}
		for n := range rows {
			if value := binary.LittleEndian.Uint64(content[8*n:]); i == 0 {
				rows[n].key = value
			} else {
				rows[n].number = value
			}
		}
	}
	return rows, nil
}

// moved is the rows that each rank has in the end, and the traffic until then.
type moved struct {
	rowsOf
	*Traffic
}

// exchange moves rows by a partitioner.
func exchange(t *testing.T, m *Machine, in rowsOf, by func(*peers.Rank) (peers.Partitioner, error)) moved {
	out := make(rowsOf, len(in))
	traffic, err := m.Run(t.Context(), func(ctx context.Context, r *peers.Rank) error {
		chunk, err := upload(ctx, r, in[r.Rank()])
		if err != nil {
			return err
		}
		partitioner, err := by(r)
		if err != nil {
			return err
		}
		received, err := r.Exchange(ctx, partitioner, chunk)
		if err != nil {
			return err
		}
		defer received[0].Release()
		out[r.Rank()], err = download(ctx, r, &received[0].Chunk)
		return err
	})
	require.NoError(t, err)
	return moved{out, traffic}
}

// sorted sorts rows by a method.
func sorted(t *testing.T, m *Machine, in rowsOf, method peers.Method) moved {
	out := make(rowsOf, len(in))
	traffic, err := m.Run(t.Context(), func(ctx context.Context, r *peers.Rank) error {
		chunk, err := upload(ctx, r, in[r.Rank()])
		if err != nil {
			return err
		}
		all, err := r.Sort(ctx, method, chunk)
		if err != nil {
			return err
		}
		defer all[0].Release()
		out[r.Rank()], err = download(ctx, r, &all[0].Chunk)
		return err
	})
	require.NoError(t, err)
	return moved{out, traffic}
}

// requireRows checks that the ranks have the rows that they started with.
func requireRows(t *testing.T, in, out rowsOf) {
	t.Helper()
	met := make([]int, in.count())
	each := uint64(len(in[0]))
	for _, of := range out {
		for _, r := range of {
			require.Less(t, r.number, uint64(len(met)))
			require.Equal(t, in[r.number/each][r.number%each].key, r.key)
			met[r.number]++
		}
	}
	for number, n := range met {
		require.Equal(t, 1, n, "row %d", number)
	}
}

// requireOrder checks that keys ascend on each rank and from rank to rank.
func requireOrder(t *testing.T, out rowsOf) {
	t.Helper()
	before := uint64(0)
	for rank, of := range out {
		for _, r := range of {
			require.LessOrEqual(t, before, r.key, "rank %d", rank)
			before = r.key
		}
	}
}
