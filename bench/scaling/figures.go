package scaling

import (
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Figure is a parameter sweep: cells along an axis.
type Figure struct {
	Name  string
	Title string
	Note  string            // how it differs from the paper
	Axis  func(Cell) string // position of a cell on the axis
	Cells []Cell            // at full size

	growing    bool     // by every number of devices; otherwise by all of them
	capped     resource // whose memory is limited, beyond memory
	algorithms []string // that the paper compares, beyond memory; none: the one predicted to be fastest
}

// Heading describes the figure.
func (f Figure) Heading() measure.Heading {
	return measure.Heading{Name: f.Name, Title: f.Title, Note: f.Note, Cells: len(f.Cells)}
}

// resource is what a figure beyond memory limits.
type resource uint8

const (
	deviceAtFirst resource = iota // the device, to what the join of the first cell takes there
	deviceMemory                  // the device, to fractions of what the join takes there
	hostMemory                    // the host, to fractions of what the join takes there
)

// Cell is a workload, a point of a figure.
type Cell struct {
	Workload string // of HMG, A or B; empty: of RT
	Spec     workload.PKFKSpec
	// Factor is the scale factor of the workload, in 10^9 rows of S.
	Factor float64
}

// Scaled returns the cell with rows divided by a power of 2, at least one row.
func (c Cell) Scaled(log2 int) Cell {
	c.Spec.RRows, c.Spec.SRows = max(c.Spec.RRows>>log2, 1), max(c.Spec.SRows>>log2, 1)
	return c
}

// String returns the workload in one line.
func (c Cell) String() string { return c.Spec.String() }

// MultiGPUFigures returns figures 14 to 19 of HMG. The paper's text gives the ends of the axes and few points; the
// others are ours.
func MultiGPUFigures() []Figure {
	return []Figure{{
		Name: "hmg-14", Title: "workloads A and B by size, on up to 64 GB of GPU memory", Axis: factor,
		Cells: slices.Concat(along([]float64{1, 2, 3, 4, 6, 8, 10}, workloadA),
			along([]float64{1, 1.5, 2, 3, 4, 5}, workloadB)),
		Note: "Without the CUDA code of its baselines",
	}, {
		Name: "hmg-15", Title: "workloads A and B by size, on up to 320 GB of GPU memory", Axis: factor,
		Cells: slices.Concat(along([]float64{2, 4, 8, 12, 16, 20}, workloadA),
			along([]float64{1, 2, 4, 6, 8, 10}, workloadB)),
		Note: "For joins on the CPU run it with --device host",
	}, {
		Name: "hmg-16", Title: "phases by number of devices, workload B, 1.5 G rows each", Axis: factor,
		Cells: along([]float64{1.5}, workloadB), growing: true,
		Note: "Each line is followed by its phases. The strategies are ours",
	}, {
		Name: "hmg-17", Title: "phases by number of devices, workload B, 8 G rows each", Axis: factor,
		Cells: along([]float64{8}, workloadB), growing: true,
		Note: "As hmg-16. More than 2^32 keys cannot be verified and are skipped: scale by 1 or more",
	}, {
		Name: "hmg-18", Title: "workload B by size and number of devices", Axis: factor,
		Cells: along([]float64{0.5, 1, 1.5, 2, 3, 4, 5, 8, 10}, workloadB), growing: true,
	}, {
		Name: "hmg-19", Title: "workload B, 1.5 G rows each, by selectivity and by skew", Axis: robustness,
		Note: "Its part b has 8 G rows. A skew of 1 is the end of its open range",
		Cells: slices.Concat(
			along([]float64{0, 0.25, 0.5, 0.75, 1}, func(ratio float64) Cell {
				c := workloadB(1.5)
				c.Spec.MatchRatio = ratio
				return c
			}),
			along([]float64{0.25, 0.5, 0.75, 1}, func(theta float64) Cell {
				c := workloadB(1.5)
				c.Spec.Zipf = theta
				return c
			})),
	}}
}

// OutOfCoreFigures returns figure 14 of RT, and the same with limits of memory.
func OutOfCoreFigures() []Figure {
	return []Figure{{
		Name: "rt-14", Title: "S grows beyond the memory of the device", Axis: sRows, capped: deviceAtFirst,
		Cells:      along([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, func(times int64) Cell { return rt(times << 28) }),
		algorithms: []string{"phj-om", "smj-om"},
		Note: "The device has the memory that the first join takes, unless --device-memory says otherwise. Transfers " +
			"always overlap with joins, and R has 128 Mi rows for both algorithms. For the join on a CPU run it with " +
			"--device host",
	}, {
		Name: "device-memory", Title: "limits of device memory, 1/1 to 1/16 of what the join takes", Axis: sRows,
		Cells: []Cell{rt(1 << 28)}, capped: deviceMemory, Note: "Ours",
	}, {
		Name: "memory-limit", Title: "limits of host memory, 1/1 to 1/16 of what the join takes, with temporary files",
		Axis: sRows, Cells: []Cell{rt(1 << 28)}, capped: hostMemory,
		Note: "Ours. Both sides come batch by batch, as from files",
	}}
}

// workloadA has keys and values of 4 bytes, and ten times as many rows in S as in R (HMG table 2).
func workloadA(factor float64) Cell {
	return Cell{Workload: "A", Factor: factor, Spec: workload.DefaultPKFK(int64(factor*1e8), int64(factor*1e9))}
}

// workloadB has keys and values of 8 bytes, and as many rows on both sides.
func workloadB(factor float64) Cell {
	c := Cell{Workload: "B", Factor: factor, Spec: workload.DefaultPKFK(int64(factor*1e9), int64(factor*1e9))}
	c.Spec.KeyBytes, c.Spec.RPayloads, c.Spec.SPayloads = 8, []int{8}, []int{8}
	return c
}

// rt has keys and values of 4 bytes, as RT's relations.
func rt(rows int64) Cell { return Cell{Spec: workload.DefaultPKFK(1<<27, rows)} }

func along[T any](points []T, cell func(T) Cell) (cells []Cell) {
	for _, p := range points {
		cells = append(cells, cell(p))
	}
	return cells
}

// Axes.

func factor(c Cell) string { return fmt.Sprintf("%s f=%g", c.Workload, c.Factor) }
func sRows(c Cell) string  { return "|S|=" + text.Rows(uint64(c.Spec.SRows)) }

func robustness(c Cell) string {
	if c.Spec.Zipf > 0 {
		return fmt.Sprintf("skew=%g", c.Spec.Zipf)
	}
	return fmt.Sprintf("match=%g", c.Spec.MatchRatio)
}

// Find returns the named figures, or all figures without names and for "all". An unknown name is ErrInvalidInput.
func Find(figures []Figure, names []string) ([]Figure, error) {
	if len(names) == 0 {
		return figures, nil
	}
	return measure.FindFigures(figures, names)
}
