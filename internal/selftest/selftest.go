// Package selftest tests a device: it transfers patterns and runs small joins, whose output it compares, as a multiset,
// with a simple join on the host.
package selftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
)

// Report has the results of a self-test.
type Report struct {
	Device backend.DeviceInfo `json:"device"`
	Checks []Check            `json:"checks"`
}

// Check is the result of one test.
type Check struct {
	Name    string  `json:"name"` // the test, with its sizes
	Seconds float64 `json:"seconds"`
	Fault   string  `json:"fault,omitempty"` // the error or the first wrong answer; empty when all was right
}

// Passed reports whether there were checks and all passed.
func (r *Report) Passed() bool {
	for _, c := range r.Checks {
		if c.Fault != "" {
			return false
		}
	}
	return len(r.Checks) > 0
}

// check runs one test and adds its result. It returns an error if ctx has ended.
func (r *Report) check(ctx context.Context, name string, run func() error) error {
	start := time.Now()
	fault := run()
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	c := Check{Name: name, Seconds: time.Since(start).Seconds()}
	if fault != nil {
		c.Fault = fault.Error()
	}
	r.Checks = append(r.Checks, c)
	return nil
}

// Run tests the device that spec names, in the form of [backend.SelectDevice]. It takes a few seconds at most.
//
// Errors and wrong results of the device are faults in the report. Run returns an error if there is no complete report,
// because the device could not be opened or closed, or ctx has ended.
func Run(ctx context.Context, system *spirjoin.System, spec string) (report Report, err error) {
	if err := report.transfers(ctx, system, spec); err != nil {
		return report, err
	}
	return report, report.joins(ctx, system, spec)
}

func (r *Report) transfers(ctx context.Context, system *spirjoin.System, spec string) (err error) {
	device, err := system.Open(ctx, spec, backend.DeviceOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	r.Device = *device.Info()
	for _, sizeBytes := range []int{4, 4<<10 + 4, 5<<20 + 12} {
		run := func() error { return testTransfer(ctx, device, sizeBytes) }
		if err := r.check(ctx, fmt.Sprintf("move %d bytes", sizeBytes), run); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) joins(ctx context.Context, system *spirjoin.System, spec string) (err error) {
	engine, err := system.Engine(ctx, spirjoin.Options{Device: spec})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	for seed, problem := range problems {
		run := func() error { return problem.run(ctx, engine, uint64(seed)) }
		if err := r.check(ctx, problem.String(), run); err != nil {
			return err
		}
	}
	return nil
}

// testTransfer uploads a pattern, downloads it and compares.
func testTransfer(ctx context.Context, device *backend.Device, sizeBytes int) error {
	buffer, err := device.Allocate(ctx, backend.DeviceLocal, uint64(sizeBytes), "self-test pattern")
	if err != nil {
		return err
	}
	defer buffer.Release()
	sent, received := make([]byte, sizeBytes), bytes.Repeat([]byte{0xa5}, sizeBytes)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(sent) // never fails
	if _, err := device.Upload(ctx, buffer.Range(0, uint64(sizeBytes)), sent); err != nil {
		return err
	}
	if err := device.Download(ctx, received, buffer.Range(0, uint64(sizeBytes))); err != nil {
		return err
	}
	for i := range sent {
		if sent[i] != received[i] {
			return fmt.Errorf("byte %d of %d came back as %#02x, sent was %#02x", i, sizeBytes, received[i], sent[i])
		}
	}
	return nil
}

// problem is a join of random tables.
type problem struct {
	keyBits     int // 32 or 64
	rows        [2]int
	distinct    int // number of key values to draw from; in addition, every eighth key is NULL
	materialize join.Materialize
}

var problems = []problem{
	{32, [2]int{0, 1000}, 10, join.MaterializeDevice},
	{32, [2]int{1000, 3000}, 700, join.MaterializeDevice},
	{64, [2]int{1000, 3000}, 700, join.MaterializeDevice},
	{64, [2]int{300, 200}, 1, join.MaterializeDevice},
	{32, [2]int{30_000, 70_000}, 25_000, join.MaterializeDevice},
	{64, [2]int{70_000, 30_000}, 25_000, join.MaterializeHost},
}

func (t problem) String() string {
	where := "host"
	if t.materialize == join.MaterializeDevice {
		where = "device"
	}
	return fmt.Sprintf("join %d x %d rows, %d-bit keys, %d distinct, gathered on the %s",
		t.rows[0], t.rows[1], t.keyBits, t.distinct, where)
}

func (t problem) run(ctx context.Context, engine *spirjoin.Engine, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0))
	pool := make([]int64, t.distinct)
	for i := range pool {
		pool[i] = int64(random.Uint64())
		if t.keyBits == 32 {
			pool[i] = int64(int32(pool[i]))
		}
	}
	if t.distinct > 4 { // values that an implementation might use as markers
		copy(pool, []int64{0, -1, math.MaxInt32, math.MinInt32})
		if t.keyBits == 64 {
			copy(pool, []int64{0, -1, math.MaxInt64, math.MinInt64})
		}
	}
	var keys [2][]*int64
	for side := range keys {
		keys[side] = make([]*int64, t.rows[side])
		for i := range keys[side] {
			if random.IntN(8) > 0 {
				keys[side][i] = &pool[random.IntN(len(pool))]
			}
		}
	}
	left, right := makeTable("left", t.keyBits, keys[0]), makeTable("right", t.keyBits, keys[1])
	defer left.Release()
	defer right.Release()
	spec := spirjoin.JoinSpec{LeftOn: []string{"left_key"}, RightOn: []string{"right_key"}, Materialize: t.materialize}
	result, err := engine.Join(ctx, left, right, spec)
	if err != nil {
		return err
	}
	defer result.Close()
	missing := nestedPairs(keys)
	if result.Rows() != uint64(len(missing)) {
		return fmt.Errorf("%d rows, there are %d", result.Rows(), len(missing))
	}
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return err
		}
		err = strikeOut(batch, keys[0], missing)
		batch.Release()
		if err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d rows of %d are missing", len(missing), result.Rows())
	}
	return nil
}

// makeTable returns a table with the key and three columns that are functions of the row number: of 4 and of 8 bytes,
// and a text.
func makeTable(side string, keyBits int, keys []*int64) arrow.Table {
	var keyType arrow.DataType = arrow.PrimitiveTypes.Int64
	if keyBits == 32 {
		keyType = arrow.PrimitiveTypes.Int32
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: side + "_key", Type: keyType, Nullable: true}, {Name: side + "_row", Type: arrow.PrimitiveTypes.Int32},
		{Name: side + "_value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: side + "_text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	for row, key := range keys {
		switch {
		case key == nil:
			b.Field(0).AppendNull()
		case keyBits == 32:
			b.Field(0).(*array.Int32Builder).Append(int32(*key))
		default:
			b.Field(0).(*array.Int64Builder).Append(*key)
		}
		b.Field(1).(*array.Int32Builder).Append(int32(row))
		if value, ok := valueOf(row); ok {
			b.Field(2).(*array.Float64Builder).Append(value)
		} else {
			b.Field(2).AppendNull()
		}
		b.Field(3).(*array.StringBuilder).Append(textOf(row))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
}

func valueOf(row int) (value float64, ok bool) { return math.Sqrt(float64(row)), row%5 != 0 }

func textOf(row int) string { return fmt.Sprint("row ", row) }

// nestedPairs is the simplest join: for each left row, the right rows with the same key.
func nestedPairs(keys [2][]*int64) map[[2]int]bool {
	rightRows := make(map[int64][]int)
	for row, key := range keys[1] {
		if key != nil {
			rightRows[*key] = append(rightRows[*key], row)
		}
	}
	pairs := make(map[[2]int]bool)
	for row, key := range keys[0] {
		if key != nil {
			for _, other := range rightRows[*key] {
				pairs[[2]int{row, other}] = true
			}
		}
	}
	return pairs
}

// strikeOut removes the rows of a batch from the missing pairs. A row that is not among them, or whose columns do not
// belong together, is an error.
func strikeOut(batch arrow.RecordBatch, leftKeys []*int64, missing map[[2]int]bool) error {
	column := func(name string) arrow.Array { return batch.Column(batch.Schema().FieldIndices(name)[0]) }
	for i := range int(batch.NumRows()) {
		var pair [2]int
		for s, side := range [2]string{"left", "right"} {
			row := int(column(side + "_row").(*array.Int32).Value(i))
			pair[s] = row
			want, ok := valueOf(row)
			values := column(side + "_value").(*array.Float64)
			if values.IsValid(i) != ok || ok && values.Value(i) != want {
				return fmt.Errorf("row %d of the %s side came with %s_value %s", row, side, side, values.ValueStr(i))
			}
			if text := column(side + "_text").(*array.String).Value(i); text != textOf(row) {
				return fmt.Errorf("row %d of the %s side came with %s_text %q", row, side, side, text)
			}
		}
		if !missing[pair] {
			return fmt.Errorf("left row %d with right row %d came twice, or has no equal key", pair[0], pair[1])
		}
		delete(missing, pair)
		key := column("left_key")
		if text := fmt.Sprint(*leftKeys[pair[0]]); key.IsNull(i) || key.ValueStr(i) != text {
			return fmt.Errorf("left row %d came with the key %s, which is %s", pair[0], key.ValueStr(i), text)
		}
	}
	return nil
}
