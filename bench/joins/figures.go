package joins

import (
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Figure is a parameter sweep of a paper: cells along an axis, joined by the algorithms that it compares.
type Figure struct {
	Name       string // paper and number
	Title      string
	Note       string // how it differs from the paper
	Algorithms []string
	Axis       func(Cell) string // position of a cell on the axis
	Cells      []Cell            // at full size
}

// Heading describes the figure.
func (f Figure) Heading() measure.Heading {
	return measure.Heading{Name: f.Name, Title: f.Title, Note: f.Note, Cells: len(f.Cells)}
}

// The algorithms of the papers.
var (
	gftr = []string{"phj-om", "phj-um", "smj-om", "smj-um"}
	// and the hash join without partitions, for cuDF's
	withoutParts = []string{"phj-om", "phj-um", "smj-om", "smj-um", "hj"}
	rt           = []string{"phj-om", "smj-om", "smj-om-merge"} // RT 3.3 sorts by merging
	rtPages      = []string{"phj-om-count", "phj-om-pages-1", "phj-om-pages-2", "phj-om-pages-4", "phj-om-pages-8",
		"phj-om"}
)

const (
	million = 1 << 20 // as RT counts
	full    = 1 << 27 // rows of most cells of GFTR
)

// Figures returns the figures that joins on one device can reproduce: GFTR 8 to 17 and RT 7 to 13. The papers' texts
// give few points of the axes; the others are ours. Widths, match ratio and skew are as in GFTR 5.1 unless the axis
// says otherwise. hj stands for cuDF's join. The column MEMORY of gftr-15 corresponds to GFTR's table 5.
func Figures() []Figure { return slices.Concat(figuresOfGFTR(), figuresOfRT()) }

func figuresOfGFTR() []Figure {
	narrow := along(powers(22, 27), func(rows int64) Cell { return pkfk(rows, 2*rows, 1) })
	wide := func(change func(*Cell)) Cell { return changed(pkfk(full, full, 2), change) }
	return []Figure{{
		Name: "gftr-8", Title: "narrow joins by size, |S| = 2|R|, a payload column each", Algorithms: withoutParts,
		Axis: rRows, Cells: narrow,
		Note: "The algorithm hj stands for cuDF's hash join without partitions; for the join on a CPU run it with " +
			"--device host",
	}, {
		Name: "gftr-9", Title: "time breakdown of the narrow joins", Algorithms: withoutParts, Axis: rRows,
		Cells: narrow,
		Note:  "The cells of gftr-8; each line is followed by its stages",
	}, {
		Name: "gftr-10", Title: "wide joins by size, |S| = 2|R|, two payload columns each", Algorithms: withoutParts,
		Axis:  rRows,
		Cells: along(powers(22, 27), func(rows int64) Cell { return pkfk(rows, 2*rows, 2) }),
	}, {
		Name: "gftr-11", Title: "wide joins by the size of R, |S| = 2^27", Algorithms: gftr, Axis: rRows,
		Cells: along(powers(22, 27), func(rows int64) Cell { return pkfk(rows, full, 2) }),
	}, {
		Name: "gftr-12", Title: "joins by payload columns of each side", Algorithms: gftr, Axis: payloads,
		Cells: along([]int{1, 2, 3, 4, 6, 8}, func(columns int) Cell { return pkfk(full, full, columns) }),
	}, {
		Name: "gftr-13", Title: "wide joins by match ratio", Algorithms: gftr, Axis: matchRatio,
		Cells: along([]float64{0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 1},
			func(ratio float64) Cell { return wide(func(c *Cell) { c.Spec.MatchRatio = ratio }) }),
	}, {
		Name: "gftr-14", Title: "wide joins by skew of the foreign keys", Algorithms: gftr, Axis: zipf,
		Cells: along([]float64{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2},
			func(factor float64) Cell { return wide(func(c *Cell) { c.Spec.Zipf = factor }) }),
	}, {
		Name: "gftr-15", Title: "wide joins by data types; MEMORY is table 5", Algorithms: gftr, Axis: types,
		Note: "The third cell, of both widths in one relation, is ours",
		Cells: along([][]int{{4, 4, 4}, {4, 8, 8}, {4, 4, 8}, {8, 8, 8}}, func(bytes []int) Cell {
			return wide(func(c *Cell) {
				c.Spec.KeyBytes, c.Spec.RPayloads, c.Spec.SPayloads = bytes[0], bytes[1:], bytes[1:]
			})
		}),
	}, {
		Name: "gftr-16", Title: "sequences of joins of 2^27 facts with 2^25 rows a dimension", Algorithms: gftr,
		Axis: joinCount,
		Cells: along([]int{1, 2, 3, 4, 5, 6, 7, 8}, func(joins int) Cell {
			return changed(pkfk(1<<25, full, 1), func(c *Cell) { c.Dimensions = joins })
		}),
	}, {
		Name: "gftr-17",
		Title: "joins of TPC-H (SF 10) and TPC-DS (SF 100), table 6; keys of 4 bytes and the rest of 8, then " +
			"all of 8",
		Algorithms: gftr, Axis: query,
		Note: "With --tpch J1 to J3 join files of TPC-H, whatever their scale factor. The others are made with " +
			"rows, matches and columns of the table",
		Cells: slices.Concat(queries(4), queries(8)),
	}}
}

func figuresOfRT() []Figure {
	unique := along(powers(20, 27), uniqueKeys)
	return []Figure{{
		Name: "rt-7", Title: "joins of unique keys by size, one match each", Algorithms: rt, Axis: rRows, Cells: unique,
		Note: "Without the CUDA code of its baseline",
	}, {
		Name: "rt-8", Title: "the same against CPUs", Algorithms: rt, Axis: rRows, Cells: unique,
		Note: "The cells of rt-7; for the CPU run it with --device host",
	}, {
		Name: "rt-9", Title: "time breakdown of the joins of unique keys", Algorithms: rt, Axis: rRows, Cells: unique,
		Note: "The cells of rt-7; each line is followed by its stages. Columns stay on the device, so there is no " +
			"transfer",
	}, {
		Name: "rt-10", Title: "joins of 64 M rows each by rows of output for a row of S", Algorithms: rt,
		Axis:  selectivity,
		Cells: along([]float64{0.25, 0.5, 1, 2, 4}, outputs(64*million)),
	}, {
		Name: "rt-11", Title: "direct output against probing twice, one and four rows of output for a row of S",
		Algorithms: rtPages, Axis: rowsAndSelectivity,
		Note: "Pages of 1 to 8 rows; phj-om, where workgroups take room for all they have, stands beside",
		Cells: slices.Concat(along(powers(24, 27), func(rows int64) Cell { return outputs(rows)(1) }),
			along(powers(24, 27), func(rows int64) Cell { return outputs(rows)(4) })),
	}, {
		Name: "rt-12", Title: "output taken by a workgroup at once, by rows of output for a row of S",
		Algorithms: []string{"phj-om", "phj-om-pages-2"}, Axis: selectivity,
		Note:  "Pages of two rows, which all threads take from one pointer, are its baseline",
		Cells: along([]float64{1, 2, 4, 8, 16}, outputs(64*million)),
	}, {
		Name: "rt-13", Title: "joins of 64 M rows each by skew", Algorithms: rt, Axis: zipf,
		Note: "The hash join without dynamic parallelism, its baseline, does not exist here",
		Cells: along([]float64{0, 0.25, 0.5, 0.75, 1}, func(factor float64) Cell {
			return changed(pkfk(64*million, 64*million, 1), func(c *Cell) { c.Spec.Zipf = factor })
		}),
	}}
}

// queries are the joins of GFTR table 6, with what they have at full size. R of J4 is TPC-DS's customer_demographics;
// J5 joins web_sales, whose orders have 8 to 16 lines, with itself.
func queries(keyBytes int) []Cell {
	keys := func(n int) []int { return slices.Repeat([]int{keyBytes}, n) }
	values := func(n int) []int { return slices.Repeat([]int{8}, n) }
	join := func(rRows, sRows int64, rPayloads, sPayloads []int, change func(*Cell)) Cell {
		return changed(Cell{Spec: workload.PKFKSpec{RRows: rRows, SRows: sRows, KeyBytes: keyBytes,
			RPayloads: rPayloads, SPayloads: sPayloads, MatchRatio: 1, Seed: 1}}, change)
	}
	return []Cell{
		join(15_000_000, 18_200_000, slices.Concat(keys(1), values(3)), values(1), func(c *Cell) { c.Query = "J1" }),
		join(15_000_000, 60_000_000, slices.Concat(keys(1), values(2)), values(1), func(c *Cell) { c.Query = "J2" }),
		join(2_000_000, 2_100_000, values(3), values(3), func(c *Cell) { c.Query = "J3" }),
		join(1_920_800, 58_000_000, values(1), slices.Concat(keys(3), values(7)), func(c *Cell) {}),
		join(72_000_000, 72_000_000, values(1), values(1), func(c *Cell) {
			c.Spec.Multiplicity, c.Spec.SelfJoin = workload.Multiplicity{8, 16}, true
		}),
	}
}

// outputs is a join of relations of that many rows that yields the given number of output rows per row of S: below 1 by
// fewer matches, above 1 by duplicate keys in R.
func outputs(rows int64) func(perRow float64) Cell {
	return func(perRow float64) Cell {
		return changed(pkfk(rows, rows, 1), func(c *Cell) {
			c.Spec.MatchRatio = min(perRow, 1)
			if perRow > 1 {
				c.Spec.Multiplicity = workload.Multiplicity{int(perRow), int(perRow)}
			}
		})
	}
}

// uniqueKeys is a join of relations of that many rows with the same unique keys.
func uniqueKeys(rows int64) Cell {
	return changed(pkfk(rows, rows, 1), func(c *Cell) { c.Spec.SelfJoin = true })
}

// pkfk is a join of primary and foreign keys. payloads is the number of payload columns of each side, all of 4 bytes.
func pkfk(rRows, sRows int64, payloads int) Cell {
	c := Cell{Spec: workload.DefaultPKFK(rRows, sRows)}
	c.Spec.RPayloads = slices.Repeat([]int{4}, payloads)
	c.Spec.SPayloads = c.Spec.RPayloads
	return c
}

func changed(c Cell, change func(*Cell)) Cell {
	change(&c)
	return c
}

func along[T any](points []T, cell func(T) Cell) (cells []Cell) {
	for _, p := range points {
		cells = append(cells, cell(p))
	}
	return cells
}

func powers(from, to int) (rows []int64) {
	for p := from; p <= to; p++ {
		rows = append(rows, 1<<p)
	}
	return rows
}

// Axes.

func rRows(c Cell) string      { return "|R|=" + text.Rows(uint64(c.Spec.RRows)) }
func payloads(c Cell) string   { return fmt.Sprintf("payloads=%d", len(c.Spec.RPayloads)) }
func matchRatio(c Cell) string { return fmt.Sprintf("match=%g", c.Spec.MatchRatio) }
func zipf(c Cell) string       { return fmt.Sprintf("zipf=%g", c.Spec.Zipf) }
func joinCount(c Cell) string  { return fmt.Sprintf("joins=%d", c.Dimensions) }
func types(c Cell) string {
	return fmt.Sprintf("key=%d payload=%s", c.Spec.KeyBytes, workload.BytesText(c.Spec.RPayloads, "+"))
}

func selectivity(c Cell) string {
	if c.Spec.Multiplicity != (workload.Multiplicity{}) {
		return fmt.Sprintf("output=%vx", c.Spec.Multiplicity)
	}
	return fmt.Sprintf("output=%gx", c.Spec.MatchRatio)
}

func rowsAndSelectivity(c Cell) string { return rRows(c) + " " + selectivity(c) }

func query(c Cell) string {
	name := c.Query
	switch {
	case name != "":
	case c.Spec.SelfJoin:
		name = "J5"
	default:
		name = "J4"
	}
	if c.Folder == "" {
		name += " made"
	}
	return fmt.Sprintf("%s key=%d", name, c.Spec.KeyBytes)
}

// FindFigures returns figures by name, all for "all".
func FindFigures(names []string) ([]Figure, error) { return measure.FindFigures(Figures(), names) }
