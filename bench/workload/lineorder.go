package workload

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// The columns of LineOrder, TPC-H's lineitem joined with orders, as far as GARUDA 6.1.1 groups them: keys of 4 bytes,
// days since 1970, and a price in hundredths.
var lineOrderColumns = []intColumn{{"orderkey", 4}, {"orderdate", 4}, {"shippriority", 4}, {"extendedprice", 8}}

// Of TPC-H: days of orders, from 1992-01-01 to 1998-08-02, and the most lines of one.
const (
	firstOrderDay = 8035
	orderDays     = 2406
	mostLines     = 7
)

// LineOrder generates rows rows of LineOrder. Orders have one to seven lines, which follow each other as in the files,
// and a random day; all priorities are 0. The caller releases the table. Errors: ctx's.
func LineOrder(ctx context.Context, rows int64, seed uint64) (arrow.Table, error) {
	order, _ := Multiplicity{1, mostLines}.keys(rows)
	return build(ctx, nil, lineOrderColumns, rows, func(first int64, values []int64, put func(column int)) {
		for c, value := range []func(row int64) int64{
			order,
			func(row int64) int64 { return firstOrderDay + int64(at(seed, uint64(order(row)))%orderDays) },
			func(int64) int64 { return 0 },
			func(row int64) int64 { return 90_000 + int64(at(seed+1, uint64(row))%10_000_000) },
		} {
			for i := range values {
				values[i] = value(first + int64(i))
			}
			put(c)
		}
	})
}

// TPCHLineOrder joins the files that [TPCH] wrote to a folder: the lines in their order, with the day and the priority
// of their order. The caller releases the table. Errors: read errors of tableio, or ctx's.
func TPCHLineOrder(ctx context.Context, dir string) (arrow.Table, error) {
	orders, err := tpchSide{file: ordersFile, columns: []string{"o_orderkey", "o_orderdate", "o_shippriority"}}.read(ctx, dir)
	if err != nil {
		return nil, err
	}
	lines, err := tpchSide{file: lineitemFile, columns: []string{"l_orderkey", "l_extendedprice"}}.read(ctx, dir)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]int, len(orders[0]))
	for row, key := range orders[0] {
		of[key] = row
	}
	return build(ctx, nil, lineOrderColumns, int64(len(lines[0])),
		func(first int64, values []int64, put func(column int)) {
			keys := lines[0][first:][:len(values)]
			copy(values, keys)
			put(0)
			for c, column := range orders[1:] {
				for i, key := range keys {
					values[i] = column[of[key]]
				}
				put(1 + c)
			}
			copy(values, lines[1][first:])
			put(3)
		})
}

// PartSupp generates rows rows of TPC-H's partsupp, with partkey and supplycost: four rows for each part, with a random
// cost in hundredths. The caller releases the table. Errors: ctx's.
func PartSupp(ctx context.Context, rows int64, seed uint64) (arrow.Table, error) {
	return build(ctx, nil, []intColumn{{"partkey", 4}, {"supplycost", 8}}, rows,
		func(first int64, values []int64, put func(column int)) {
			for i := range values {
				values[i] = (first+int64(i))/suppliersOfPart + 1
			}
			put(0)
			for i := range values {
				values[i] = supplyCost(at(seed, uint64(first)+uint64(i)))
			}
			put(1)
		})
}

// Grouped generates a table of a key of 4 bytes, uniform in 0 to groups-1, and a value of 4 bytes, from 0 to 999. The
// caller releases it. Errors: ctx's.
func Grouped(ctx context.Context, rows, groups int64, seed uint64) (arrow.Table, error) {
	return build(ctx, nil, []intColumn{{"key", 4}, {"value", 4}}, rows,
		func(first int64, values []int64, put func(column int)) {
			for c, most := range []int64{groups, 1000} {
				for i := range values {
					values[i] = int64(at(seed+uint64(c), uint64(first)+uint64(i)) % uint64(most))
				}
				put(c)
			}
		})
}
