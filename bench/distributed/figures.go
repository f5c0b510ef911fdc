package distributed

import (
	"fmt"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Figure is a figure of DIST as the model has it, table 1, or the balance of skewed keys.
type Figure struct {
	Name, Title, Note string
	points            func(s *Sweep) []point // of the model; nil: print prints the figure itself
	print             func(s *Sweep, out measure.Output, file *measure.File)
	after             func(s *Sweep) string // a line below the points; nil: none
	cells             int
}

// Heading implements [measure.Figure].
func (f Figure) Heading() measure.Heading {
	return measure.Heading{Name: f.Name, Title: f.Title, Note: f.Note, Cells: f.cells}
}

// point is a join that the model has predicted.
type point struct {
	Prediction
	place  string
	gpus   int
	rows   float64 // of both tables and a GPU
	levels Levels
	codec  string
	paper  float64 // rows a second; 0 if the text of the paper does not say it
}

// Names of codecs.
const (
	noCodec  = "none"
	ofPaper  = "paper"
	ofOurs   = "ours"
	sweepLow = 1e5 // rows of a table and GPU between which the crossing of figure 7 is searched
	sweepTop = 1e9
)

// Figures returns all figures.
func Figures() []Figure {
	return []Figure{
		{Name: "dist-6", Title: "500 M rows of random keys a table and GPU, by GPUs", points: figure6,
			Note: "The network's rate is fitted to the paper's at 1,024 GPUs", cells: 5 * 2},
		{Name: "dist-7", Title: "one level or two on 512 GPUs, by rows a table and GPU", points: figure7, cells: 8 * 2,
			after: (*Sweep).crossing, Note: "A message takes --message; the paper does not give it"},
		{Name: "dist-8", Title: "TPC-H, a part of scale factor 97.7 a GPU, by GPUs and codec", points: figure8,
			Note: "The network's rate is fitted to figure 9", cells: 5 * 6},
		{Name: "dist-9", Title: "phases of the same joins, one level", points: figure9,
			Note:  "The network's rate is fitted to the paper's exchange without compression at 1,024 GPUs",
			cells: 3 * 3},
		{Name: "dist-table-1", Title: "ratios of schemes, by column and destinations", print: printTable1,
			Note: "Counted; a scheme has one layer of runs at most, in the paper two", cells: 3 * 3},
		{Name: "skew", Title: "rows of the fullest rank over the mean, by ranks and exponent", print: printSkew,
			Note:  "Not in the paper. 20,000 unique keys a rank, 80,000 foreign keys that follow Zipf's law",
			cells: len(skewRanks) * len(skewExponents)},
	}
}

var bothLevels = []Levels{OneLevel, TwoLevels}

func figure6(s *Sweep) (points []point) {
	for _, gpus := range []int{64, 128, 256, 512, 1024} {
		c := randomCluster(gpus, s.NetworkMessage)
		for _, levels := range bothLevels {
			p := point{Prediction: c.Predict(random(randomRows), levels), place: fmt.Sprintf("GPUs=%d", gpus),
				gpus: gpus, rows: 2 * randomRows, levels: levels, codec: noCodec}
			if gpus == 1024 && levels == OneLevel {
				p.paper = paperRandom
			}
			points = append(points, p)
		}
	}
	return points
}

func figure7(s *Sweep) (points []point) {
	c := randomCluster(512, s.NetworkMessage)
	for _, millions := range []float64{1, 2, 5, 10, 25, 50, 100, 200} {
		for _, levels := range bothLevels {
			rows := millions * 1e6
			points = append(points, point{Prediction: c.Predict(random(rows), levels),
				place: fmt.Sprintf("rows=%gM", millions), gpus: 512, rows: 2 * rows, levels: levels, codec: noCodec})
		}
	}
	return points
}

// crossing says where the lines of figure 7 cross.
func (s *Sweep) crossing() string {
	c := randomCluster(512, s.NetworkMessage)
	return fmt.Sprintf("both take equally long with %.1f M rows a table and GPU, at %s a message; the paper: near 25 M",
		c.Crossing(randomColumns, sweepLow, sweepTop)/1e6, text.Duration(seconds(s.NetworkMessage)))
}

func figure8(s *Sweep) (points []point) {
	for _, gpus := range []int{64, 128, 256, 512, 1024} {
		points = append(points, s.tpchPoints(gpus, bothLevels)...)
	}
	for i := range points { // the best of both levels
		if p := &points[i]; p.gpus == 1024 && p.levels == OneLevel {
			p.paper = map[string]float64{noCodec: 1015e9, ofPaper: 1793e9}[p.codec]
		}
	}
	return points
}

func figure9(s *Sweep) (points []point) {
	for _, gpus := range []int{64, 256, 1024} {
		points = append(points, s.tpchPoints(gpus, bothLevels[:1])...)
	}
	return points
}

// tpchPoints are the joins of TPC-H with each codec. One level divides rows among GPUs, two levels among nodes first,
// which decides how far apart the keys of a destination are.
func (s *Sweep) tpchPoints(gpus int, all []Levels) (points []point) {
	c := tpchCluster(gpus, s.NetworkMessage)
	for _, levels := range all {
		destinations := c.All()
		if levels == TwoLevels {
			destinations = c.Nodes
		}
		for _, codec := range []struct {
			name string
			of   func(column string) Codec
		}{{noCodec, nil}, {ofPaper, paperCodec}, {ofOurs, s.ourCodec(destinations)}} {
			points = append(points, point{Prediction: c.Predict(tpch(codec.of), levels), gpus: gpus,
				place: fmt.Sprintf("GPUs=%d", gpus), rows: orders + lines, levels: levels, codec: codec.name})
		}
	}
	return points
}
