package ranks

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
)

// TestChooseWay: a small side goes to all ranks if that moves fewer bytes, if it fits, and if the join allows it.
func TestChooseWay(t *testing.T) {
	const mib = 1 << 20
	of := func(ranks int, left, right int64) totals {
		return totals{ranks: ranks, rows: [2]int64{left, right}, bytes: [2]int64{left, right},
			limitBytes: exec.Unlimited}
	}
	limited := of(4, mib, 100*mib)
	limited.limitBytes = 3 * mib
	for name, c := range map[string]struct {
		spec join.Spec
		t    totals
		want Way
	}{
		"one rank":                    {join.Spec{}, of(1, 1, 1), Stay},
		"one rank, cross":             {join.Spec{How: join.Cross}, of(1, 1, 1), Stay},
		"small left":                  {join.Spec{}, of(4, mib, 100*mib), LeftToAll},
		"small right":                 {join.Spec{}, of(4, 100*mib, mib), RightToAll},
		"too many copies":             {join.Spec{}, of(200, mib, 100*mib), Owners},
		"three copies are as much":    {join.Spec{}, of(3, mib, 2*mib), Owners},
		"three copies are less":       {join.Spec{}, of(3, mib, 2*mib+1), LeftToAll},
		"equal sides":                 {join.Spec{}, of(4, mib, mib), Owners},
		"empty sides":                 {join.Spec{}, of(4, 0, 0), Owners},
		"an empty side":               {join.Spec{}, of(4, 0, mib), LeftToAll},
		"no room":                     {join.Spec{}, limited, Owners},
		"unknown sizes":               {join.Spec{}, of(4, -1, -1), Owners},
		"one unknown size":            {join.Spec{}, of(4, 1, -1), Owners},
		"left keeps left rows":        {join.Spec{How: join.Left}, of(4, mib, 100*mib), Owners},
		"left, small right":           {join.Spec{How: join.Left}, of(4, 100*mib, mib), RightToAll},
		"right, small left":           {join.Spec{How: join.Right}, of(4, mib, 100*mib), LeftToAll},
		"full":                        {join.Spec{How: join.Full}, of(4, mib, 100*mib), Owners},
		"semi returns left rows once": {join.Spec{How: join.Semi}, of(4, mib, 100*mib), Owners},
		"semi, small right":           {join.Spec{How: join.Semi}, of(4, 100*mib, mib), RightToAll},
		"right-semi, small left":      {join.Spec{How: join.RightSemi}, of(4, mib, 100*mib), LeftToAll},
		"right-anti, small right":     {join.Spec{How: join.RightAnti}, of(4, 100*mib, mib), Owners},
		"mark, small right":           {join.Spec{How: join.Mark}, of(4, 100*mib, mib), RightToAll},
		"not-in, small right":         {join.Spec{How: join.NotIn}, of(4, 100*mib, mib), RightToAll},
		"unique side stays":           {join.Spec{Validate: join.OneToMany}, of(4, 100*mib, mib), Owners},
		"unique side goes to all":     {join.Spec{Validate: join.ManyToOne}, of(4, 100*mib, mib), RightToAll},
		"pairs":                       {join.Spec{Output: join.Pairs}, of(4, 100*mib, mib), Owners},
		"cross, larger left":          {join.Spec{How: join.Cross}, of(4, 2*mib, mib), RightToAll},
		"cross, smaller left":         {join.Spec{How: join.Cross}, of(4, mib, 2*mib), LeftToAll},
		"cross, unknown":              {join.Spec{How: join.Cross}, of(4, -1, -1), RightToAll},
	} {
		require.Equal(t, c.want, chooseWay(&c.spec, c.t), name)
	}
}

// TestChooseHot: keys are hot whose rows, of all ranks, are more than an eighth of a rank's, and more than the copies
// of their partners.
func TestChooseHot(t *testing.T) {
	// Three ranks have 100 rows of each side; a rank joins 200, so 25 rows are hot.
	of := func(left, right [3]float64) (all []sample) {
		for rank := range 3 {
			s := sample{Rows: [2]float64{100, 100}}
			for side, n := range []float64{left[rank], right[rank]} {
				if n > 0 {
					s.Keys[side] = []frequent{{Hash: 42, Rows: n}}
				}
			}
			all = append(all, s)
		}
		return all
	}
	for name, c := range map[string]struct {
		spec   join.Spec
		hashed bool
		all    []sample
		want   []hotKey
	}{
		"left": {join.Spec{}, true, of([3]float64{60, 50}, [3]float64{5}), []hotKey{{42, 0, []int{0, 1}, false}}},
		"right": {join.Spec{}, true, of([3]float64{9}, [3]float64{0, 60, 60}),
			[]hotKey{{42, 1, []int{1, 2}, false}}},
		"too few rows":      {join.Spec{}, true, of([3]float64{12, 12}, [3]float64{5}), nil},
		"too many partners": {join.Spec{}, true, of([3]float64{60, 50}, [3]float64{30, 26}), nil},
		"unique":            {join.Spec{Validate: join.OneToMany}, true, of([3]float64{60, 50}, [3]float64{5}), nil},
		"unique partners": {join.Spec{Validate: join.ManyToOne}, true, of([3]float64{60, 50}, [3]float64{5}),
			[]hotKey{{42, 0, []int{0, 1}, false}}},
		"partners are kept": {join.Spec{How: join.Full}, false, of([3]float64{60, 50}, [3]float64{5}),
			[]hotKey{{42, 0, []int{0, 1}, false}}},
		"hashed partners are kept": {join.Spec{How: join.Full}, true, of([3]float64{60, 50}, [3]float64{5}), nil},
		"partners come once": {join.Spec{How: join.RightSemi}, false, of([3]float64{60, 50}, [3]float64{5}),
			[]hotKey{{42, 0, []int{0, 1}, true}}},
		"hashed partners come once": {join.Spec{How: join.RightSemi}, true, of([3]float64{60, 50}, [3]float64{5}), nil},
		"partners are not output": {join.Spec{How: join.Semi}, true, of([3]float64{60, 50}, [3]float64{5}),
			[]hotKey{{42, 0, []int{0, 1}, false}}},
	} {
		require.Equal(t, c.want, chooseHot(&c.spec, !c.hashed, c.all), name)
	}
}

// TestMoves: rows that stay, or go to one rank, are in the part of that rank; rows for several are together if they go
// to the same ones.
func TestMoves(t *testing.T) {
	hot := []hotKey{{1, 0, []int{0, 2}, false}, {2, 0, []int{0, 2}, false}, {3, 1, []int{1, 3}, true},
		{4, 0, []int{3}, false}, {5, 0, []int{1, 2}, false}}
	for rank, want := range []map[uint64]int{{1: 0, 2: 0, 3: 1, 4: 3, 5: 1}, {1: 2, 2: 2, 3: 1, 4: 3, 5: 1},
		{1: 2, 2: 2, 3: 1, 4: 3, 5: 2}, {1: 2, 2: 2, 3: 1, 4: 3, 5: 2}} {
		of, copies := moves(hot, 0, rank, 4)
		require.Equal(t, want, of, "rank %d", rank)
		require.Empty(t, copies)
	}
	of, copies := moves(hot, 1, 3, 4)
	require.Equal(t, map[uint64]int{1: 4, 2: 4, 3: 3, 4: 3, 5: 5}, of)
	require.Equal(t, [][]int{{0, 2}, {1, 2}}, copies)
}

// TestChooseBuild: the build side is the one that goes to all ranks or has fewer rows, unless the join needs the other.
func TestChooseBuild(t *testing.T) {
	k := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for name, c := range map[string]struct {
		spec        join.Spec
		way         Way
		left, right int64
		want        join.BuildSide
		ok          bool
	}{
		"fewer left rows":  {join.Spec{}, Owners, 1, 2, join.BuildLeft, true},
		"fewer right rows": {join.Spec{}, Owners, 2, 1, join.BuildRight, true},
		"unknown":          {join.Spec{}, Owners, -1, -1, join.BuildLeft, true},
		"unknown left":     {join.Spec{}, Owners, -1, 5, join.BuildRight, true},
		"right to all":     {join.Spec{}, RightToAll, 1, 2, join.BuildRight, true},
		"left to all":      {join.Spec{}, LeftToAll, 2, 1, join.BuildLeft, true},
		"given":            {join.Spec{BuildSide: join.BuildLeft}, RightToAll, 2, 1, join.BuildLeft, true},
		"not-in":           {join.Spec{How: join.NotIn}, Owners, 1, 2, join.BuildRight, true},
		"given against not-in": {join.Spec{How: join.NotIn, BuildSide: join.BuildLeft}, Owners, 1, 2, join.BuildLeft,
			false},
		"unique right":           {join.Spec{Validate: join.ManyToOne}, Owners, 1, 2, join.BuildRight, true},
		"unique left":            {join.Spec{Validate: join.OneToMany}, Owners, 2, 1, join.BuildLeft, true},
		"both unique: no stream": {join.Spec{Validate: join.OneToOne}, Owners, 2, 1, join.BuildLeft, false},
	} {
		c.spec.On = []string{"k"}
		l, err := join.NewLayout(k, k, c.spec)
		require.NoError(t, err)
		got, ok := chooseBuild(l, c.way, totals{ranks: 2, rows: [2]int64{c.left, c.right}})
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.ok, ok, name)
	}
}
