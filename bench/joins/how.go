package joins

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
)

// The sides of a workload. R is the build side of a join, unless S has fewer rows.
const (
	sideR = iota
	sideS
)

// hows are the kinds of joins of R, the left side, with S. What is wanted of a side stands where that side does; rows
// have their key.
var hows = []struct {
	name string
	want operator.Want
}{
	{"inner", operator.Want{Pairs: true, Keys: true}},
	{"left", operator.Want{Pairs: true, Keys: true, Rest: [2]bool{sideR: true}}},
	{"right", operator.Want{Pairs: true, Keys: true, Rest: [2]bool{sideS: true}}},
	{"full", operator.Want{Pairs: true, Keys: true, Rest: [2]bool{sideR: true, sideS: true}}},
	{"semi", operator.Want{Keys: true, Matched: [2]bool{sideR: true}}},
	{"anti", operator.Want{Keys: true, Rest: [2]bool{sideR: true}}},
	{"right-semi", operator.Want{Keys: true, Matched: [2]bool{sideS: true}}},
	{"right-anti", operator.Want{Keys: true, Rest: [2]bool{sideS: true}}},
	{"count", operator.Want{Pairs: true, Count: true}},
	{"count-semi", operator.Want{Matched: [2]bool{sideR: true}, Count: true}},
}

// Hows returns the names of the kinds of joins. Those that count produce no rows.
func Hows() (names []string) {
	for _, h := range hows {
		names = append(names, h.name)
	}
	return names
}

// Want returns what a kind of join wants of R and S, in this order; "" is an inner join.
func Want(how string) (operator.Want, error) {
	if how == "" {
		how = "inner"
	}
	if i := slices.Index(Hows(), how); i >= 0 {
		return hows[i].want, nil
	}
	return operator.Want{}, fmt.Errorf("%w: no kind of join %q; there are %s", backend.ErrInvalidInput, how,
		strings.Join(Hows(), ", "))
}
