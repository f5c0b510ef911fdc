package workload

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/pingcap/go-tpc/tpch/dbgen"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/tableio"
)

func TestMain(m *testing.M) {
	RunTPCHChildIfAsked()
	leak.Main(m)
}

func readTable(t *testing.T, path string) arrow.Table {
	t.Helper()
	r, err := tableio.Open(context.Background(), path, tableio.ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	table, err := r.Read(context.Background(), nil)
	require.NoError(t, err)
	return table
}

// column gives the values of one column as text.
func column(t *testing.T, table arrow.Table, name string) []string {
	t.Helper()
	indices := table.Schema().FieldIndices(name)
	require.Len(t, indices, 1, name)
	var out []string
	for _, chunk := range table.Column(indices[0]).Data().Chunks() {
		for row := range chunk.Len() {
			out = append(out, chunk.ValueStr(row))
		}
	}
	return out
}

// cents gives a money column in hundredths.
func cents(t *testing.T, table arrow.Table, name string) []int64 {
	t.Helper()
	var out []int64
	for _, chunk := range table.Column(table.Schema().FieldIndices(name)[0]).Data().Chunks() {
		for row := range chunk.Len() {
			out = append(out, int64(chunk.(*array.Decimal128).Value(row).LowBits()))
		}
	}
	return out
}

func ints(t *testing.T, table arrow.Table, name string) []int64 {
	t.Helper()
	return values(table.Column(table.Schema().FieldIndices(name)[0]))
}

func TestTPCHRowsKeepTheirMeaning(t *testing.T) {
	dir := t.TempDir()
	source := func(_ int64, handle func(*dbgen.Order) error) error {
		for key := range 10 {
			err := handle(&dbgen.Order{
				CustKey: 7, Status: "F", TotalPrice: 123456, Date: "1992-01-01", OrderPriority: "1-URGENT", Clerk: "c",
				Comment: "äöü",
				Lines:   make([]dbgen.LineItem, key%3),
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	task := tpchTask{Scale: 1, Orders: 4, Dir: dir}
	err := task.run(func(scale int64, handle func(*dbgen.Order) error) error {
		return source(scale, func(order *dbgen.Order) error {
			for i := range order.Lines {
				order.Lines[i] = dbgen.LineItem{OKey: 5, PartKey: 6, SuppKey: 7, LCnt: 2, Quantity: 50, EPrice: 90210,
					Discount: 4, Tax: 8,
					RFlag: "N", LStatus: "O", SDate: "1998-12-31", CDate: "1996-02-29", RDate: "1992-01-02",
					ShipInstruct: "NONE", ShipMode: "AIR", Comment: "x"}
			}
			return handle(order)
		})
	}, func(tpchReport) {})
	require.NoError(t, err)
	orders, lines := readTable(t, filepath.Join(dir, ordersFile)), readTable(t, filepath.Join(dir, lineitemFile))
	require.True(t, orders.Schema().Equal(OrdersSchema), orders.Schema())
	require.True(t, lines.Schema().Equal(LineitemSchema), lines.Schema())
	require.Equal(t, int64(4), orders.NumRows())
	require.Equal(t, int64(0+1+2+0), lines.NumRows())
	for name, want := range map[string]string{"o_custkey": "7", "o_orderstatus": "F", "o_totalprice": "1234.56",
		"o_orderdate": "1992-01-01", "o_comment": "äöü"} {
		require.Equal(t, want, column(t, orders, name)[3], name)
	}
	for name, want := range map[string]string{
		"l_orderkey": "5", "l_partkey": "6", "l_suppkey": "7", "l_linenumber": "2", "l_quantity": "50",
		"l_extendedprice": "902.1",
		"l_discount":      "0.04", "l_tax": "0.08", "l_shipdate": "1998-12-31", "l_commitdate": "1996-02-29",
		"l_receiptdate": "1992-01-02",
		"l_returnflag":  "N", "l_linestatus": "O", "l_shipinstruct": "NONE", "l_shipmode": "AIR",
	} {
		require.Equal(t, want, column(t, lines, name)[0], name)
	}
}

func TestTPCHSourceFaultsLeaveNothing(t *testing.T) {
	fault := errors.New("fault")
	for name, source := range map[string]func(int64, func(*dbgen.Order) error) error{
		"error": func(_ int64, handle func(*dbgen.Order) error) error {
			return errors.Join(handle(&dbgen.Order{Date: "1992-01-01"}), fault)
		},
		"bad date": func(_ int64, handle func(*dbgen.Order) error) error {
			return handle(&dbgen.Order{Date: "1992-13-01"})
		},
	} {
		dir := t.TempDir()
		err := tpchTask{Scale: 1, Orders: 4, Dir: dir}.run(source, func(tpchReport) { t.Error("reported") })
		require.Error(t, err, name)
		require.NotErrorIs(t, err, errEnough)
		requireEmpty(t, dir)
	}
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// The real generator, in a child process, for a thousandth of scale factor 1.
func TestTPCHInAChild(t *testing.T) {
	devicetest.SkipShort(t)
	if devicetest.RaceDetector {
		t.Skip("the child runs the library that makes the tables, in one thread")
	}
	dir := filepath.Join(t.TempDir(), "made", "here")
	calls := 0
	result, err := TPCH(context.Background(),
		TPCHSpec{ScaleFactor: 0.001, Dir: dir, Compression: "zstd", Progress: func(_, total int64) {
			require.Equal(t, int64(1500), total)
			calls++
		}})
	require.NoError(t, err)
	require.NotZero(t, calls)
	orders, lines := readTable(t, result.OrdersPath), readTable(t, result.LineitemPath)
	require.Equal(t, []int64{1500, 1500}, []int64{result.Orders, orders.NumRows()})
	require.Equal(t, result.Lines, lines.NumRows())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)

	// the first rows of scale factor 1, as the TPC-H specification prints them
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "32"}, column(t, orders, "o_orderkey")[:8])
	require.Equal(t, []string{"17", "36", "8", "28", "24", "32"}, column(t, lines, "l_quantity")[:6])

	// lines follow their orders, and the total of an order is the sum over its lines
	price, discount, tax := cents(t, lines, "l_extendedprice"), cents(t, lines, "l_discount"), cents(t, lines, "l_tax")
	totals, counts := map[int64]int64{}, map[int64]int64{}
	numbers := ints(t, lines, "l_linenumber")
	for row, key := range ints(t, lines, "l_orderkey") {
		counts[key]++
		require.Equal(t, counts[key], numbers[row])
		totals[key] += price[row] * (100 - discount[row]) / 100 * (100 + tax[row]) / 100
	}
	wanted := cents(t, orders, "o_totalprice")
	for row, key := range ints(t, orders, "o_orderkey") {
		require.Equal(t, wanted[row], totals[key], "order %d", key)
		require.True(t, counts[key] >= 1 && counts[key] <= 7)
		delete(counts, key)
	}
	require.Empty(t, counts, "lines without order")
	requireTPCHJoins(t, dir, orders, lines)
}

// The relations of the joins hold what their queries ask for.
func requireTPCHJoins(t *testing.T, dir string, orders, lines arrow.Table) {
	t.Helper()
	shipped, modes, instructions := column(t, lines, "l_shipdate"), column(t, lines, "l_shipmode"),
		column(t, lines, "l_shipinstruct")
	for name, want := range map[string]struct {
		left, right []string
		leftRows    int64
		keep        func(row int) bool
	}{
		"J1": {[]string{"o_orderkey", "o_custkey", "o_totalprice", "o_orderdate", "o_shippriority"},
			[]string{"l_orderkey", "l_extendedprice"}, 1500,
			func(row int) bool { return shipped[row][:4] == "1995" || shipped[row][:4] == "1996" }},
		"J2": {[]string{"o_orderkey", "o_custkey", "o_orderdate", "o_totalprice"}, []string{"l_orderkey", "l_quantity"},
			1500, func(int) bool { return true }},
		"J3": {[]string{"p_partkey", "p_brand", "p_size", "p_container"},
			[]string{"l_partkey", "l_quantity", "l_extendedprice", "l_discount"}, 200_000,
			func(row int) bool { return modes[row] == "AIR" && instructions[row] == "DELIVER IN PERSON" }},
	} {
		left, right, err := TPCHJoin(context.Background(), dir, name, 4)
		require.NoError(t, err, name)
		require.Equal(t, want.leftRows, left.NumRows(), name)
		for side, columns := range [][]string{want.left, want.right} {
			table := []arrow.Table{left, right}[side]
			for i, field := range table.Schema().Fields() {
				require.Equal(t, columns[i], field.Name)
				require.Equal(t, i == 0 || field.Name == "o_custkey", field.Type == arrow.PrimitiveTypes.Int32,
					"%s: only keys have 4 bytes", field.Name)
			}
		}
		// the right side holds the lines that pass, each with its values, in another order
		key, value := want.right[0], want.right[1]
		wanted, got := map[[2]int64]int{}, map[[2]int64]int{}
		keys, sources := ints(t, lines, key), cents(t, lines, value)
		for row := range keys {
			if want.keep(row) {
				wanted[[2]int64{keys[row], sources[row]}]++
			}
		}
		gotKeys, gotValues := ints(t, right, key), ints(t, right, value)
		for row := range gotKeys {
			got[[2]int64{gotKeys[row], gotValues[row]}]++
		}
		require.NotEmpty(t, wanted, name)
		require.Equal(t, wanted, got, name)
		primary := map[int64]int{}
		for row, key := range ints(t, left, want.left[0]) {
			primary[key] = row
		}
		require.Len(t, primary, int(left.NumRows()))
		for _, key := range gotKeys {
			require.Contains(t, primary, key, name)
		}
		if name == "J1" {
			require.Equal(t, ints(t, orders, "o_orderkey")[0], int64(1))
			require.Equal(t, cents(t, orders, "o_totalprice")[0], ints(t, left, "o_totalprice")[primary[1]])
			require.NotZero(t, primary[1], "rows are in random order")
		}
		left.Release()
		right.Release()
	}
	for name, want := range map[string]struct {
		left, right      string
		leftRows, perKey int64
	}{
		"JO1": {"c_custkey", "o_custkey", 150_000, 1}, "JO2": {"p_partkey", "l_partkey", 200_000, 1},
		"JO3": {"ps_partkey", "l_partkey", 800_000, 4}, "JO4": {"o_orderkey", "l_orderkey", 1500, 1},
	} {
		left, right, err := TPCHJoin(context.Background(), dir, name, 4)
		require.NoError(t, err, name)
		require.Equal(t, want.leftRows, left.NumRows(), name)
		rows := map[int64]int64{}
		for _, key := range ints(t, left, want.left) {
			rows[key]++
		}
		require.Len(t, rows, int(want.leftRows/want.perKey), name)
		for _, key := range ints(t, right, want.right) {
			require.Equal(t, want.perKey, rows[key], name)
		}
		left.Release()
		right.Release()
	}
	lineOrder, err := TPCHLineOrder(context.Background(), dir)
	require.NoError(t, err)
	defer lineOrder.Release()
	require.Equal(t, ints(t, lines, "l_orderkey"), ints(t, lineOrder, "orderkey"))
	require.Equal(t, cents(t, lines, "l_extendedprice"), ints(t, lineOrder, "extendedprice"))
	days, keys := map[int64]int64{}, ints(t, orders, "o_orderkey")
	for row, date := range column(t, orders, "o_orderdate") {
		day, err := time.Parse(time.DateOnly, date)
		require.NoError(t, err)
		days[keys[row]] = day.Unix() / (24 * 60 * 60)
	}
	dates := ints(t, lineOrder, "orderdate")
	for row, key := range ints(t, lineOrder, "orderkey") {
		require.Equal(t, days[key], dates[row])
	}
	_, _, err = TPCHJoin(context.Background(), dir, "J9", 4)
	require.ErrorIs(t, err, ErrSpec)
	_, _, err = TPCHJoin(context.Background(), t.TempDir(), "J2", 8)
	require.ErrorIs(t, err, tableio.ErrInput)
}

func TestTPCHCancelledLeavesNothing(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 500 * time.Millisecond} {
		dir := t.TempDir()
		ctx, cancel := context.WithTimeout(context.Background(), after)
		start := time.Now()
		_, err := TPCH(ctx, TPCHSpec{ScaleFactor: 1, Dir: dir})
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(start), after+4*time.Second)
		requireEmpty(t, dir)
	}
}

func TestTPCHFaultsOfTheChildAreTold(t *testing.T) {
	dir := t.TempDir()
	_, err := TPCH(context.Background(), TPCHSpec{ScaleFactor: 1, Dir: dir, Compression: "lzo"})
	require.ErrorIs(t, err, ErrGenerator)
	require.ErrorContains(t, err, `compression "lzo" is unknown`)
	requireEmpty(t, dir)

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = TPCH(context.Background(), TPCHSpec{ScaleFactor: 1, Dir: filepath.Join(file, "below")})
	require.Error(t, err)
}

func TestTPCHValidate(t *testing.T) {
	for _, sf := range []float64{0, -1, 1.5, math.NaN(), math.Inf(1), maxScale + 1, 1e-9} {
		err := TPCHSpec{ScaleFactor: sf, Dir: "x"}.Validate()
		require.ErrorIs(t, err, ErrSpec, "%v", sf)
	}
	for _, sf := range []float64{0.001, 0.999, 1, 2, 100} {
		require.NoError(t, TPCHSpec{ScaleFactor: sf, Dir: "x"}.Validate())
	}
	require.ErrorContains(t, TPCHSpec{ScaleFactor: 2}.Validate(), "directory is missing")
}
