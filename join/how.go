package join

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// How says which rows a join returns. The partners of a row are the rows of the other table with an equal key. A row
// with a NULL key has none, unless Spec.NullsEqual says otherwise.
type How uint8

const (
	Inner     How = iota // a row for each pair of partners
	Left                 // these, and the left rows without partner, with NULL on the right
	Right                // the pairs, and the right rows without partner, with NULL on the left
	Full                 // the pairs, and the rows of both sides without partner
	Semi                 // the left rows with a partner, each once
	Anti                 // the left rows without partner
	RightSemi            // the right rows with a partner, each once
	RightAnti            // the right rows without partner
	Mark                 // all left rows, with a boolean column that says which have a partner; it is never NULL
	// NotIn is SQL's l.k NOT IN (SELECT r.k FROM r), where NULL is an unknown value. If the right table has no rows, it
	// returns all left rows; if the right table has a NULL key, none; otherwise the left rows without a partner whose
	// key is not NULL. There must be exactly one key column.
	NotIn
	Cross // a row for each left row and each right row; there are no keys
)

var hows = [...]struct {
	name  string
	has   [2]bool // columns of these sides are in the output
	keeps [2]bool // rows of these sides without partner are in the output
}{
	Inner:     {"inner", [2]bool{true, true}, [2]bool{false, false}},
	Left:      {"left", [2]bool{true, true}, [2]bool{true, false}},
	Right:     {"right", [2]bool{true, true}, [2]bool{false, true}},
	Full:      {"full", [2]bool{true, true}, [2]bool{true, true}},
	Semi:      {"semi", [2]bool{true, false}, [2]bool{false, false}},
	Anti:      {"anti", [2]bool{true, false}, [2]bool{true, false}},
	RightSemi: {"right-semi", [2]bool{false, true}, [2]bool{false, false}},
	RightAnti: {"right-anti", [2]bool{false, true}, [2]bool{false, true}},
	Mark:      {"mark", [2]bool{true, false}, [2]bool{true, false}},
	NotIn:     {"not-in", [2]bool{true, false}, [2]bool{true, false}},
	Cross:     {"cross", [2]bool{true, true}, [2]bool{false, false}},
}

// howAliases are further names that ParseHow accepts, and howSynonyms what others call kinds of joins.
var (
	howAliases  = map[string]How{"outer": Full, "left-semi": Semi, "left-anti": Anti}
	howSynonyms = map[string]string{"left-outer": "left", "right-outer": "right", "full-outer": "full",
		"outer": "outer", "left-semi": "left-semi", "left-anti": "left-anti", "exists": "semi", "not-exists": "anti"}
)

// String returns the name that [ParseHow] accepts.
func (h How) String() string {
	if int(h) < len(hows) {
		return hows[h].name
	}
	return fmt.Sprintf("How(%d)", uint8(h))
}

// Noun is the kind of join with its article.
func (h How) Noun() string {
	if h == Inner || h == Anti {
		return "an " + h.String() + " join"
	}
	return "a " + h.String() + " join"
}

// Has reports whether the columns of a side are in the output.
func (h How) Has(side relation.Side) bool { return hows[h].has[side] }

// Pairs reports whether output rows combine rows of both sides: inner, left, right, full and cross. The other kinds
// return rows of one side.
func (h How) Pairs() bool { return hows[h].has == [2]bool{true, true} }

// Keeps reports whether the rows of a side without a partner are in the output: on the left side of left, full, anti,
// mark and not-in, on the right side of right, full and right-anti. A cross join, whose rows are all partners, keeps
// none.
func (h How) Keeps(side relation.Side) bool { return hows[h].keeps[side] }

// Optional reports whether the columns of a side are NULL in some output rows, for lack of a row of that side: the
// right side of left, the left side of right, both sides of full.
func (h How) Optional(side relation.Side) bool { return h.Pairs() && h.Keeps(1-side) }

// ParseHow parses the name of a kind of join: inner, left, right, full (or outer), semi (or left-semi), anti (or
// left-anti), right-semi, right-anti, mark, not-in, cross. Case is ignored, and underscores count as dashes.
func ParseHow(text string) (How, error) {
	if how, ok := howAliases[plainName(text)]; ok {
		return how, nil
	}
	return parseName[How]("how", text, howNames(), howSynonyms)
}

func howNames() (names []string) {
	for _, how := range hows {
		names = append(names, how.name)
	}
	return names
}

// parseName finds a text among the names of an option's values, or says which are near. synonyms are the names of
// others.
func parseName[T ~uint8](option, text string, names []string, synonyms map[string]string) (T, error) {
	name := plainName(text)
	if i := slices.Index(names, name); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("%w: %s=%q; %s", backend.ErrInvalidInput, option, text, hint(name, names, synonyms))
}

// hint says which name was meant, if one is near, and which there are.
func hint(name string, names []string, synonyms map[string]string) string {
	all := "there are " + strings.Join(names, ", ")
	if nearest, near := text.Nearest(name, slices.Concat(names, slices.Sorted(maps.Keys(synonyms)))); near {
		return fmt.Sprintf("did you mean %q? T%s", cmp.Or(synonyms[nearest], nearest), all[1:])
	}
	return all
}

func plainName(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", "-") }
