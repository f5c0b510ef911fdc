package workload

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/tableio"
)

// tpchJoin is a join in the plan of a query: its columns, the key first, then keys of other tables, then what is no
// key.
type tpchJoin struct{ left, right tpchSide }

type tpchSide struct {
	file    string // empty: made
	made    func(scale int64) [][]int64
	columns []string
	keys    int // the first columns, which are keys
	where   map[string]filter
}

// filter says which values of a column pass; nil for a column of another type.
type filter func(column arrow.Array) func(row int) bool

// The joins of GFTR table 6, and JO1 to JO4 of GARUDA 6.1.1. TPC-H's Q19 asks for the ship modes AIR and AIR REG, of
// which the generator makes the first only.
var tpchJoins = map[string]tpchJoin{
	"J1": {
		left: tpchSide{file: ordersFile, columns: []string{"o_orderkey", "o_custkey", "o_totalprice", "o_orderdate", "o_shippriority"}, keys: 2},
		right: tpchSide{file: lineitemFile, columns: []string{"l_orderkey", "l_extendedprice"}, keys: 1,
			where: map[string]filter{"l_shipdate": within("1995-01-01", "1996-12-31")}},
	},
	"J2": {
		left:  tpchSide{file: ordersFile, columns: []string{"o_orderkey", "o_custkey", "o_orderdate", "o_totalprice"}, keys: 2},
		right: tpchSide{file: lineitemFile, columns: []string{"l_orderkey", "l_quantity"}, keys: 1},
	},
	"J3": {
		left: tpchSide{made: parts, columns: []string{"p_partkey", "p_brand", "p_size", "p_container"}, keys: 1},
		right: tpchSide{file: lineitemFile, columns: []string{"l_partkey", "l_quantity", "l_extendedprice", "l_discount"}, keys: 1,
			where: map[string]filter{"l_shipmode": is("AIR"), "l_shipinstruct": is("DELIVER IN PERSON")}},
	},
	"JO1": {
		left:  tpchSide{made: customers, columns: []string{"c_custkey", "c_acctbal"}, keys: 1},
		right: tpchSide{file: ordersFile, columns: []string{"o_custkey", "o_totalprice"}, keys: 1},
	},
	"JO2": {
		left:  tpchSide{made: parts, columns: []string{"p_partkey", "p_size"}, keys: 1},
		right: tpchSide{file: lineitemFile, columns: []string{"l_partkey", "l_extendedprice"}, keys: 1},
	},
	"JO3": {
		left:  tpchSide{made: partSupplies, columns: []string{"ps_partkey", "ps_supplycost"}, keys: 1},
		right: tpchSide{file: lineitemFile, columns: []string{"l_partkey", "l_extendedprice"}, keys: 1},
	},
	"JO4": {
		left:  tpchSide{file: ordersFile, columns: []string{"o_orderkey", "o_totalprice"}, keys: 1},
		right: tpchSide{file: lineitemFile, columns: []string{"l_orderkey", "l_extendedprice"}, keys: 1},
	},
}

func within(first, last string) filter {
	b := newRowBuilder(OrdersSchema)
	from, to := b.days(first), b.days(last)
	return func(column arrow.Array) func(row int) bool {
		dates, ok := column.(*array.Date32)
		if !ok {
			return nil
		}
		return func(row int) bool { return from <= dates.Value(row) && dates.Value(row) <= to }
	}
}

func is(text string) filter {
	return func(column arrow.Array) func(row int) bool {
		texts, ok := column.(*array.String)
		if !ok {
			return nil
		}
		return func(row int) bool { return texts.Value(row) == text }
	}
}

// TPCHJoinText says what the join of that name compares, and which columns it has beside.
func TPCHJoinText(name string) string {
	left, right := tpchJoins[name].left, tpchJoins[name].right
	return fmt.Sprintf("%s = %s, with %s", left.columns[0], right.columns[0],
		strings.Join(slices.Concat(left.columns[1:], right.columns[1:]), ", "))
}

// TPCHJoin derives the relations of a join of GFTR table 6 (J1, J2, J3) or of GARUDA 6.1.1 (JO1 to JO4, of a column
// beside the key each) from the files that [TPCH] wrote to a folder: the filters of their queries are applied, rows are
// in random order, keys have keyBytes bytes and all other values 8, money is in hundredths, dates are in days. There
// are no files of part, customer and partsupp: these are generated with their keys, and random values in their columns.
// The caller releases both tables, whose first column is the key. Errors: ErrSpec, read errors of tableio, or ctx's.
func TPCHJoin(ctx context.Context, dir, name string, keyBytes int) (left, right arrow.Table, err error) {
	join, ok := tpchJoins[name]
	if !ok || keyBytes != 4 && keyBytes != 8 {
		return nil, nil, fmt.Errorf("%w: join %q with keys of %d bytes; there are %v, with 4 or 8", ErrSpec, name, keyBytes, slices.Sorted(maps.Keys(tpchJoins)))
	}
	if left, err = join.left.make(ctx, dir, keyBytes, 1); err != nil {
		return nil, nil, err
	}
	if right, err = join.right.make(ctx, dir, keyBytes, 2); err != nil {
		left.Release()
		return nil, nil, err
	}
	return left, right, nil
}

func (s tpchSide) make(ctx context.Context, dir string, keyBytes int, seed uint64) (arrow.Table, error) {
	var columns []intColumn
	for c, name := range s.columns {
		columns = append(columns, intColumn{name, 8})
		if c < s.keys {
			columns[c].bytes = keyBytes
		}
	}
	read := s.read
	if s.file == "" {
		read = s.readMade
	}
	rows, err := read(ctx, dir)
	if err != nil {
		return nil, err
	}
	count := int64(len(rows[0]))
	order := NewPermutation(count, seed)
	return build(ctx, nil, columns, count, func(first int64, values []int64, put func(column int)) {
		from := make([]int64, len(values))
		for i := range from {
			from[i] = order.At(first + int64(i))
		}
		for c, column := range rows {
			for i, row := range from {
				values[i] = column[row]
			}
			put(c)
		}
	})
}

// openTPCH opens one of the files.
func openTPCH(ctx context.Context, dir, file string) (*tableio.Reader, error) {
	return tableio.Open(ctx, filepath.Join(dir, file), tableio.ReadOptions{Format: tableio.Parquet})
}

// CheckTPCH returns an error if the files that [TPCH] writes to a folder cannot be opened. Errors: read errors of
// tableio, or ctx's.
func CheckTPCH(ctx context.Context, dir string) error {
	for _, file := range []string{ordersFile, lineitemFile} {
		reader, err := openTPCH(ctx, dir, file)
		if err != nil {
			return err
		}
		reader.Close()
	}
	return nil
}

// read returns the columns of the rows that pass the filters.
func (s tpchSide) read(ctx context.Context, dir string) ([][]int64, error) {
	reader, err := openTPCH(ctx, dir, s.file)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	drop := make([]bool, reader.Rows())
	for name, where := range s.where {
		err := eachChunk(ctx, reader, name, func(first int, chunk arrow.Array) error {
			passes := where(chunk)
			if passes == nil {
				return fmt.Errorf("%w: %s has type %v", ErrSpec, name, chunk.DataType())
			}
			for row := range chunk.Len() {
				drop[first+row] = drop[first+row] || !passes(row)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	columns := make([][]int64, len(s.columns))
	for c, name := range s.columns {
		columns[c] = make([]int64, 0, reader.Rows())
		err := eachChunk(ctx, reader, name, func(first int, chunk arrow.Array) error {
			value := integers(chunk)
			if value == nil {
				return fmt.Errorf("%w: %s has type %v", ErrSpec, name, chunk.DataType())
			}
			for row := range chunk.Len() {
				if !drop[first+row] {
					columns[c] = append(columns[c], value(row))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// eachChunk reads a column and calls work for each chunk of it.
func eachChunk(ctx context.Context, reader *tableio.Reader, name string, work func(first int, chunk arrow.Array) error) error {
	table, err := reader.Read(ctx, []string{name})
	if err != nil {
		return err
	}
	defer table.Release()
	first := 0
	for _, chunk := range table.Column(0).Data().Chunks() {
		if err := work(first, chunk); err != nil {
			return err
		}
		first += chunk.Len()
	}
	return nil
}

// integers reads values as integers, dates in days and money in hundredths; nil for a column of another type.
func integers(column arrow.Array) func(row int) int64 {
	switch column := column.(type) {
	case *array.Int64:
		return column.Value
	case *array.Int32:
		return func(row int) int64 { return int64(column.Value(row)) }
	case *array.Date32:
		return func(row int) int64 { return int64(column.Value(row)) }
	case *array.Decimal128:
		return func(row int) int64 { return int64(column.Value(row).LowBits()) }
	}
	return nil
}

// readMade makes the columns of a table that there is no file of, for the scale factor of orders.
func (s tpchSide) readMade(ctx context.Context, dir string) ([][]int64, error) {
	orders, err := openTPCH(ctx, dir, ordersFile)
	if err != nil {
		return nil, err
	}
	defer orders.Close()
	return s.made(int64(math.Ceil(float64(orders.Rows()) / ordersPerScale)))[:len(s.columns)], nil
}

// Rows of the tables that there is no file of, for a scale factor of 1, and suppliers of a part.
const (
	partsPerScale     = 200_000
	customersPerScale = 150_000
	suppliersOfPart   = 4
)

// parts are as many as lineitem refers to: keys from 1 on, one of 25 brands, 50 sizes and 40 containers.
func parts(scale int64) [][]int64 {
	return madeRows(scale*partsPerScale, partsPerScale, func(row int64, random uint64) []int64 {
		return []int64{row + 1, int64(random % 25), int64(random >> 8 % 50), int64(random >> 16 % 40)}
	})
}

// customers have keys from 1 on and a balance in hundredths.
func customers(scale int64) [][]int64 {
	return madeRows(scale*customersPerScale, customersPerScale, func(row int64, random uint64) []int64 {
		return []int64{row + 1, int64(random%1_100_000) - 99_999}
	})
}

// partSupplies are the key of a part and a cost in hundredths, for each of its suppliers.
func partSupplies(scale int64) [][]int64 {
	return madeRows(scale*partsPerScale*suppliersOfPart, suppliersOfPart, func(row int64, random uint64) []int64 {
		return []int64{row/suppliersOfPart + 1, supplyCost(random)}
	})
}

// supplyCost is from 1.00 to 1000.00, in hundredths.
func supplyCost(random uint64) int64 { return 100 + int64(random%99_901) }

// madeRows returns the columns of rows, of which each is made of its number and a random word.
func madeRows(count int64, seed uint64, row func(row int64, random uint64) []int64) (columns [][]int64) {
	for i := range count {
		values := row(i, at(seed, uint64(i)))
		if columns == nil {
			columns = make([][]int64, len(values))
			for c := range columns {
				columns[c] = make([]int64, count)
			}
		}
		for c, v := range values {
			columns[c][i] = v
		}
	}
	return columns
}
