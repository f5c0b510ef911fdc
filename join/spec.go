// Package join is the meaning of a join: its specification, the kinds of joins, and the layout of the output, which
// follow from the schemas of both tables alone. Package engine runs joins; the algorithms are in the packages below, and
// see only key codes and row numbers.
package join

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// Output says in which form a join returns its rows.
type Output uint8

const (
	Rows  Output = iota // record batches
	Count               // the number of rows
	Pairs               // of an inner join: pairs of row numbers
	// Consumed is the form of rows that stay on the devices, where a consumer takes them. No specification asks for it.
	Consumed
)

var outputNames = []string{"rows", "count", "pairs"}

func (o Output) String() string {
	if o == Consumed {
		return "rows on the device"
	}
	return nameOf(o, outputNames)
}

// Materialize says where the payload columns of the output are gathered.
type Materialize uint8

const (
	MaterializeAuto Materialize = iota // wherever it is predicted to be faster
	MaterializeHost
	MaterializeDevice // columns of fixed width; the others always on the host
)

var materializeNames = []string{"auto", "host", "device"}

func (m Materialize) String() string { return nameOf(m, materializeNames) }

// Spec says what to join and how. Zero values are defaults, except for the key columns.
type Spec struct {
	How     How
	On      []string // key columns with the same name on both sides; none in a cross join
	LeftOn  []string // or the key columns of each side, pair by pair
	RightOn []string
	// NullsEqual names the left key columns for which NULL equals NULL, as in SQL's IS NOT DISTINCT FROM; in other key
	// columns NULL equals nothing.
	NullsEqual []string
	// Validate says which keys must be unique.
	Validate Validate
	// Columns lists the output columns to return, by output name and in this order. nil means all: the columns of the
	// left table, the columns of the right table except keys merged with left ones, and last the columns that Indicator
	// and MarkName name. Semi, anti, mark and not-in joins return the columns of one table.
	Columns []string
	// Suffix is appended to the name of a right column that is also the name of a left column. It is repeated until no
	// left column, no right column that keeps its name, and no preceding column has the name. The default is "_right".
	// It makes the names of Indicator and MarkName unique in the same way.
	Suffix string
	// SeparateKeys returns the key columns of both sides. Otherwise a left key column and the right one that it is
	// compared with are merged into one column. It has the position and name of the left one, and takes its value from
	// the left row if there is one, in right joins from the right row. It has the type of the side that always has a
	// row, in full joins a type that holds the values of both. A left key column that is compared with several right
	// ones is merged with the first of them, and the others are returned like columns that are not keys. Joins that
	// return the columns of one side have nothing to merge.
	SeparateKeys bool
	// Indicator names an additional text column, the last of the output, that says which sides an output row has rows
	// of: "both", "left_only" or "right_only". Only for joins for which [How.Pairs] is true; "" means no such column.
	Indicator string
	MarkName  string // name of the boolean column that a mark join adds; default "mark"
	Output    Output
	// Order is the order of the rows, or of the pairs of row numbers. If a join returns rows of one side, only the
	// order of that side is possible.
	Order Order
	// Deterministic makes the order of rows the same on every device and with every plan. If Order is not given, it is
	// LeftOrder, or RightOrder in right, right-semi and right-anti joins.
	Deterministic bool
	// MaxOutputRows makes a join with more output rows fail with backend.ErrLimit before it takes memory for them; rows
	// within the limit may have been drawn by then. 0 means no limit, or CrossLimit in a cross join.
	MaxOutputRows uint64
	BatchRows     int // maximum rows of a record batch or of a piece of pairs; default 1 Mi
	Materialize   Materialize
	Algorithm     string // one of [AlgorithmNames]; default: the one predicted to be fastest
	Strategy      Strategy
	// BuildSide is sorted, partitioned or made a hash table once; the other side is processed part by part if memory is
	// short. Default: the side with fewer rows.
	BuildSide BuildSide
	// Progress, if set, is called at the start of each phase and as rows are checked, joined and drawn, one call at a
	// time.
	Progress func(Progress)
}

// Progress is how far a join has come.
type Progress = exec.Status

// CrossLimit is the maximum number of rows of a cross join whose MaxOutputRows is 0.
const CrossLimit = 100_000_000

const (
	defaultSuffix    = "_right"
	defaultMarkName  = "mark"
	defaultBatchRows = 1 << 20
)

// Check reports, together, all faults of the specification that can be found without the tables. The error wraps
// backend.ErrInvalidInput.
func (s Spec) Check() error {
	_, err := s.withDefaults()
	return err
}

// CheckCross returns backend.ErrLimit if a cross join of tables with left and right rows has more than MaxOutputRows
// output rows or, if that is 0, more than CrossLimit. Counting produces no rows, so CrossLimit does not apply to it.
func (s *Spec) CheckCross(left, right uint64) error {
	limit := s.MaxOutputRows
	switch {
	case limit == 0 && s.Output == Count:
		limit = math.MaxUint64
	case limit == 0:
		limit = CrossLimit
	}
	high, rows := bits.Mul64(left, right)
	if high == 0 && rows <= limit {
		return nil
	}
	product := new(big.Int).Mul(new(big.Int).SetUint64(left), new(big.Int).SetUint64(right))
	return &backend.OpError{Op: "cross join", Err: backend.ErrLimit, Detail: fmt.Sprintf(
		"%d x %d rows make %d, the limit is %d; raise max_output_rows", left, right, product, limit)}
}

// faults are what is wrong with a specification.
type faults []string

func (f *faults) add(when bool, format string, a ...any) {
	if when {
		*f = append(*f, fmt.Sprintf(format, a...))
	}
}

// withDefaults fills in the defaults and reports all faults together.
func (s Spec) withDefaults() (Spec, error) {
	var f faults
	checkName(&f, "kind of join", s.How, howNames())
	checkName(&f, "validate", s.Validate, validateNames)
	checkName(&f, "output", s.Output, outputNames)
	checkName(&f, "order", s.Order, orderNames)
	checkName(&f, "materialize", s.Materialize, materializeNames)
	name, err := ParseAlgorithm(s.Algorithm)
	f.add(err != nil, "unknown algorithm %q; %s", s.Algorithm, hint(s.Algorithm, AlgorithmNames(), nil))
	checkName(&f, "build_side", s.BuildSide, buildSideNames)
	checkName(&f, "strategy", s.Strategy, strategyNames)
	f.add(s.BatchRows < 0, "batch_rows is %d", s.BatchRows)
	if len(f) == 0 {
		s.checkKeys(&f)
		s.checkOutput(&f)
	}
	if len(f) > 0 {
		return s, fmt.Errorf("%w: join: %s", backend.ErrInvalidInput, strings.Join(f, "; "))
	}
	if len(s.On) > 0 {
		s.LeftOn, s.RightOn, s.On = s.On, s.On, nil
	}
	for _, names := range []*[]string{&s.LeftOn, &s.RightOn, &s.NullsEqual, &s.Columns} { // the caller may change these
		*names = slices.Clone(*names)
	}
	if s.Deterministic && s.Order == Unordered {
		s.Order = LeftOrder
		if s.How == Right || !s.How.Has(relation.Left) {
			s.Order = RightOrder
		}
	}
	s.Suffix = cmp.Or(s.Suffix, defaultSuffix)
	s.MarkName = cmp.Or(s.MarkName, defaultMarkName)
	s.BatchRows = cmp.Or(s.BatchRows, defaultBatchRows)
	s.Algorithm = name
	return s, nil
}

// checkName adds a fault if a value of an option has no name.
func checkName[T ~uint8](f *faults, option string, value T, names []string) {
	f.add(int(value) >= len(names), "unknown %s %d; there are %s", option, value, strings.Join(names, ", "))
}

func (s *Spec) checkKeys(f *faults) {
	sides := len(s.LeftOn) + len(s.RightOn)
	if s.How == Cross {
		f.add(len(s.On)+sides > 0, "a cross join takes no key columns")
		f.add(len(s.NullsEqual) > 0, "a cross join has no keys for nulls_equal")
		f.add(s.Validate != Any, "a cross join has no keys to validate")
		return
	}
	f.add(len(s.On) > 0 && sides > 0, "give either on or left_on and right_on")
	f.add(len(s.On) == 0 && sides == 0, "no key columns; give on, or left_on and right_on")
	f.add(len(s.LeftOn) != len(s.RightOn), "%d columns in left_on, %d in right_on", len(s.LeftOn), len(s.RightOn))
	for _, name := range s.NullsEqual {
		f.add(!slices.Contains(s.On, name) && !slices.Contains(s.LeftOn, name),
			"nulls_equal names %q, which is not a left key column", name)
	}
	if s.How == NotIn {
		f.add(len(s.On) > 1 || len(s.LeftOn) > 1, "a not-in join takes one key column: with a NULL in one of several the "+
			"others may decide or not; use anti, for which such rows have no partner")
		f.add(len(s.NullsEqual) > 0, "a not-in join takes NULL for an unknown value; to match NULL with NULL, use anti with nulls_equal")
	}
}

// Keys returns the key columns of both sides, once the specification has its defaults ([Layout]).
func (s *Spec) Keys() [2][]string { return [2][]string{s.LeftOn, s.RightOn} }

// NullEquals reports of each pair of key columns whether NULL equals NULL.
func (s *Spec) NullEquals() (equal []bool) {
	for _, name := range s.LeftOn {
		equal = append(equal, slices.Contains(s.NullsEqual, name))
	}
	return equal
}

func (s *Spec) checkOutput(f *faults) {
	f.add(s.Output == Pairs && s.How != Inner, "output %s is for inner joins; %s returns rows or their count", s.Output, s.How.Noun())
	f.add(s.Order == LeftOrder && !s.How.Has(relation.Left) || s.Order == RightOrder && !s.How.Has(relation.Right),
		"%s returns rows of one table, which cannot be in the order of the %s one", s.How.Noun(), s.Order)
	f.add(s.Indicator != "" && !s.How.Pairs(), "an indicator says which tables a row comes from; %s returns rows of one",
		s.How.Noun())
	f.add(s.MarkName != "" && s.How != Mark, "mark_name is for mark joins; %s has no such column", s.How.Noun())
}
