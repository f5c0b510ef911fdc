// Package joins measures joins of relations that are on a device: the workloads of GFTR 5.1 and 5.2 by every algorithm. Each answer
// is verified before it is timed.
package joins

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/join/auto"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/primitive"
)

// Algorithm is a way to join two relations that are on a device.
type Algorithm struct {
	Name string
	join func(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, profile *backend.Profile) (*resident.Result, error)
}

// Algorithms are all there are; the names of materialising ones are those of GFTR 5.1.
func Algorithms() []Algorithm {
	hashed := func(name string, o hash.Options) Algorithm {
		return Algorithm{name, func(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, profile *backend.Profile) (*resident.Result, error) {
			return hash.Join(ctx, ops, left, right, o, profile)
		}}
	}
	sorted := func(name string, o sortmerge.Options) Algorithm {
		return Algorithm{name, func(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, profile *backend.Profile) (*resident.Result, error) {
			return sortmerge.Join(ctx, ops, left, right, o, profile)
		}}
	}
	return []Algorithm{
		hashed("phj-om", hash.Options{}),
		hashed("phj-om-unique", hash.Options{Unique: true}),
		hashed("phj-om-single", hash.Options{OneByOne: true}),
		hashed("phj-om-count", hash.Options{CountFirst: true}),
		hashed("phj-om-pages", hash.Options{PageRows: 2}),
		hashed("phj-um", hash.Options{Untransformed: true}),
		hashed("hj", hash.Options{Unpartitioned: true}),
		hashed("hj-unique", hash.Options{Unpartitioned: true, Unique: true}),
		sorted("smj-om", sortmerge.Options{}),
		sorted("smj-om-single", sortmerge.Options{OneByOne: true}),
		sorted("smj-um", sortmerge.Options{Untransformed: true}),
		{"auto", func(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, profile *backend.Profile) (*resident.Result, error) {
			result, _, err := auto.Join(ctx, ops, left, right, profile)
			return result, err
		}},
	}
}

// Names returns the names of all algorithms.
func Names() (names []string) {
	for _, a := range Algorithms() {
		names = append(names, a.Name)
	}
	return names
}

// Find returns algorithms by name, all for none.
func Find(names []string) (found []Algorithm, err error) {
	if len(names) == 0 {
		return Algorithms(), nil
	}
	known := Names()
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("%w: no join %q; there are %s", backend.ErrInvalidInput, name, strings.Join(known, ", "))
		}
		found = append(found, Algorithms()[i])
	}
	return found, nil
}

// Result is a measured join.
type Result struct {
	Algorithm string
	Spec      workload.PKFKSpec
	Rows      uint64              // of output
	Times     benchmark.Summary   // on the device, of all stages together
	Stages    []backend.StageTime // of the run whose time is the median
	PeakBytes uint64              // device memory, inputs and output included
}

// TuplesPerSecond counts the rows of both inputs, as GFTR 5.1 does, by the median.
func (r *Result) TuplesPerSecond() float64 {
	return float64(r.Spec.RRows+r.Spec.SRows) / r.Times.Median.Seconds()
}

// Bed is a workload on a device.
type Bed struct {
	ops    *primitive.Ops
	spec   workload.PKFKSpec
	tables [2]arrow.Table
	sides  [2]resident.Relation
	memory resident.Memory
	check  *checker
}

// NewBed generates a workload and uploads it. Release gives it back.
func NewBed(ctx context.Context, device *backend.Device, overrides primitive.Tuning, spec workload.PKFKSpec) (_ *Bed, err error) {
	ops, err := primitive.New(device, overrides)
	if err != nil {
		return nil, err
	}
	b := &Bed{ops: ops, spec: spec, memory: resident.Memory{Device: device}}
	defer func() {
		if err != nil {
			b.Release()
		}
	}()
	if b.tables[0], b.tables[1], err = workload.PKFK(ctx, spec); err != nil {
		return nil, err
	}
	for side, table := range b.tables {
		if b.sides[side], err = b.upload(ctx, table); err != nil {
			return nil, err
		}
	}
	b.check = newChecker(b.tables, spec)
	return b, nil
}

// Release gives memory back, on the device too.
func (b *Bed) Release() {
	b.memory.ReleaseAll()
	for _, t := range b.tables {
		if t != nil {
			t.Release()
		}
	}
}

func (b *Bed) upload(ctx context.Context, table arrow.Table) (resident.Relation, error) {
	r := resident.Relation{Rows: uint64(table.NumRows())}
	for c := range int(table.NumCols()) {
		chunked := table.Column(c).Data()
		width := chunked.DataType().(arrow.FixedWidthDataType).Bytes()
		column := b.memory.New(r.Rows*uint64(width), table.Schema().Field(c).Name)
		if b.memory.Err != nil {
			return r, b.memory.Err
		}
		at := uint64(0)
		for _, chunk := range chunked.Chunks() {
			data := chunk.Data().Buffers()[1].Bytes()[:chunk.Len()*width]
			point, err := b.memory.Device.Upload(ctx, column.Range(at, uint64(len(data))), data)
			if err == nil {
				err = b.memory.Device.Wait(ctx, point)
			}
			if err != nil {
				return r, err
			}
			at += uint64(len(data))
		}
		if on := (resident.Column{Data: column.All(), Bytes: width}); c == 0 {
			r.Keys = on
		} else {
			r.Payload = append(r.Payload, on)
		}
	}
	return r, nil
}

// Measure verifies an algorithm and then times it. The error is ErrWrong of bench/primitive where the answer is wrong, and wraps
// backend.ErrDeviceMemory or backend.ErrLimit where the join does not fit.
func (b *Bed) Measure(ctx context.Context, a Algorithm, repeat int, warm time.Duration) (result Result, err error) {
	result = Result{Algorithm: a.Name, Spec: b.spec}
	device := b.memory.Device
	device.ResetPeak()
	run := func(use func(*resident.Result) error) ([]backend.StageTime, error) {
		profile := new(backend.Profile)
		out, err := a.join(ctx, b.ops, b.sides[0], b.sides[1], profile)
		if err != nil {
			return nil, err
		}
		defer out.Release()
		result.Rows = out.Rows
		if err := use(out); err != nil {
			return nil, err
		}
		return profile.Stages(), nil
	}
	if _, err := run(func(out *resident.Result) error { return b.check.verify(ctx, device, out) }); err != nil {
		return result, fmt.Errorf("%s: %w", a.Name, err)
	}
	result.PeakBytes = device.MemoryUse(backend.DeviceLocal).Peak
	settle := func(*resident.Result) error { // what was submitted is over, and its times are known
		var list backend.List
		return device.Run(ctx, &list)
	}
	for start := time.Now(); time.Since(start) < warm; {
		if _, err := run(settle); err != nil {
			return result, err
		}
	}
	type timed struct {
		total  time.Duration
		stages []backend.StageTime
	}
	var runs []timed
	var times []time.Duration
	for range repeat {
		stages, err := run(settle)
		if err != nil {
			return result, err
		}
		t := timed{stages: stages}
		for _, s := range stages {
			t.total += s.Time
		}
		runs, times = append(runs, t), append(times, t.total)
	}
	result.Times = benchmark.Summarize(times)
	slices.SortFunc(runs, func(a, b timed) int { return int(a.total - b.total) })
	result.Stages = runs[len(runs)/2].stages
	return result, nil
}

// checker knows what the output of a join must hold. Payload columns of R follow from the key; those of S are random, so that the sum
// over all rows of a hash of key and S's payload tells whether every row of S is there once.
type checker struct {
	spec workload.PKFKSpec
	rows uint64
	sum  uint64
	left [][]uint64 // payload columns of R by key
}

// values reads a column of the table.
func values(chunked *arrow.Chunked, do func(row int, v uint64)) {
	row := 0
	for _, chunk := range chunked.Chunks() {
		data := chunk.Data().Buffers()[1].Bytes()
		if chunked.DataType().(arrow.FixedWidthDataType).Bytes() == 8 {
			for _, v := range words[uint64](data)[:chunk.Len()] {
				do(row, v)
				row++
			}
			continue
		}
		for _, v := range words[uint32](data)[:chunk.Len()] {
			do(row, uint64(v))
			row++
		}
	}
}

func words[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

func newChecker(tables [2]arrow.Table, spec workload.PKFKSpec) *checker {
	c := &checker{spec: spec}
	keys := make([]uint64, spec.RRows)
	present := make([]uint64, (2*spec.RRows+63)/64)
	values(tables[0].Column(0).Data(), func(row int, key uint64) { keys[row] = key; present[key/64] |= 1 << (key % 64) })
	for p := range spec.RPayloads {
		column := make([]uint64, 2*spec.RRows)
		values(tables[0].Column(1+p).Data(), func(row int, v uint64) { column[keys[row]] = v })
		c.left = append(c.left, column)
	}
	hashes := make([]uint64, spec.SRows)
	matches := make([]bool, spec.SRows)
	for column := range 1 + spec.SPayloads {
		values(tables[1].Column(column).Data(), func(row int, v uint64) {
			if column == 0 {
				matches[row] = present[v/64]>>(v%64)&1 == 1
			}
			hashes[row] = fold(hashes[row], v)
		})
	}
	for row, h := range hashes {
		if matches[row] {
			c.sum += h
			c.rows++
		}
	}
	return c
}

func fold(hash, v uint64) uint64 {
	hi, lo := bits.Mul64(hash^v+0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	return hi ^ lo
}

func (c *checker) verify(ctx context.Context, device *backend.Device, out *resident.Result) error {
	if out.Rows != c.rows {
		return fmt.Errorf("%w: %d rows, not %d", benchmark.ErrWrong, out.Rows, c.rows)
	}
	if out.Rows == 0 {
		return nil
	}
	fetch := func(b *backend.Buffer, width int) (func(row int) uint64, error) {
		data := make([]byte, out.Rows*uint64(width))
		if err := device.Download(ctx, data, b.Range(0, uint64(len(data)))); err != nil {
			return nil, err
		}
		if width == 8 {
			column := words[uint64](data)
			return func(row int) uint64 { return column[row] }, nil
		}
		column := words[uint32](data)
		return func(row int) uint64 { return uint64(column[row]) }, nil
	}
	keys, err := fetch(out.Keys, c.spec.KeyBytes)
	if err != nil {
		return err
	}
	for p, want := range c.left {
		column, err := fetch(out.Payload[0][p], c.spec.PayloadBytes)
		if err != nil {
			return err
		}
		for row := range int(out.Rows) {
			if key := keys(row); key >= uint64(len(want)) || column(row) != want[key] {
				return fmt.Errorf("%w: row %d has key %d and %#x in payload column %d of R", benchmark.ErrWrong, row, key, column(row), p)
			}
		}
	}
	columns := []func(row int) uint64{keys}
	for p := range c.spec.SPayloads {
		column, err := fetch(out.Payload[1][p], c.spec.PayloadBytes)
		if err != nil {
			return err
		}
		columns = append(columns, column)
	}
	const block = 1 << 20
	var wait sync.WaitGroup
	var mu sync.Mutex
	sum := uint64(0)
	for first := 0; first < int(out.Rows); first += block {
		wait.Add(1)
		go func() {
			defer wait.Done()
			part := uint64(0)
			for row := first; row < min(first+block, int(out.Rows)); row++ {
				h := uint64(0)
				for _, column := range columns {
					h = fold(h, column(row))
				}
				part += h
			}
			mu.Lock()
			sum += part
			mu.Unlock()
		}()
	}
	wait.Wait()
	if sum != c.sum {
		return fmt.Errorf("%w: rows of S are missing, or there more than once", benchmark.ErrWrong)
	}
	return nil
}
