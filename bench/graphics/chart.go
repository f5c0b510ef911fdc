package graphics

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// chart is the chart of a figure: times by cell, a colour per method, on a logarithmic axis; or the shares of the
// phases of the first method, as bars. Below it are the methods, and what the queries on the axis are.
type chart struct {
	figure  *Figure
	device  string
	places  []string
	queries []string   // what they are
	cells   [][]Result // by place and method
}

// add adds a cell. query says what the place is, if it is the name of a query.
func (c *chart) add(place, query string, results []Result) {
	c.places, c.cells = append(c.places, place), append(c.cells, results)
	if query != "" && !slices.Contains(c.queries, query) {
		c.queries = append(c.queries, query)
	}
}

// style is how points of a method or bars of a phase look.
type style struct {
	colour color.Color
	shape  draw.GlyphDrawer
}

// The styles of methods. Their colours can be distinguished by all kinds of colour vision (Okabe and Ito).
var (
	vermilion = style{rgb(0xd55e00), draw.CircleGlyph{}}
	orange    = style{rgb(0xe69f00), draw.BoxGlyph{}}
	purple    = style{rgb(0xcc79a7), draw.RingGlyph{}}
	blue      = style{rgb(0x0072b2), draw.PyramidGlyph{}}
	green     = style{rgb(0x009e73), draw.CrossGlyph{}}

	styles = map[string]style{"graphics": vermilion, "graphics-by-image": orange, "graphics-unflattened": orange,
		"graphics-build-stack": orange, "graphics-probe-stack": purple, "phj-um": blue, "compute": blue, "auto": green}
)

func rgb(code uint32) color.Color {
	return color.RGBA{R: uint8(code >> 16), G: uint8(code >> 8), B: uint8(code), A: 255}
}

const (
	chartWidth, chartHeight = 8 * vg.Inch, 4.5 * vg.Inch
	chartMargin             = 10 // points
	queryColumn             = 200
	queryHeight             = 14
)

// write writes the chart as SVG.
func (c *chart) write(w io.Writer) error {
	p := plot.New()
	for _, text := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		text.Font.Variant = "Sans"
	}
	p.Title.Text = c.figure.Name + ": " + c.figure.Title
	p.Title.Padding = vg.Points(6)
	p.X.Label.Text = c.device
	p.X.Label.TextStyle.Font.Size = vg.Points(9)
	p.Legend.Top, p.Legend.Left = true, true // texts end freely, however wide their font is
	p.Legend.Padding = vg.Points(3)
	p.Legend.ThumbnailWidth = vg.Points(24)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.BackgroundColor = color.White
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 220}
	p.Add(grid)
	draws := c.times
	if c.figure.shares {
		draws = c.shares
	}
	if err := draws(p); err != nil {
		return fmt.Errorf("chart of %s: %w", c.figure.Name, err)
	}
	p.NominalX(c.places...)
	p.X.Min, p.X.Max = -0.5, float64(len(c.places))-0.5
	legend := p.Legend
	p.Legend = plot.NewLegend()
	below := legend.Rectangle(draw.Canvas{}).Size().Y
	below = max(below, queryHeight*vg.Length(len(c.queries))) + 2*chartMargin
	canvas, err := draw.NewFormattedCanvas(chartWidth, chartHeight+below, "svg")
	if err != nil {
		return err
	}
	all := draw.Crop(draw.New(canvas), chartMargin, -chartMargin, chartMargin, -chartMargin)
	p.Draw(draw.Crop(all, 0, 0, below, 0))
	texts := draw.Crop(all, 0, 0, 0, below-chartMargin-all.Size().Y)
	legend.Draw(texts)
	style := legend.TextStyle
	style.Font.Size = vg.Points(10)
	for i, query := range c.queries {
		texts.FillText(style, vg.Point{X: texts.Min.X + queryColumn, Y: texts.Max.Y - queryHeight*vg.Length(i+1)}, query)
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// fonts of the same widths, for readers without the first
	text := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err = w.Write(text)
	return err
}

// times adds the median of each method at each place.
func (c *chart) times(p *plot.Plot) error {
	p.Y.Label.Text = "median time, ms"
	least, most := math.Inf(1), 0.
	for m, method := range c.figure.Methods {
		var points plotter.XYs
		for at, results := range c.cells {
			if r := &results[m]; r.Skipped == nil {
				ms := max(r.Times.Median.Seconds()*1e3, 1e-6)
				points = append(points, plotter.XY{X: float64(at), Y: ms})
				least, most = min(least, ms), max(most, ms)
			}
		}
		if len(points) == 0 {
			p.Legend.Add(method + " (skipped)")
			continue
		}
		line, glyphs, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		style := styles[method]
		line.Color, glyphs.Color, glyphs.Shape = style.colour, style.colour, style.shape
		line.Width, glyphs.Radius = vg.Points(1.5), vg.Points(4)
		if c.figure.joined {
			p.Add(line)
			p.Legend.Add(method+"  ", line, glyphs)
		} else {
			p.Legend.Add(method+"  ", glyphs)
		}
		p.Add(glyphs)
	}
	if most == 0 {
		return nil
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	const room = 1.3
	p.Y.Min, p.Y.Max = least/room, most*room
	return nil
}

// decades are the powers of 10 with labels, and the multiples between them, of which some have labels where there are
// few powers.
type decades struct{}

// Ticks returns the ticks from least to most.
func (decades) Ticks(least, most float64) (ticks []plot.Tick) {
	for power := math.Floor(math.Log10(least)); power <= math.Log10(most); power++ {
		for k := 1.; k < 10; k++ {
			tick := plot.Tick{Value: k * math.Pow(10, power)}
			if k == 1 || most/least < 100 && (k == 2 || k == 5) || most/least < 5 {
				tick.Label = fmt.Sprintf("%.6g", tick.Value)
			}
			if least <= tick.Value && tick.Value <= most {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// shares adds bars of the phases of the first method.
func (c *chart) shares(p *plot.Plot) error {
	p.Y.Label.Text, p.Y.Min, p.Y.Max = "share of the time, %", 0, 100
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"},
		{Value: 75, Label: "75"}, {Value: 100, Label: "100"}}
	var below *plotter.BarChart
	for phase, name := range []string{"partition, statistics, build", "count and probe", "gather"} {
		values := make(plotter.Values, len(c.cells))
		for at, results := range c.cells {
			total := 0.
			for _, t := range results[0].phases {
				total += t.Seconds()
			}
			if total > 0 {
				values[at] = 100 * results[0].phases[phase].Seconds() / total
			}
		}
		bars, err := plotter.NewBarChart(values, vg.Points(36))
		if err != nil {
			return err
		}
		bars.Color, bars.LineStyle.Width = []style{vermilion, orange, blue}[phase].colour, 0
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		p.Legend.Add(name+"  ", bars)
	}
	return nil
}
