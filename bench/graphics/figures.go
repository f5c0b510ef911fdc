package graphics

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Figure is an experiment of GARUDA: cells along an axis, measured by the methods that it compares.
type Figure struct {
	Name    string // paper and number
	Title   string // a verb %s for each of sizes
	Note    string // how it differs from the paper
	Methods []string
	sizes   []size
	shares  bool // its chart shows the shares of the phases
	joined  bool // cells are points of a line in its chart
	cells   []cell
}

// Heading describes the figure at full size.
func (f Figure) Heading() measure.Heading {
	f = f.on(&Sweep{})
	return measure.Heading{Name: f.Name, Title: f.Title, Note: f.Note, Cells: len(f.cells)}
}

// size is a number of rows, or the size of a set of tables, as a sweep has it.
type size func(s *Sweep) string

// rows is the scaled number of rows, or of bins, for a number at full size.
func rows(full int64) size {
	return func(s *Sweep) string { return rowsText(max(1, full>>s.Scale)) }
}

// tpchScale is the scale factor of tables that are made.
func tpchScale(s *Sweep) string { return fmt.Sprintf("SF %.3g", math.Ldexp(scaleFactor, -s.Scale)) }

// tpchSize is the size of the TPC-H tables, which come from files if the sweep names some.
func tpchSize(s *Sweep) string {
	if s.TPCH != "" {
		return "from files"
	}
	return tpchScale(s)
}

// lineOrderSize is the size of the tables of group-bys of one column, where partsupp is always generated.
func lineOrderSize(s *Sweep) string {
	if s.TPCH != "" {
		return "from files, partsupp " + tpchScale(s)
	}
	return tpchScale(s)
}

// on returns the figure with its title and cells adapted to the rows and files of a sweep. It has only the cells that
// the sweep asks for, and equal cells once.
func (f Figure) on(s *Sweep) Figure {
	var sizes []any
	for _, size := range f.sizes {
		sizes = append(sizes, size(s))
	}
	f.Title = fmt.Sprintf(f.Title, sizes...)
	var cells []cell
	for _, c := range f.cells {
		c = c.on(s)
		equal := func(other cell) bool { return c.place() == other.place() && c.String() == other.String() }
		if strings.Contains(c.place(), s.Cell) && !slices.ContainsFunc(cells, equal) {
			cells = append(cells, c)
		}
	}
	f.cells = cells
	return f
}

// The methods of figures.
var (
	joinBy  = []string{"graphics", "graphics-by-image", "phj-um", "auto"}
	stackOf = []string{"graphics", "graphics-build-stack", "graphics-probe-stack", "phj-um"}
	countBy = []string{drawn, compute}
)

// scaleFactor of TPC-H at full size.
const scaleFactor = 10

// Figures returns the experiments of GARUDA 6: 6.2, and figures 8 to 15; and 3.4.4, of which the paper has none. All of
// the data are on one device, so that full size is less than in the paper; points of the axes that the paper's text
// does not give are ours.
func Figures() []Figure {
	narrow := narrowCells(20, 22, 24, 26)
	single := []cell{tpchGroups("SGO1", false), tpchGroups("SGO2", false), tpchGroups("SGO3", false)}
	return []Figure{{
		Name: "garuda-6.2", Title: "histogram of %s keys, %s bins", Methods: countBy,
		sizes: []size{rows(32 << 20), rows(1 << 24)},
		Note:  "Times instead of hit rates of a cache; keys in order and skewed ones are ours",
		cells: []cell{histogramCell{uniformKeys, 32 << 20, 24}, histogramCell{orderedKeys, 32 << 20, 24},
			histogramCell{skewedKeys, 32 << 20, 24}},
	}, {
		Name: "garuda-8a", Title: "narrow joins by size, |R| = |S|", Methods: joinBy, joined: true, cells: narrow,
		Note: "The hash join phj-um stands for HCJoin; for the join on a CPU run bench joins with --device host. " +
			"Tables are on the device",
	}, {
		Name: "garuda-8b", Title: "joins of TPC-H, %s", Methods: joinBy, cells: tpchJoins(),
		sizes: []size{tpchSize},
		Note:  "With --tpch of the files, whatever their scale factor; otherwise made with their rows and matches",
	}, {
		Name: "garuda-9", Title: "time breakdown of the joins by drawing", Methods: []string{drawn}, shares: true,
		cells: append(slices.Clone(narrow[len(narrow)-1:]), tpchJoins()...),
		Note:  "Cells of garuda-8a and garuda-8b. Partitioning is on the device, and there is no transfer",
	}, {
		Name: "garuda-10a", Title: "joins of %s rows each by output rows for a row of S", Methods: joinBy, joined: true,
		sizes: []size{rows(1 << 24)},
		cells: cells([]int{1, 2, 4, 8, 16}, func(rows int) cell {
			return join(fmt.Sprintf("%d%%", 100*rows), 1<<24, 1<<24,
				func(s *workload.PKFKSpec) {
					if rows > 1 {
						s.Multiplicity = workload.Multiplicity{rows, rows}
					}
				})
		}),
	}, {
		Name: "garuda-10b", Title: "self-joins of %s rows by skew of both sides", Methods: joinBy, joined: true,
		sizes: []size{rows(1 << 24)},
		cells: cells([]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}, func(zipf float64) cell {
			return join(fmt.Sprintf("zipf=%g", zipf), 1<<24, 1<<24,
				func(s *workload.PKFKSpec) { s.SelfJoin, s.Zipf = true, zipf })
		}),
		Note: "By the factor instead of the height of the stack",
	}, {
		Name: "garuda-3.4.4", Title: "self-joins of %s rows by rows of a key, stacks flattened or not",
		sizes:   []size{rows(1 << 21)},
		Methods: []string{"graphics", "graphics-unflattened", "phj-um"}, joined: true,
		Note: "No figure of the paper. Stacks of up to 15 images are the same",
		cells: cells([]int{8, 16, 32, 64, 128}, func(rows int) cell {
			return join(fmt.Sprintf("rows=%d", rows), 1<<21, 1<<21, func(s *workload.PKFKSpec) {
				s.SelfJoin, s.Multiplicity = true, workload.Multiplicity{rows, rows}
			})
		}),
	}, {
		Name: "garuda-11", Title: "the stack of the lower side by partition, or of one side for all", Methods: stackOf,
		cells: append(tpchJoins(), joinCell{"JO5", joins.Cell{Spec: workload.DefaultPKFK(1<<26, 1<<26),
			Crossed: workload.CrossedSpec{Hot: 6, HotRows: 32, Seed: 1}}}),
		Note: "JO5 has six keys of 32 rows on each side: partitions are by a mix of the key, so that few have both",
	}, {
		Name: "garuda-12a", Title: "group-bys of one column, TPC-H, %s", Methods: countBy,
		cells: single, sizes: []size{lineOrderSize},
		Note: "From host memory to host memory. The group-by of kernels stands for TGB",
	}, {
		Name: "garuda-12b", Title: "group-bys of %s rows by groups", Methods: countBy, joined: true,
		sizes: []size{rows(1 << 26)},
		cells: cells([]int{8, 12, 16, 20, 24}, func(log2 int) cell {
			return groupCell{groups: 1 << log2, rows: 1 << 26, query: randomKeys}
		}),
	}, {
		Name: "garuda-13", Title: "group-bys of several columns, TPC-H, %s", Methods: countBy,
		sizes: []size{tpchSize},
		cells: []cell{tpchGroups("SGO2", true), tpchGroups("SGO2", false), tpchGroups("MGO1", true),
			tpchGroups("MGO1", false), tpchGroups("MGO2", true), tpchGroups("MGO2", false)},
	}, {
		Name: "garuda-14", Title: "group-bys of one column on another device", Methods: countBy, cells: single,
		Note: "The cells of garuda-12a; the paper takes an integrated GPU: run it with --device",
	}, {
		Name: "garuda-15", Title: "joins on another device", Methods: joinBy,
		cells: append(slices.Clone(narrow[len(narrow)-1:]), tpchJoins()...),
		Note:  "Cells of garuda-8a and garuda-8b; the paper takes an A100: run it with --device",
	}}
}

func cells[T any](points []T, at func(T) cell) (all []cell) {
	for _, p := range points {
		all = append(all, at(p))
	}
	return all
}

// join is a join of 4-byte keys and a payload column of 4 bytes each.
func join(place string, rRows, sRows int64, change func(*workload.PKFKSpec)) cell {
	spec := workload.DefaultPKFK(rRows, sRows)
	change(&spec)
	return joinCell{place, joins.Cell{Spec: spec}}
}

func narrowCells(log2Rows ...int) []cell {
	return cells(log2Rows, func(log2 int) cell { return join("", 1<<log2, 1<<log2, func(*workload.PKFKSpec) {}) })
}

// tpchJoins are JO1 to JO4. Made ones have the rows of the scale factor and the matches of TPC-H: a third of the
// customers have no order, a part has four rows in PartSupp.
func tpchJoins() []cell {
	query := func(name string, r, s int64, change func(*workload.PKFKSpec)) cell {
		c := join(name, r*scaleFactor, s*scaleFactor, change).(joinCell)
		c.Spec.RPayloads, c.Spec.SPayloads, c.Query = []int{8}, []int{8}, name
		return c
	}
	const customers, orders, parts, lines = 150_000, 1_500_000, 200_000, 6_000_000
	all := func(*workload.PKFKSpec) {}
	return []cell{
		query("JO1", customers, orders, func(s *workload.PKFKSpec) { s.MatchRatio = 2. / 3 }),
		query("JO2", parts, lines, all),
		query("JO3", 4*parts, lines, func(s *workload.PKFKSpec) { s.Multiplicity = workload.Multiplicity{4, 4} }),
		query("JO4", orders, lines, all),
	}
}

func tpchGroups(name string, count bool) cell {
	c := groupCell{name: name, rows: 800_000 * scaleFactor, query: groupQueries[name], count: count}
	if c.query.lineOrder {
		c.rows = 6_000_000 * scaleFactor
	}
	return c
}

// rowsText is a number of rows on an axis.
func rowsText(rows int64) string { return text.Rows(uint64(rows)) }

// FindFigures returns figures by name, all for none and for "all".
func FindFigures(names []string) ([]Figure, error) {
	if len(names) == 0 {
		return Figures(), nil
	}
	return measure.FindFigures(Figures(), names)
}
