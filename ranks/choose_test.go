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
		return totals{ranks, [2]int64{left, right}, [2]int64{left, right}, exec.Unlimited}
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
		"fewer left rows":        {join.Spec{}, Owners, 1, 2, join.BuildLeft, true},
		"fewer right rows":       {join.Spec{}, Owners, 2, 1, join.BuildRight, true},
		"unknown":                {join.Spec{}, Owners, -1, -1, join.BuildLeft, true},
		"unknown left":           {join.Spec{}, Owners, -1, 5, join.BuildRight, true},
		"right to all":           {join.Spec{}, RightToAll, 1, 2, join.BuildRight, true},
		"left to all":            {join.Spec{}, LeftToAll, 2, 1, join.BuildLeft, true},
		"given":                  {join.Spec{BuildSide: join.BuildLeft}, RightToAll, 2, 1, join.BuildLeft, true},
		"not-in":                 {join.Spec{How: join.NotIn}, Owners, 1, 2, join.BuildRight, true},
		"given against not-in":   {join.Spec{How: join.NotIn, BuildSide: join.BuildLeft}, Owners, 1, 2, join.BuildLeft, false},
		"unique right":           {join.Spec{Validate: join.ManyToOne}, Owners, 1, 2, join.BuildRight, true},
		"unique left":            {join.Spec{Validate: join.OneToMany}, Owners, 2, 1, join.BuildLeft, true},
		"both unique: no stream": {join.Spec{Validate: join.OneToOne}, Owners, 2, 1, join.BuildLeft, false},
	} {
		c.spec.On = []string{"k"}
		l, err := join.NewLayout(k, k, c.spec)
		require.NoError(t, err)
		got, ok := chooseBuild(l, c.way, totals{2, [2]int64{c.left, c.right}, [2]int64{}, 0})
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.ok, ok, name)
	}
}
