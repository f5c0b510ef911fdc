package hash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
)

var (
	om, um, single = Partitioned{}, Partitioned{Untransformed: true}, Partitioned{OneByOne: true}
	hj             = Unpartitioned{}
)

// forms are the partitioned joins, without pages.
var forms = []Partitioned{om, um, single, {CountFirst: true}, {Untransformed: true, CountFirst: true}, om, um}

// forced are plans that nobody would make: no partition, many, and tables so small that partitions take several units
// or are oversized, few or all of them.
var forced = []force{{}, {bits: bitsOf(0)}, {bits: bitsOf(3)}, {bits: bitsOf(11), table: 40},
	{bits: bitsOf(5), table: 70}, {bits: bitsOf(0), table: 20}, {bits: bitsOf(4), table: 20}, {bits: bitsOf(5), table: 8}}

func bitsOf(n int) *int { return &n }

// forcedOn are those that a test makes on a device, by their size of table, which is a constant of kernels.
func forcedOn(t *testing.T, device *backend.Device) []force {
	var tables []uint32
	for _, f := range forced {
		if !slices.Contains(tables, f.table) {
			tables = append(tables, f.table)
		}
	}
	tables = devicetest.Shapes(t, device.Info(), tables)
	return slices.DeleteFunc(slices.Clone(forced), func(f force) bool { return !slices.Contains(tables, f.table) })
}

// sizes lie around tiles of right rows, of 1,024 by default, and around tables, among them.
var sizes = [][2]int{{0, 0}, {0, 5}, {7, 0}, {1, 1}, {1, 300}, {300, 1}, {31, 33}, {33, 31}, {200, 1023}, {1025, 1024},
	{1024, 1025}, {1536, 255}, {1537, 257}, {2000, 6000}, {6000, 3500}}

var payloads = append(slices.Clone(jointest.Payloads), [2][]int{{4, 8, 8, 4, 4}, {4, 4, 4, 4, 4}},
	[2][]int{{8, 8, 8}, nil})

// workloads are the workloads of all joins, one with different keys in one partition, and one with keys that are
// frequent on both sides.
func workloads() map[string]jointest.Workload {
	all := maps.Clone(jointest.Workloads)
	all["collisions"] = collisions
	all["hot on both sides"] = jointest.Workload{Draw: func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		draw := func(rows int) (keys []uint64) {
			for i := range rows {
				keys = append(keys, uint64(random.IntN(2*rows)))
				if i%20 == 3 && i < 4000 {
					keys[i] = uint64(i % 3 << (bits - 2))
				}
			}
			return keys
		}
		return draw(left), draw(right)
	}}
	return all
}

var collisions = jointest.Workload{Unique: true, Draw: func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
	for i := range left {
		l = append(l, collide(i, bits))
	}
	for range right {
		r = append(r, collide(random.IntN(left+left/2+1), bits))
	}
	return l, r
}}

func collide(i, bits int) uint64 {
	if bits == 64 {
		return kernel.Unmix(uint64(i)<<mostBits|9, partitionSeed)
	}
	return uint64(kernel.Unmix(uint32(i)<<mostBits|9, partitionSeed))
}

// TestDevicesPartitioned joins in every way: whatever is wanted, however probe rows come, whatever room there is, and
// however the join is cut.
func TestDevicesPartitioned(t *testing.T) { devicetest.ForEach(t, joinPartitioned) }

func joinPartitioned(t *testing.T, device *backend.Device) {
	workloads, forced := workloads(), forcedOn(t, device)
	names, wants := slices.Sorted(maps.Keys(workloads)), slices.Sorted(maps.Keys(jointest.Wants))
	lanes := [2]*exec.Lane{jointest.Lane(t, device, nil), jointest.SmallLane(t, device)}
	for n, c := range devicetest.Combinations(t, len(sizes), len(wants), len(names), len(forms), len(forced)) {
		if jointest.Instrumented(t) && n%5 > 0 {
			continue // instrumented pipelines take seconds to compile
		}
		random := rand.New(rand.NewPCG(uint64(n), 11))
		d := draw(random, workloads[names[c[2]]], sizes[c[0]], wants[c[1]])
		a := forms[c[3]]
		a.force = forced[c[4]]
		if c[3] >= 5 {
			a.PageRows = 1 + n%8
		}
		jointest.CheckRun(t, lanes[n%2], a, d.build, d.probe, d.want, d.options,
			fmt.Sprintf("case %d: %+v, %s, %s", n, a, names[c[2]], d))
	}
}

// TestWithoutSubgroups joins in all these ways on a device that has no subgroup operations.
func TestWithoutSubgroups(t *testing.T) {
	devicetest.ForEachWithoutSubgroups(t, func(t *testing.T, device *backend.Device) {
		joinUnpartitioned(t, device)
		markWithPairs(t, device)
		if !testing.Short() { // drivers compile most of these kernels for the others
			joinPartitioned(t, device)
		}
	})
}

// TestDevicesMarkWithPairs wants pairs and rows without a partner of one granule, which are marked while pairs are made:
// at once or, with too little room, before the pairs are made again.
func TestDevicesMarkWithPairs(t *testing.T) { devicetest.ForEach(t, markWithPairs) }

func markWithPairs(t *testing.T, device *backend.Device) {
	workloads, forced := workloads(), forcedOn(t, device)
	names := slices.Sorted(maps.Keys(workloads))
	lane := jointest.SmallLane(t, device)
	for n, c := range devicetest.Combinations(t, len(sizes), len(names), 3, len(forced), 2) {
		random := rand.New(rand.NewPCG(uint64(n), 17))
		build, probe := workloads[names[c[1]]].Relations(random, sizes[c[0]], 4+4*(n%2), payloads[n%len(payloads)])
		want := operator.Want{Pairs: true, Keys: n%3 > 0, Rest: [2]bool{c[2] != 1, c[2] != 0}}
		options := jointest.Options{Facts: func(f *operator.Facts) {
			if c[4] == 1 {
				f.OutputRows = 0
			}
		}}
		a := Partitioned{Untransformed: n%5 == 0, force: forced[c[3]]}
		jointest.CheckRun(t, lane, a, build, probe, want, options,
			fmt.Sprintf("case %d: %+v, %s of %v, %+v", n, a, names[c[1]], sizes[c[0]], want))
	}
}

// TestDevicesUnpartitioned is the same by hj, which has nothing to cut.
func TestDevicesUnpartitioned(t *testing.T) { devicetest.ForEach(t, joinUnpartitioned) }

func joinUnpartitioned(t *testing.T, device *backend.Device) {
	workloads, lane := workloads(), jointest.Lane(t, device, nil)
	names, wants := slices.Sorted(maps.Keys(workloads)), slices.Sorted(maps.Keys(jointest.Wants))
	for n, c := range devicetest.Combinations(t, len(sizes), len(wants), len(names)) {
		if jointest.Instrumented(t) && n%5 > 0 {
			continue
		}
		random := rand.New(rand.NewPCG(uint64(n), 13))
		d := draw(random, workloads[names[c[2]]], sizes[c[0]], wants[c[1]])
		jointest.CheckRun(t, lane, hj, d.build, d.probe, d.want, d.options,
			fmt.Sprintf("case %d: %s, %s", n, names[c[2]], d))
	}
}

// most is how often the most frequent key occurs.
func most(keys []uint64) (n int) {
	counts := map[uint64]int{}
	for _, key := range keys {
		counts[key]++
		n = max(n, counts[key])
	}
	return n
}

// drawn is what a case draws.
type drawn struct {
	build, probe *jointest.Relation
	want         operator.Want
	options      jointest.Options
	text         string
}

func (d *drawn) String() string { return d.text }

// draw draws keys of either width, with or without a key column, payload, granules down to a single row, and room: that
// which was asked for, too little of it at first, or windows of a few thousand rows.
func draw(random *rand.Rand, w jointest.Workload, size [2]int, want string) *drawn {
	d := &drawn{want: jointest.Wants[want]}
	d.want.Keys = random.IntN(2) == 0
	keyBytes := 4 + 4*random.IntN(2)
	d.build, d.probe = w.Relations(random, size, keyBytes, payloads[random.IntN(len(payloads))])
	o := &d.options
	switch probe := uint64(size[operator.Probe]); random.IntN(4) {
	case 1:
		o.Granule = probe/3 + 1
	case 2:
		o.Granule = max(1, probe/9)
	case 3:
		o.Granule = max(1, probe/100)
		if probe < 50 {
			o.Granule = 1
		}
	}
	unique, room := w.Unique && size[operator.Build]%2 == 1, random.IntN(3)
	if room == 1 && (d.want.Count || most(d.build.Keys) < 20) {
		o.Window = 2100 // more than a unit makes
	}
	o.Facts = func(f *operator.Facts) {
		f.Proved = unique
		if room == 2 {
			f.Window = 3 // so that there is too little room at first
		}
	}
	d.text = fmt.Sprintf("%s of %v, keys %t of %d bytes, payload %v and %v, granules of %d, windows of %d, room %d, "+
		"proved %t", want, size, d.want.Keys, keyBytes, d.build.Payload, d.probe.Payload, o.Granule, o.Window,
		room, unique)
	return d
}
