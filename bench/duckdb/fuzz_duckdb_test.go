package main

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/duckdb/duckdb-go/v2"
)

// DuckDB says which rows a join has. It is given the key columns in its own types, and the number of each row; it
// returns numbers of rows. What the rows hold is read from the tables that the engine was given, so that payload may be
// of types that DuckDB has not.
//
// Where DuckDB compares in another way than docs/keys.md, its SQL says more than a = b:
//
//   - It casts to the type of one side, and rounds or fails where a value does not fit: integers are compared with
//     floats as DOUBLE, and decimals with numbers of more than 38 digits end the query. exact casts both sides to a
//     type that holds either without loss, and a value that cannot be there, which equals nothing, is NULL.
//   - Its date and timestamp types have infinities, other ranges, and no nanoseconds with a time zone or in an
//     instant: moments are compared as HUGEINT, in nanoseconds.
//
// DuckDB cannot hold decimals of more than 38 digits: they are not drawn. NaN equals NaN and -0 equals 0 in DuckDB too.

// exact is an SQL expression of a key column of type own. It equals the other side's expression where the keys are
// equal.
func exact(column string, own, other keyType) string {
	scale := func(t keyType) int32 {
		if d, ok := t.arrow.(arrow.DecimalType); ok {
			return d.GetScale()
		}
		return 0
	}
	switch {
	case own.family == nulls1 || other.family == nulls1:
		return column + "::VARCHAR"
	case own.family == decimals || other.family == decimals:
		return fmt.Sprintf("TRY_CAST(%s AS DECIMAL(38,%d))", column, max(scale(own), scale(other)))
	case own.family == floats && other.family == floats:
		return column + "::DOUBLE"
	case own.family == floats:
		return fmt.Sprintf("CASE WHEN isfinite(%[1]s) AND %[1]s = trunc(%[1]s) AND abs(%[1]s) < 1e30 "+
			"THEN %[1]s::DOUBLE::HUGEINT END", column)
	case own.unit > 0:
		return fmt.Sprintf("%s::HUGEINT * %d", column, own.unit)
	case own.family == booleans || own.family >= texts:
		return column
	}
	return column + "::HUGEINT"
}

// duckTables are the keys of both sides of a case in DuckDB.
type duckTables struct {
	s    *session
	c    *fuzzCase
	rows [2]int64
	// from and to are the rows of each side that take part.
	from, to [2]int64
}

var duckNames = [2]string{"l", "r"}

// load brings the keys of both tables to DuckDB.
func load(ctx context.Context, s *session, c *fuzzCase, tables [2]*fuzzTable) (*duckTables, error) {
	d := &duckTables{s: s, c: c}
	for side, t := range tables {
		d.rows[side] = t.table.NumRows()
		d.to[side] = d.rows[side]
		if err := s.exec(ctx, d.create(side)); err != nil {
			return nil, err
		}
		if d.rows[side] == 0 {
			continue
		}
		err := s.conn.Raw(func(conn any) error {
			a, err := duckdb.NewAppenderFromConn(conn.(driver.Conn), "", duckNames[side])
			if err != nil {
				return err
			}
			row := make([]driver.Value, 1+len(t.keys))
			for i := range int(d.rows[side]) {
				row[0] = int32(i)
				for k, column := range t.keys {
					row[1+k] = duckValue(t.columns[column], i)
				}
				if err := a.AppendRow(row...); err != nil {
					return err
				}
			}
			return a.Close()
		})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *duckTables) create(side int) string {
	var sql strings.Builder
	fmt.Fprintf(&sql, "CREATE OR REPLACE TEMP TABLE %s(n INTEGER", duckNames[side])
	for k, key := range d.c.Keys {
		fmt.Fprintf(&sql, ", k%d %s", k, keyTypes[key.Types[side]].duck)
	}
	return sql.String() + ")"
}

// table is the rows of a side that take part, as n and keys x0, x1 that compare with =. Where NULL is more than a key
// that equals nothing, z0 and z1 tell it from a value that the other side cannot have.
func (d *duckTables) table(side int) string {
	var sql strings.Builder
	sql.WriteString("(SELECT n")
	for k, key := range d.c.Keys {
		x := exact(fmt.Sprint("k", k), keyTypes[key.Types[side]], keyTypes[key.Types[1-side]])
		fmt.Fprintf(&sql, ", %s AS x%d", x, k)
		if key.NullsEqual || d.c.How == "not-in" {
			fmt.Fprintf(&sql, ", CASE WHEN k%d IS NULL THEN 'null' WHEN %s IS NULL THEN 'only %s' ELSE 'value' END AS z%d", k, x,
				duckNames[side], k)
		}
	}
	fmt.Fprintf(&sql, " FROM %s", duckNames[side])
	if d.to[side]-d.from[side] < d.rows[side] {
		fmt.Fprintf(&sql, " WHERE n >= %d AND n < %d", d.from[side], d.to[side])
	}
	return sql.String() + ") AS " + duckNames[side]
}

// on is the condition of the join, of two tables of these names.
func (d *duckTables) on(left, right string) string {
	var terms []string
	for k, key := range d.c.Keys {
		if key.NullsEqual {
			terms = append(terms, fmt.Sprintf("%[1]s.x%[2]d IS NOT DISTINCT FROM %[3]s.x%[2]d AND %[1]s.z%[2]d = %[3]s.z%[2]d",
				left, k, right))
		} else {
			terms = append(terms, fmt.Sprintf("%s.x%d = %s.x%d", left, k, right, k))
		}
	}
	return " ON " + strings.Join(terms, " AND ")
}

// query is the join that gives its rows as numbers of rows of both sides, -1 for none, and whether there is a partner.
func (d *duckTables) query() string {
	l, r, on := d.table(0), d.table(1), d.on("l", "r")
	both := func(how string) string {
		return "SELECT coalesce(l.n, -1), coalesce(r.n, -1), true FROM " + l + " " + how + " JOIN " + r + on
	}
	switch d.c.How {
	case "cross":
		return "SELECT l.n, r.n, true FROM " + l + " CROSS JOIN " + r
	case "semi", "anti":
		return "SELECT l.n, -1, true FROM " + l + " " + d.c.How + " JOIN " + r + on
	case "right-semi", "right-anti":
		return "SELECT -1, r.n, true FROM " + r + " " + strings.TrimPrefix(d.c.How, "right-") + " JOIN " + l + on
	case "not-in": // a value that the other side cannot have differs from all of it, and is no NULL
		return "SELECT l.n, -1, true FROM " + l + " WHERE CASE l.z0 WHEN 'only l' THEN 'null' NOT IN (SELECT z0 FROM " + r +
			") WHEN 'null' THEN NOT EXISTS (FROM " + r + ") ELSE l.x0 NOT IN (SELECT x0 FROM " + r + " WHERE z0 <> 'only r') END"
	case "mark":
		return "SELECT l.n, -1, EXISTS (FROM " + r + strings.Replace(on, " ON ", " WHERE ", 1) + ") FROM " + l
	}
	return both(d.c.How)
}

// rowOf is a row of the output by the numbers of its rows of both tables, -1 for none.
type rowOf struct {
	from   [2]int32
	marked bool
}

// join are the rows of the output, in any order.
func (d *duckTables) join(ctx context.Context) (found []rowOf, err error) {
	rows, err := d.s.conn.QueryContext(ctx, d.query())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r rowOf
		if err := rows.Scan(&r.from[0], &r.from[1], &r.marked); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// count is how many rows the output has. It makes no pairs, of which there may be more than DuckDB can count in time.
func (d *duckTables) count(ctx context.Context) (rows uint64, err error) {
	grouped := func(side int, name string) string {
		return "(SELECT * EXCLUDE n, count(*) AS rows FROM " + d.table(side) + " GROUP BY ALL) AS " + name
	}
	l, r, on := d.table(0), d.table(1), d.on("l", "r")
	var terms []string
	pairs := "(SELECT sum(a.rows * b.rows) FROM " + grouped(0, "a") + " JOIN " + grouped(1, "b") + d.on("a", "b") + ")"
	anti := [2]string{"(SELECT count(*) FROM " + l + " ANTI JOIN " + r + on + ")",
		"(SELECT count(*) FROM " + r + " ANTI JOIN " + l + on + ")"}
	switch d.c.How {
	case "cross":
		return uint64(d.to[0]-d.from[0]) * uint64(d.to[1]-d.from[1]), nil
	case "mark":
		return uint64(d.to[0] - d.from[0]), nil
	case "inner":
		terms = []string{pairs}
	case "left":
		terms = []string{pairs, anti[0]}
	case "right":
		terms = []string{pairs, anti[1]}
	case "full":
		terms = []string{pairs, anti[0], anti[1]}
	case "anti":
		terms = anti[:1]
	case "right-anti":
		terms = anti[1:]
	default: // semi, right-semi, not-in
		terms = []string{"(SELECT count(*) FROM (" + d.query() + "))"}
	}
	for i := range terms {
		terms[i] = "coalesce(" + terms[i] + ", 0)"
	}
	err = d.s.one(ctx, "SELECT ("+strings.Join(terms, " + ")+")::UBIGINT", &rows)
	return rows, err
}

// repeats is how many rows the most frequent key of a side has; compared with the other side where that is asked for,
// otherwise by itself, where a value that the other side cannot have is a key too.
func (d *duckTables) repeats(ctx context.Context, side int, where string) (rows int64, err error) {
	keys, valid := []string(nil), []string{"true"}
	for k, key := range d.c.Keys {
		own := keyTypes[key.Types[side]]
		keys = append(keys, exact(fmt.Sprint("k", k), own, own))
		if !key.NullsEqual {
			valid = append(valid, fmt.Sprintf("k%d IS NOT NULL", k))
		}
	}
	err = d.s.one(ctx, fmt.Sprintf("SELECT coalesce(max(rows), 0) FROM (SELECT %s, count(*) AS rows FROM %s WHERE %s AND "+
		"n >= %d AND n < %d%s GROUP BY %s)", strings.Join(keys, ", "), duckNames[side], strings.Join(valid, " AND "),
		d.from[side], d.to[side], where, strings.Join(keys, ", ")), &rows)
	return rows, err
}
