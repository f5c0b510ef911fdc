package peers

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/relation"
)

// cluster is lanes on several devices, and the links between them.
type cluster struct {
	lanes []*exec.Lane
	links *Links
}

// forEachCluster runs a test on each selected device, opened size times.
func forEachCluster(t *testing.T, size int, test func(t *testing.T, all *cluster)) {
	devicetest.ForEachGroup(t, size, func(t *testing.T, devices []*backend.Device) {
		all := &cluster{links: NewLinks(simple)}
		for _, d := range devices {
			all.lanes = append(all.lanes, jointest.Lane(t, d, nil))
		}
		t.Cleanup(func() { require.NoError(t, all.links.Close()) })
		test(t, all)
	})
}

// simple makes links without verifying them. Links of package backend/link first verify themselves with 32 MiB each;
// TestLinks runs over these.
func simple(_ context.Context, from, to *backend.Device) (Link, error) {
	return simpleLink{from, to}, nil
}

type simpleLink struct{ from, to *backend.Device }

func (l simpleLink) Copy(ctx context.Context, dst, src backend.Range) error {
	content := make([]byte, src.SizeBytes)
	if err := l.from.Download(ctx, content, src); err != nil {
		return err
	}
	point, err := l.to.Upload(ctx, dst, content)
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

func (l simpleLink) Close() error { return nil }

// first returns a cluster of the first size devices.
func (c *cluster) first(size int) *cluster { return &cluster{c.lanes[:size], c.links} }

// run runs body on all ranks.
func (c *cluster) run(ctx context.Context, weights []uint32, body func(context.Context, *Rank) error) error {
	return RunRanks(ctx, c.links, c.lanes, weights, body)
}

// table is rows on the host: keys, and payload that tells each row from all others.
type table struct {
	widths  []int // bytes of the keys and of each payload column
	columns [][]uint64
}

func (t *table) rows() int { return len(t.columns[0]) }

// newTable makes payload for keys; rows of one test have different numbers.
func newTable(keys []uint64, firstNumber int, widths ...int) *table {
	made := &table{widths: widths, columns: [][]uint64{keys}}
	for c := range widths[1:] {
		column := make([]uint64, len(keys))
		for i := range column {
			column[i] = uint64(firstNumber+i)*3 + uint64(c)
			if widths[c+1] == 8 {
				column[i] |= uint64(c+1) << 40
			}
		}
		made.columns = append(made.columns, column)
	}
	return made
}

// upload puts a table on the device of a lane.
func (t *table) upload(tb testing.TB, lane *exec.Lane) *relation.Chunk {
	chunk := &relation.Chunk{Rows: uint64(t.rows())}
	for c, column := range t.columns {
		content := make([]byte, 0, 8*len(column))
		for _, value := range column {
			if t.widths[c] == 4 {
				content = binary.LittleEndian.AppendUint32(content, uint32(value))
			} else {
				content = binary.LittleEndian.AppendUint64(content, value)
			}
		}
		values := relation.Values{Data: lane.Memory.New(uint64(len(content)), "input").All(), Bytes: t.widths[c]}
		require.NoError(tb, lane.Memory.Err())
		if len(content) > 0 {
			_, err := lane.Device().Upload(context.Background(), values.Data, content)
			require.NoError(tb, err)
		}
		if c == 0 {
			chunk.Keys = values
		} else {
			chunk.Payload = append(chunk.Payload, values)
		}
	}
	return chunk
}

// download gets a chunk of a device.
func download(tb testing.TB, lane *exec.Lane, chunk *relation.Chunk) *table {
	require.NoError(tb, chunk.Check("test"))
	got := &table{}
	for _, values := range chunk.Columns() {
		content, column := make([]byte, values.Data.SizeBytes), make([]uint64, chunk.Rows)
		if chunk.Rows > 0 {
			require.NoError(tb, lane.Download(context.Background(), content, values.Data))
		}
		for i := range column {
			if values.Bytes == 4 {
				column[i] = uint64(binary.LittleEndian.Uint32(content[4*i:]))
			} else {
				column[i] = binary.LittleEndian.Uint64(content[8*i:])
			}
		}
		got.widths, got.columns = append(got.widths, values.Bytes), append(got.columns, column)
	}
	return got
}

// sorted returns the rows of tables in ascending order, as a multiset.
func sorted(tables ...*table) [][4]uint64 {
	var all [][4]uint64
	for _, t := range tables {
		for i := range t.rows() {
			var row [4]uint64
			for c := range t.columns {
				row[c] = t.columns[c][i]
			}
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b [4]uint64) int { return slices.Compare(a[:], b[:]) })
	return all
}

// distribution makes keys of a test.
type distribution struct {
	name string
	make func(random *rand.Rand, rows int) []uint64
}

func each(key func(random *rand.Rand, row, rows int) uint64) func(*rand.Rand, int) []uint64 {
	return func(random *rand.Rand, rows int) []uint64 {
		keys := make([]uint64, rows)
		for i := range keys {
			keys[i] = key(random, i, rows)
		}
		return keys
	}
}

// zipf makes keys of which the k-th has a frequency proportional to 1 / k^factor.
func zipf(factor float64) func(*rand.Rand, int) []uint64 {
	return func(random *rand.Rand, rows int) []uint64 {
		sums, sum := make([]float64, 1000), 0.0
		for k := range sums {
			sum += math.Pow(float64(k+1), -factor)
			sums[k] = sum
		}
		return each(func(random *rand.Rand, _, _ int) uint64 {
			k, _ := slices.BinarySearch(sums, random.Float64()*sum)
			return uint64(k) * 2654435761 % (1 << 32)
		})(random, rows)
	}
}

var distributions = []distribution{
	{"random", each(func(r *rand.Rand, _, _ int) uint64 { return r.Uint64() })},
	{"dense", each(func(r *rand.Rand, _, rows int) uint64 { return uint64(r.IntN(max(1, rows))) })},
	{"equal", each(func(*rand.Rand, int, int) uint64 { return 0x1234567890abcdef })},
	{"greatest", each(func(*rand.Rand, int, int) uint64 { return math.MaxUint64 })},
	{"ascending", each(func(_ *rand.Rand, row, _ int) uint64 { return uint64(row) })},
	{"descending", each(func(_ *rand.Rand, row, rows int) uint64 { return uint64(rows - row) })},
	{"few", each(func(r *rand.Rand, _, _ int) uint64 { return uint64(r.IntN(3)) << 30 })},
	{"boundaries", each(func(r *rand.Rand, _, _ int) uint64 {
		return uint64(r.IntN(8))<<29 - uint64(r.IntN(2)) // the last key of a digit and the first of the next
	})},
	{"high words", each(func(r *rand.Rand, _, _ int) uint64 { return r.Uint64()&^math.MaxUint32 | 7 })},
	{"zipf 0.5", zipf(0.5)}, {"zipf 1", zipf(1)}, {"zipf 2", zipf(2)},
}

// shares cut rows into the chunks of ranks.
var shares = map[string]func(random *rand.Rand, rows, size int) []int{
	"even": func(_ *rand.Rand, rows, size int) []int {
		return slices.Repeat([]int{rows / size}, size)
	},
	"uneven": func(random *rand.Rand, rows, size int) []int {
		s := make([]int, size)
		for range rows / 16 {
			s[min(random.IntN(size), random.IntN(size))] += 16
		}
		return s
	},
	"first": func(_ *rand.Rand, rows, size int) []int { return append([]int{rows}, make([]int, size-1)...) },
	"last":  func(_ *rand.Rand, rows, size int) []int { return append(make([]int, size-1), rows) },
}

// spread makes tables of ranks: keys of a distribution, cut into shares.
func spread(random *rand.Rand, keys []uint64, share []int, widths []int) []*table {
	if widths[0] == 4 {
		keys = slices.Clone(keys)
		for i := range keys {
			keys[i] &= math.MaxUint32
		}
	}
	var tables []*table
	at := 0
	for _, rows := range share {
		rows = min(rows, len(keys)-at)
		tables = append(tables, newTable(keys[at:at+rows], at, widths...))
		at += rows
	}
	return tables
}

// scenario is the input of a test.
type scenario struct {
	distribution
	size, rows int
	share      string
	widths     []int
	weights    []uint32
}

func (s *scenario) String() string {
	return fmt.Sprintf("%d ranks, %d rows, %s, %s, widths %v, weights %v", s.size, s.rows, s.name, s.share, s.widths,
		s.weights)
}

// scenarios are combinations of all that matters, for up to most ranks.
func scenarios(t *testing.T, most int, rows ...int) (all []scenario) {
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8}[:most]
	layouts := [][]int{{4}, {8}, {4, 4}, {8, 8}, {4, 8, 4}, {8, 4, 4, 4}, {8, 8, 4, 8}}
	cuts := []string{"even", "uneven", "first", "last"}
	for _, c := range devicetest.Combinations(t, len(sizes), len(rows), len(distributions), len(cuts), len(layouts), 3) {
		s := scenario{size: sizes[c[0]], rows: rows[c[1]], distribution: distributions[c[2]], share: cuts[c[3]],
			widths: layouts[c[4]]}
		for i := range s.size {
			switch c[5] {
			case 1:
				s.weights = append(s.weights, uint32(i+1))
			case 2:
				s.weights = append(s.weights, []uint32{3, 0, 1}[i%3])
			}
		}
		all = append(all, s)
	}
	return all
}

// tables makes the input of all ranks.
func (s *scenario) tables(seed uint64) []*table {
	random := rand.New(rand.NewPCG(seed, uint64(s.rows)))
	return spread(random, s.make(random, s.rows), shares[s.share](random, s.rows, s.size), s.widths)
}

// weightsOf are equal weights if none are given, as in [RunRanks].
func weightsOf(size int, weights []uint32) []uint32 {
	if weights == nil {
		return slices.Repeat([]uint32{1}, size)
	}
	return weights
}
