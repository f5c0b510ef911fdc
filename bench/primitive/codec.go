package primitive

import (
	"context"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Codec measures the cascaded codec on the columns of table 1 of "Scaling Joins to a Thousand GPUs" and on others, each
// with the scheme that is smallest by a sample.
type Codec struct {
	Columns      []string // none: all of [CodecColumns]
	Bytes        uint64   // of a column, raw; 0: 1 GiB, or 16 MiB on CPU cores
	Destinations int      // of the stable partition before
	Options
	CSV     string // path of a file for the results; empty: none
	Command string // recorded in the file
}

// CodecColumns names all columns.
func CodecColumns() (names []string) {
	for _, c := range codecColumns {
		names = append(names, c.name)
	}
	return names
}

// codecResult is a measured column.
type codecResult struct {
	*codecColumn
	scheme         kernel.CascadeScheme
	ratio          float64
	raw            uint64
	encode, decode measure.Sample
}

func (r *codecResult) rates() codecRates {
	rate := func(s *measure.Sample) float64 { return float64(r.raw) / s.Times.Median.Seconds() }
	return codecRates{rate(&r.encode), rate(&r.decode), r.ratio}
}

// Run measures on a device with the user's rows of its tables, prints a line for each column, and writes the file.
func (c Codec) Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error {
	ops, err := primitive.New(device, user)
	if err != nil {
		return err
	}
	if c.Bytes == 0 {
		c.Bytes = 1 << 30
		if device.Info().CPULike() {
			c.Bytes = 1 << 24
		}
	}
	file, err := measure.Create(c.CSV, c.Command, device.Info(), codecFileColumns)
	if err != nil {
		return err
	}
	defer file.Abort()
	out.Println(measure.DeviceText(device.Info()) + "; " + text.Bytes(c.Bytes) + " of each column")
	table := newCodecTable()
	out.Println(table.Head())
	for i := range codecColumns {
		column := &codecColumns[i]
		if len(c.Columns) > 0 && !slices.Contains(c.Columns, column.name) {
			continue
		}
		out.Enter(column.name)
		result, err := c.measure(ctx, ops, column)
		if err != nil && !measure.DoesNotFit(err) {
			return fmt.Errorf("%s: %w", column.name, err)
		}
		out.Println(table.Line(result, err, ""))
		if err == nil {
			rates := result.rates()
			file.Add([]string{column.name, result.scheme.String(), result.encode.Clock()},
				[]uint64{c.Seed, uint64(column.bits), result.raw, uint64(c.Destinations)},
				[]float64{rates.ratio, rates.encode, rates.decode})
		}
	}
	return file.Commit(ctx)
}

func (c Codec) measure(ctx context.Context, ops *primitive.Ops, column *codecColumn) (*codecResult, error) {
	r := &codecResult{codecColumn: column, raw: c.Bytes}
	of := Case{Primitive: "codec", Key: column.bits, Rows: c.Bytes / uint64(column.bits/8)}
	b := &bed{Case: of, ctx: ctx, ops: ops, seed: c.Seed}
	defer b.release()
	k := b.cascade(column, c.Destinations)
	sizes := k.sizes()
	r.scheme = codec.Select(sizes, codec.Uniform(1e30, 1e30, 1)).Scheme // as if the codec took no time
	k.plan(r.scheme)
	for _, way := range []struct {
		to  *measure.Sample
		set func() experiment
	}{{&r.encode, k.encode}, {&r.decode, k.decode}} {
		e := way.set()
		if b.err != nil {
			return r, b.err
		}
		if err := b.verify(&e); err != nil {
			return r, err
		}
		runs, err := measure.Repeat(c.Repeat, c.Warm, func() (measure.Timed, error) { return b.run(&e) })
		if err != nil {
			return r, err
		}
		*way.to = measure.SampleOf(runs)
	}
	r.ratio = float64(r.raw) / float64(k.payloadBytes+k.encoding.DirectoryBytes)
	return r, b.err
}

var codecFileColumns = measure.Columns{
	Texts:    []string{"column", "scheme", "clock"},
	Numbers:  []string{"seed", "bits", "bytes", "destinations"},
	Measures: []string{"ratio", "encode_bytes_per_second", "decode_bytes_per_second"},
}

func newCodecTable() *measure.Table[*codecResult] {
	type column = measure.Column[*codecResult]
	ratio := func(of func(*codecResult) codecRates) func(*codecResult) string {
		return func(r *codecResult) string { return ratioText(of(r).ratio) }
	}
	rate := func(of func(*codecResult) float64) func(*codecResult) string {
		return func(r *codecResult) string {
			if of(r) == 0 {
				return "-"
			}
			return text.Rate(of(r), "B")
		}
	}
	own, peer := (*codecResult).rates, func(r *codecResult) codecRates { return r.peer }
	name := column{Head: "COLUMN", Known: true, Cell: func(r *codecResult) string { return r.name }}
	scheme := column{Head: "SCHEME", Cell: func(r *codecResult) string { return r.scheme.String() }}
	return measure.NewTable(name.Fitting(CodecColumns()...),
		column{Head: "BITS", Known: true, Align: text.Right,
			Cell: func(r *codecResult) string { return bitsText(r.bits) }},
		scheme.Fitting(allLayers.String()),
		column{Head: "RATIO", Align: text.Right, Cell: ratio(own)},
		measure.Number("ENCODE", rate(func(r *codecResult) float64 { return own(r).encode })),
		measure.Number("DECODE", rate(func(r *codecResult) float64 { return own(r).decode })),
		column{Head: "NVCOMP: RATIO", Align: text.Right, Cell: ratio(peer)},
		measure.Number("ENCODE", rate(func(r *codecResult) float64 { return r.peer.encode })),
		measure.Number("DECODE", rate(func(r *codecResult) float64 { return r.peer.decode })),
	)
}

func ratioText(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ratio)
}
