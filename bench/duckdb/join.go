package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // registers the driver

	"github.com/spirjoin/spirjoin/bench/measure"
)

// joinTask is one inner equi-join of two files, Parquet or CSV.
type joinTask struct {
	left, right string
	on          []keyPair
	columns     []string // of the output; nil = all
	count       bool
	sum         string
	output      string
	limits      limits
	repeat      int
	checksum    bool
	direct      bool // one statement from file to file, as users of DuckDB run it
}

// limits are what a session may use. Zero values stand for DuckDB's defaults.
type limits struct {
	threads int
	memory  string // as in 2GiB
	tempDir string // where it spills
}

// settings are the statements that set the limits.
func (l limits) settings() (statements string) {
	if l.threads > 0 {
		statements += fmt.Sprintf("SET threads = %d;", l.threads)
	}
	if l.memory != "" {
		statements += "SET memory_limit = " + quoteText(l.memory) + ";"
	}
	if l.tempDir != "" {
		statements += "SET temp_directory = " + quoteText(l.tempDir) + ";"
	}
	return statements
}

// joinReport is what a run prints.
type joinReport struct {
	Engine        string    `json:"engine"`
	Version       string    `json:"version"`
	Threads       int       `json:"threads"`
	Mode          string    `json:"mode"` // count, sum or materialize
	*Loaded                 // nil with --direct
	RowsOut       int64     `json:"rows_out"`
	Sum           *string   `json:"sum,omitempty"` // of --sum; null sums are absent
	Seconds       []float64 `json:"seconds"`
	SecondsMedian float64   `json:"seconds_median"`
	WriteSeconds  float64   `json:"write_seconds,omitempty"`
	Checksum      *checksum `json:"checksum,omitempty"`
}

// summarize takes over the times of the runs.
func (r *joinReport) summarize(times []time.Duration) {
	for _, t := range times {
		r.Seconds = append(r.Seconds, t.Seconds())
	}
	r.SecondsMedian = measure.Summarize(times).Median.Seconds()
}

// Loaded describes tables that were loaded before the join.
type Loaded struct {
	RowsLeft    int64   `json:"rows_left"`
	RowsRight   int64   `json:"rows_right"`
	LoadSeconds float64 `json:"load_seconds"`
}

func (t joinTask) validate() error {
	var faults []string
	check := func(ok bool, fault string) {
		if !ok {
			faults = append(faults, fault)
		}
	}
	check(t.left != "" && t.right != "", "--left and --right are needed")
	check(len(t.on) > 0, "--on is needed")
	check(t.repeat > 0, "--repeat must be at least 1")
	check(t.limits.threads >= 0, "--threads must not be negative")
	materialize := !t.count && t.sum == ""
	check(materialize || t.output == "" && !t.checksum && t.columns == nil,
		"--count and --sum make no table: they exclude -o, --checksum and --columns")
	check(!t.count || t.sum == "", "--count and --sum exclude each other")
	check(!t.direct || !t.checksum || t.output == "",
		"--direct with -o makes no table to take a --checksum of; take that of the file: --checksum-file")
	if len(faults) > 0 {
		return fmt.Errorf("%w: %s", errUsage, strings.Join(faults, "; "))
	}
	return nil
}

// session is one connection to a database in memory.
type session struct {
	db   *sql.DB
	conn *sql.Conn
}

func openSession(ctx context.Context, l limits) (*session, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &session{db, conn}
	settings := "SET preserve_insertion_order = false; SET enable_progress_bar = false;" + l.settings()
	if err := s.exec(ctx, settings); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *session) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

func (s *session) exec(ctx context.Context, statement string) error {
	_, err := s.conn.ExecContext(ctx, statement)
	return err
}

// one reads the only row of a query.
func (s *session) one(ctx context.Context, query string, into ...any) error {
	return s.conn.QueryRowContext(ctx, query).Scan(into...)
}

// columnType is a column of a table and the type that DuckDB gives it.
type columnType struct{ name, typ string }

// describe lists the columns of a table or a file, which from names in SQL.
func (s *session) describe(ctx context.Context, from string) ([]columnType, error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "+from+")")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []columnType
	for rows.Next() {
		var c columnType
		if err := rows.Scan(&c.name, &c.typ); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// format is the format of a file by its name: csv or parquet.
func format(path string) string {
	if strings.HasSuffix(path, ".csv") {
		return "csv"
	}
	return "parquet"
}

// file is a table that is read from a file.
func file(path string) string { return "read_" + format(path) + "(" + quoteText(path) + ")" }

// outputColumn is a column of the result and where it comes from.
type outputColumn struct {
	name, source string // source is the column's name in its table
	left         bool
}

// outputColumns are all columns of the left table, then the columns of the right table without its keys. A right column
// whose name the left table has gets the suffix _right.
func outputColumns(left, right []columnType, on []keyPair) []outputColumn {
	var out []outputColumn
	taken := map[string]bool{}
	for _, c := range left {
		out = append(out, outputColumn{c.name, c.name, true})
		taken[c.name] = true
	}
	for _, c := range right {
		if slices.ContainsFunc(on, func(k keyPair) bool { return k.right == c.name }) {
			continue
		}
		name := c.name
		for taken[name] {
			name += "_right"
		}
		taken[name] = true
		out = append(out, outputColumn{name, c.name, false})
	}
	return out
}

// choose picks output columns by name, in the order asked for.
func choose(all []outputColumn, names []string) ([]outputColumn, error) {
	if names == nil {
		return all, nil
	}
	var out []outputColumn
	for _, name := range names {
		i := slices.IndexFunc(all, func(c outputColumn) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: there is no output column %q", errUsage, name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

func (c outputColumn) expression() string {
	if c.left {
		return "l." + quoteName(c.source)
	}
	return "r." + quoteName(c.source)
}

// needed are the columns of a table that the join takes: its keys and what of it is in the output.
func (t joinTask) needed(used []outputColumn, left bool) (names []string) {
	for _, k := range t.on {
		if left {
			names = append(names, k.left)
		} else {
			names = append(names, k.right)
		}
	}
	for _, c := range used {
		if c.left == left {
			names = append(names, c.source)
		}
	}
	return names
}

// load copies columns of a file, which may be named twice, into a table in memory.
func (s *session) load(ctx context.Context, table, path string, names []string) (rows int64, err error) {
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		names[i] = quoteName(name)
	}
	err = s.exec(ctx, "CREATE TABLE "+table+" AS SELECT "+strings.Join(names, ", ")+" FROM "+file(path))
	if err != nil {
		return 0, fmt.Errorf("load %s: %w", path, err)
	}
	return rows, s.one(ctx, "SELECT count(*) FROM "+table, &rows)
}

// run loads both tables, times the joins and reports.
func (t joinTask) run(ctx context.Context) (report joinReport, err error) {
	s, err := openSession(ctx, t.limits)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	report = joinReport{Engine: "duckdb", Mode: t.mode()}
	if err := s.one(ctx, "SELECT version(), current_setting('threads')", &report.Version, &report.Threads); err != nil {
		return report, err
	}
	used, err := t.plan(ctx, s)
	if err != nil {
		return report, err
	}
	if t.direct {
		return t.runDirect(ctx, s, used, report)
	}
	report.Loaded = &Loaded{}
	start := time.Now()
	if report.RowsLeft, err = s.load(ctx, "l", t.left, t.needed(used, true)); err != nil {
		return report, err
	}
	if report.RowsRight, err = s.load(ctx, "r", t.right, t.needed(used, false)); err != nil {
		return report, err
	}
	report.LoadSeconds = time.Since(start).Seconds()
	var times []time.Duration
	for range t.repeat {
		took, err := t.once(ctx, s, used, t.condition(), &report)
		if err != nil {
			return report, fmt.Errorf("join: %w", err)
		}
		times = append(times, took)
	}
	report.summarize(times)
	return report, t.finish(ctx, s, &report)
}

func (t joinTask) mode() string {
	switch {
	case t.count:
		return "count"
	case t.sum != "":
		return "sum"
	}
	return "materialize"
}

// plan finds the columns that the task needs besides its keys.
func (t joinTask) plan(ctx context.Context, s *session) ([]outputColumn, error) {
	left, err := s.describe(ctx, file(t.left))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.left, err)
	}
	right, err := s.describe(ctx, file(t.right))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.right, err)
	}
	all := outputColumns(left, right, t.on)
	switch {
	case t.count:
		return nil, nil
	case t.sum != "":
		return choose(all, []string{t.sum})
	}
	return choose(all, t.columns)
}

// from is the FROM clause of the join of two relations: tables, or files.
func (t joinTask) from(left, right string) string {
	var parts []string
	for _, k := range t.on {
		parts = append(parts, "l."+quoteName(k.left)+" = r."+quoteName(k.right))
	}
	return " FROM " + left + " AS l JOIN " + right + " AS r ON " + strings.Join(parts, " AND ")
}

func (t joinTask) condition() string { return t.from("l", "r") }

// selection is the list of output columns of a SELECT.
func selection(used []outputColumn) string {
	var expressions []string
	for _, c := range used {
		expressions = append(expressions, c.expression()+" AS "+quoteName(c.name))
	}
	return strings.Join(expressions, ", ")
}

// runDirect times one statement that reads both files, joins them and writes the result to a file or, without -o, to a
// table in memory. Nothing is loaded.
func (t joinTask) runDirect(
	ctx context.Context, s *session, used []outputColumn, report joinReport,
) (joinReport, error) {
	from := t.from(file(t.left), file(t.right))
	var times []time.Duration
	for range t.repeat {
		var took time.Duration
		var err error
		if t.output == "" {
			took, err = t.once(ctx, s, used, from, &report)
		} else {
			start := time.Now()
			err = s.copyTo(ctx, "(SELECT "+selection(used)+from+")", t.output, &report.RowsOut)
			took = time.Since(start)
		}
		if err != nil {
			return report, fmt.Errorf("join: %w", err)
		}
		times = append(times, took)
	}
	report.summarize(times)
	return report, t.addChecksum(ctx, s, &report)
}

func (t joinTask) sumInto(ctx context.Context, s *session, used []outputColumn, from string, report *joinReport) error {
	var sum sql.NullString
	err := s.one(ctx, "SELECT count(*), sum("+used[0].expression()+")::VARCHAR"+from, &report.RowsOut, &sum)
	if sum.Valid {
		report.Sum = &sum.String
	}
	return err
}

// copyTo writes a table or a query to a file, which appears whole or not at all, and counts its rows.
func (s *session) copyTo(ctx context.Context, what, path string, rows *int64) error {
	temp := path + ".tmp"
	if err := s.one(ctx, "COPY "+what+" TO "+quoteText(temp)+" (FORMAT "+format(path)+")", rows); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// once runs the join of what from names and returns its time. A table of a run before is dropped outside the measured
// time.
func (t joinTask) once(ctx context.Context, s *session, used []outputColumn, from string,
	report *joinReport) (time.Duration, error) {
	if err := s.exec(ctx, "DROP TABLE IF EXISTS out"); err != nil {
		return 0, err
	}
	start := time.Now()
	var err error
	switch report.Mode {
	case "count":
		err = s.one(ctx, "SELECT count(*)"+from, &report.RowsOut)
	case "sum":
		err = t.sumInto(ctx, s, used, from, report)
	default:
		err = s.exec(ctx, "CREATE TABLE out AS SELECT "+selection(used)+from)
	}
	took := time.Since(start)
	if err == nil && report.Mode == "materialize" {
		err = s.one(ctx, "SELECT count(*) FROM out", &report.RowsOut)
	}
	return took, err
}

// addChecksum adds the checksum of the table of the output, if it is wanted.
func (t joinTask) addChecksum(ctx context.Context, s *session, report *joinReport) error {
	if !t.checksum {
		return nil
	}
	sum, err := s.checksum(ctx, "out", nil)
	report.Checksum = &sum
	return err
}

// finish adds the checksum and writes the file, which appears whole or not at all.
func (t joinTask) finish(ctx context.Context, s *session, report *joinReport) error {
	if err := t.addChecksum(ctx, s, report); err != nil || t.output == "" {
		return err
	}
	start := time.Now()
	if err := s.copyTo(ctx, "out", t.output, &report.RowsOut); err != nil {
		return err
	}
	report.WriteSeconds = time.Since(start).Seconds()
	return nil
}
