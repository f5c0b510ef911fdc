package distributed

import (
	"fmt"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/kernel"
)

// fileColumns are the columns of the CSV file. Bytes and messages are counted for one GPU. The ratio is raw bytes over
// encoded bytes; for skew, it is the rows of the fullest rank over the mean.
var fileColumns = measure.Columns{
	Texts:   []string{"figure", "cell", "levels", "codec"},
	Numbers: []string{"gpus", "rows", "network_bytes", "network_messages", "node_bytes", "node_messages"},
	Measures: []string{"ratio", "partition_s", "encode_s", "network_s", "decode_s", "node_partition_s", "node_s",
		"join_s", "total_s", "tuples_per_second"},
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

func newTable() *measure.Table[*point] {
	type column = measure.Column[*point]
	rate := func(of func(*point) float64) func(*point) string {
		return func(p *point) string {
			if of(p) == 0 {
				return "-"
			}
			return text.Rate(of(p), "")
		}
	}
	return measure.NewTable(
		column{Head: "CELL", Cell: func(p *point) string { return p.place }}.Fitting("rows=200M"),
		column{Head: "SHUFFLE", Cell: func(p *point) string { return p.levels.String() }}.Fitting("two levels"),
		column{Head: "CODEC", Cell: func(p *point) string { return p.codec }},
		column{Head: "MESSAGES", Align: text.Right,
			Cell: func(p *point) string { return fmt.Sprint(int(p.NetworkMessages)) }},
		column{Head: "BYTES", Width: text.NumberColumns, Align: text.Right,
			Cell: func(p *point) string { return text.Bytes(uint64(p.NetworkBytes)) }},
		measure.Number("TIME", func(p *point) string { return text.Duration(seconds(p.Total())) }),
		measure.Number("TUPLES/S", rate(func(p *point) float64 { return p.PerSecond() })),
		measure.Number("PAPER", rate(func(p *point) float64 { return p.paper })),
	)
}

// details are the phases that take time.
func (p *point) details() string {
	var all []string
	for phase, s := range p.Seconds {
		if s > 0 {
			all = append(all, fmt.Sprintf("%s %s", Phase(phase), text.Duration(seconds(s))))
		}
	}
	return strings.Join(all, ", ")
}

// add adds the point to a file.
func (p *point) add(file *measure.File, figure string) {
	measures := append([]float64{p.NetworkRawBytes / p.NetworkBytes}, p.Seconds[:]...)
	file.Add([]string{figure, p.place, p.levels.String(), p.codec},
		[]uint64{uint64(p.gpus), uint64(p.rows), uint64(p.NetworkBytes), uint64(p.NetworkMessages), uint64(p.NodeBytes),
			uint64(p.NodeMessages)}, append(measures, p.Total(), p.PerSecond()))
}

var table1Destinations = []int{4, 64, 1024}

// columnSchemes are the schemes of table 1 that differ from raw values: differences alone are no smaller.
var columnSchemes = []kernel.CascadeScheme{kernel.CascadePack, kernel.CascadeDelta | kernel.CascadePack,
	kernel.CascadeRLE, kernel.CascadeRLE | kernel.CascadeDelta, kernel.CascadeRLE | kernel.CascadePack,
	kernel.CascadeRLE | kernel.CascadeDelta | kernel.CascadePack}

func printTable1(s *Sweep, out measure.Output, file *measure.File) {
	type row struct {
		schemes
		destinations int
	}
	type column = measure.Column[row]
	columns := []column{
		column{Head: "COLUMN", Cell: func(r row) string { return r.column }}.Fitting("o_orderpriority"),
		{Head: "DESTINATIONS", Align: text.Right, Cell: func(r row) string { return fmt.Sprint(r.destinations) }},
	}
	for _, scheme := range columnSchemes {
		columns = append(columns, column{Head: strings.ToUpper(scheme.String()), Align: text.Right,
			Cell: func(r row) string { return fmt.Sprintf("%.2f", r.ratios[scheme]) }})
	}
	table := measure.NewTable(columns...)
	out.Println(table.Head())
	for _, of := range tpchColumns {
		for _, c := range of {
			for _, n := range table1Destinations {
				r := row{s.schemes(c.Name, n), n}
				out.Println(table.Line(r, nil, ""))
				place := fmt.Sprintf("%s destinations=%d", c.Name, n)
				for _, scheme := range columnSchemes {
					file.Add([]string{"dist-table-1", place, "", scheme.String()}, nil, []float64{r.ratios[scheme]})
				}
			}
		}
	}
}

var (
	skewRanks     = []int{64, 256, 1024}
	skewExponents = []float64{0, 1, 1.25}
)

func printSkew(_ *Sweep, out measure.Output, file *measure.File) {
	type row struct {
		Skew
		Balance
	}
	type column = measure.Column[row]
	number := func(head string, cell func(r row) string) column {
		return column{Head: head, Align: text.Right, Cell: cell}
	}
	table := measure.NewTable(
		number("RANKS", func(r row) string { return fmt.Sprint(r.Ranks) }),
		number("EXPONENT", func(r row) string { return fmt.Sprint(r.Exponent) }),
		number("OWNERS", func(r row) string { return fmt.Sprintf("%.2f", r.Plain) }).Fitting("100.00"),
		number("HOT KEYS STAY", func(r row) string { return fmt.Sprintf("%.2f", r.Kept) }),
		number("HOT KEYS", func(r row) string { return fmt.Sprint(r.HotKeys) }),
		number("THEIR ROWS", func(r row) string { return fmt.Sprintf("%.1f%%", 100*r.StayShare) }),
		number("SENT", func(r row) string { return fmt.Sprintf("%.1f%%", 100*r.SentShare) }),
	)
	out.Println(table.Head())
	for _, ranks := range skewRanks {
		for _, exponent := range skewExponents {
			r := row{Skew: Skew{Ranks: ranks, Keys: 20000, Rows: 80000, Exponent: exponent, HotShare: 8}}
			r.Balance = r.Skew.Balance()
			out.Println(table.Line(r, nil, ""))
			place := fmt.Sprintf("ranks=%d exponent=%v", ranks, exponent)
			file.Add([]string{"skew", place, "", "owners"}, []uint64{uint64(ranks)}, []float64{r.Plain})
			file.Add([]string{"skew", place, "", "hot keys stay"}, []uint64{uint64(ranks)}, []float64{r.Kept})
		}
	}
}
