package primitive

import (
	"bytes"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Columns in the cascaded format, and back: the keys of lineitem for one of 16 destinations, with all layers.
var (
	cascadeEncodeBenchmark = Benchmark{
		Name: "cascade_encode", Table: "cascade", tunes: true, Keys: narrowWide, Payloads: none, Distributions: only,
		variant: noVariant,
		set:     func(b *bed) experiment { return b.cascade(&lineKeys, 16).plan(allLayers).encode() },
	}
	cascadeDecodeBenchmark = Benchmark{
		Name: "cascade_decode", Table: "cascade", Keys: narrowWide, Payloads: none, Distributions: only,
		variant: noVariant,
		set:     func(b *bed) experiment { return b.cascade(&lineKeys, 16).plan(allLayers).decode() },
	}
)

const allLayers = kernel.CascadeRLE | kernel.CascadeDelta | kernel.CascadePack

// codecColumn is a column of TPC-H's orders or lineitem, or one of random values. add calls put with the values of a
// row of orders.
type codecColumn struct {
	name string
	bits int
	add  func(order, random, orders uint64, put func(value uint64))
	// nvCOMP's rates in bytes/s and its ratio; 0 where they were not measured
	peer codecRates
}

// codecRates are the raw bytes per second of encoding and decoding, and raw bytes for each encoded one.
type codecRates struct{ encode, decode, ratio float64 }

// orderKey is the key of an order as dbgen makes it: 8 of 32 numbers are taken.
func orderKey(order uint64) uint64 { return order/8*32 + order%8 + 1 }

func putOrderKey(order, _, _ uint64, put func(uint64)) { put(orderKey(order)) }

// putLineKeys puts the keys of an order's 1 to 7 lines.
func putLineKeys(order, random, _ uint64, put func(uint64)) {
	for range 1 + random%7 {
		put(orderKey(order))
	}
}

func putPriority(_, random, _ uint64, put func(uint64)) { put(random % 5) }

// putCustomer puts one of the two of three customers that have orders.
func putCustomer(_, random, orders uint64, put func(uint64)) {
	customer := random % max(1, orders/15)
	put(customer/2*3 + customer%2 + 1)
}

// putRandom puts values of some bits.
func putRandom(bits int) func(_, random, _ uint64, put func(uint64)) {
	return func(_, random, _ uint64, put func(uint64)) { put(narrow(random, bits)) }
}

var lineKeys = codecColumn{"l_orderkey", 64, putLineKeys, codecRates{491e9, 1101e9, 19.0}}

// codecColumns are the columns of the paper's table 1, and others. nvCOMP is version 2.2, its batched cascaded codec,
// on an H100 with 1 GiB of raw bytes (measured on 2026-11-22).
var codecColumns = []codecColumn{
	{"o_orderkey", 64, putOrderKey, codecRates{216e9, 511e9, 7.0}},
	{"o_orderpriority", 32, putPriority, codecRates{538e9, 1585e9, 10.2}},
	lineKeys,
	{"o_custkey", 64, putCustomer, codecRates{}},
	{"random20", 32, putRandom(20), codecRates{453e9, 953e9, 1.6}},
	{"random40", 64, putRandom(40), codecRates{}},
	{"random62", 64, putRandom(62), codecRates{}},
}

// values makes rows values of bits bits, of as many orders as that takes, after a stable partition of the orders by the
// hashes of their keys. Destination i has the rows from starts[i] to starts[i+1]-1.
func (c *codecColumn) values(seed, rows uint64, bits, destinations int) (column []byte, starts []uint32) {
	starts = make([]uint32, destinations+1)
	each := func(put func(destination int, value uint64)) {
		for order, row := uint64(0), uint64(0); row < rows; order++ {
			random := workload.Random(seed, order)
			destination := destinationOf(order, destinations)
			c.add(order, random, rows, func(value uint64) {
				if row++; row <= rows {
					put(destination, value)
				}
			})
		}
	}
	each(func(destination int, _ uint64) { starts[destination+1]++ })
	for i := range destinations {
		starts[i+1] += starts[i]
	}
	column = make([]byte, rows*uint64(bits/8))
	v, next := viewOf(column, bits), append([]uint32(nil), starts...)
	each(func(destination int, value uint64) {
		v.set(uint64(next[destination]), value)
		next[destination]++
	})
	return column, starts
}

// CodecValues returns the first rows values of a column, which [CodecColumns] names, that come to destination 0 of
// several after a stable partition of the orders by the hashes of their keys.
func CodecValues(name string, seed uint64, rows, destinations int) codec.Column {
	c := &codecColumns[slices.IndexFunc(codecColumns, func(c codecColumn) bool { return c.name == name })]
	column, row := make([]byte, rows*c.bits/8), 0
	v := viewOf(column, c.bits)
	for order := uint64(0); row < rows; order++ {
		if destinationOf(order, destinations) != 0 {
			continue
		}
		c.add(order, workload.Random(seed, order), uint64(rows)*uint64(destinations), func(value uint64) {
			if row < rows {
				v.set(uint64(row), value)
			}
			row++
		})
	}
	return codec.Column{Values: column, ValueBytes: c.bits / 8}
}

// destinationOf is where the rows of an order go.
func destinationOf(order uint64, destinations int) int {
	return int(kernel.Mix(orderKey(order), 7) % uint64(destinations))
}

// cascadeBed is a column and what it is encoded to.
type cascadeBed struct {
	*bed
	column   []byte
	starts   []uint32
	encoding primitive.CascadeEncodePlan
	buffers  primitive.CascadeBuffers
	decoded  backend.Range

	payloadBytes uint64 // of all encoded blocks
}

// cascade lays out a column of b.Key bits.
func (b *bed) cascade(c *codecColumn, destinations int) *cascadeBed {
	k := &cascadeBed{bed: b}
	k.column, k.starts = c.values(b.seed, b.Rows, b.Key, destinations)
	k.buffers.Values, k.decoded = b.upload(k.column), b.empty(b.Key, b.Rows)
	k.buffers.Status = b.scratch(4)
	return k
}

// upload allocates a column and fills it.
func (b *bed) upload(column []byte) backend.Range {
	r := b.scratch(uint64(len(column)))
	if b.err == nil {
		_, err := b.device().Upload(b.ctx, r, column)
		b.fail(err)
	}
	return r
}

// plan plans a scheme, and allocates its buffers.
func (k *cascadeBed) plan(scheme kernel.CascadeScheme) *cascadeBed {
	k.encoding = plan[primitive.CascadeEncodePlan](k.bed)(
		primitive.PlanCascadeEncode(k.ops.Tuning(), k.starts, k.Key/8, scheme))
	k.buffers.Parts = k.upload(backend.AsBytes(k.encoding.Parts))
	k.buffers.Directory, k.buffers.Payload = k.scratch(k.encoding.DirectoryBytes), k.scratch(k.encoding.PayloadBytes)
	k.buffers.Scratch = k.scratch(k.encoding.ScratchBytes)
	return k
}

// encodeOnce encodes the column, and returns the size of all blocks.
func (k *cascadeBed) encodeOnce() (payloadBytes uint64) {
	if k.err != nil {
		return 0
	}
	var list backend.List
	k.fail(k.ops.CascadeEncode(&list, &k.encoding, &k.buffers))
	k.fail(k.device().Run(k.ctx, &list))
	words, err := k.word(k.buffers.Directory, k.encoding.DirectoryBytes-4, 32)
	k.fail(err)
	return 4 * words
}

func (k *cascadeBed) encode() experiment {
	k.payloadBytes = k.encodeOnce()
	decode := k.decoding()
	return experiment{
		leastBytes: uint64(len(k.column)),
		answers:    []backend.Range{k.buffers.Directory, k.buffers.Payload.Part(0, k.payloadBytes)},
		record:     func(list *backend.List) error { return k.ops.CascadeEncode(list, &k.encoding, &k.buffers) },
		verify:     func() error { return k.verify(&decode) },
	}
}

func (k *cascadeBed) decode() experiment {
	k.payloadBytes = k.encodeOnce()
	return k.decoding()
}

// decoding is the way back from what is encoded.
func (k *cascadeBed) decoding() experiment {
	decoding := plan[primitive.CascadeDecodePlan](k.bed)(
		primitive.PlanCascadeDecode(k.ops.Tuning(), k.starts, k.Key/8, k.payloadBytes))
	buffers := k.buffers
	buffers.Values = k.decoded
	return experiment{
		leastBytes: uint64(len(k.column)),
		answers:    []backend.Range{k.decoded},
		record:     func(list *backend.List) error { return k.ops.CascadeDecode(list, &decoding, &buffers) },
		verify: func() error {
			if wrong, err := k.word(k.buffers.Status, 0, 32); err != nil || wrong != 0 {
				return errOr(err, "block %d is not decoded", int64(wrong)-1)
			}
			piece := make([]byte, min(len(k.column), 64<<20))
			for at := 0; at < len(k.column); at += len(piece) {
				n := min(len(piece), len(k.column)-at)
				if err := k.device().Download(k.ctx, piece[:n], k.decoded.Part(uint64(at), uint64(n))); err != nil {
					return err
				}
				if !bytes.Equal(piece[:n], k.column[at:at+n]) {
					return measure.Wrongf("bytes %d to %d differ", at, at+n)
				}
			}
			return nil
		},
	}
}

func errOr(err error, format string, a ...any) error {
	if err != nil {
		return err
	}
	return measure.Wrongf(format, a...)
}

// sizes measures a sample on the device.
func (k *cascadeBed) sizes() codec.Sizes {
	sampled := codec.SampleRows(k.starts)
	count := uint32(len(sampled) / 2)
	blocks, sizes := k.upload(backend.AsBytes(sampled)), k.empty(32, uint64(kernel.CascadeSchemes*count))
	if k.err != nil || count == 0 {
		return codec.Sizes{}
	}
	var list backend.List
	k.fail(k.ops.CascadeSizes(&list, k.Key/8, k.buffers.Values, blocks, sizes, count))
	k.fail(k.device().Run(k.ctx, &list))
	words := make([]uint32, kernel.CascadeSchemes*count)
	k.fail(k.device().Download(k.ctx, backend.AsBytes(words), sizes))
	return codec.SizesOf(sampled, words, k.Key/8)
}
