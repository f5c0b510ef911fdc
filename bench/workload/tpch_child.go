package workload

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/pingcap/go-tpc/tpch/dbgen"

	"github.com/spirjoin/spirjoin/tableio"
)

// RunTPCHChildIfAsked turns the process into the TPC-H generator and does not return, if the environment variable
// TPCHChild is set; otherwise it does nothing. Call it first in main.
func RunTPCHChildIfAsked() {
	if task, asked := os.LookupEnv(TPCHChild); asked {
		os.Exit(TPCHChildMain(task))
	}
}

// TPCHChildMain runs the generator for a task, the value of TPCHChild, and returns the exit code. Reports go to
// standard output, one JSON object per line. It ends the process when standard input closes, because the parent has
// then ended.
func TPCHChildMain(task string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	reports := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // dbgen prints what it does
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stdout = null
	}
	var t tpchTask
	err := json.Unmarshal([]byte(task), &t)
	if err == nil {
		err = t.run(dbgenOrders, func(report tpchReport) { _ = reports.Encode(report) })
	}
	if err != nil {
		_ = reports.Encode(tpchReport{Error: err.Error()})
		return 1
	}
	return 0
}

// dbgenOrders calls handle for every order of a whole scale factor, until handle
// gives an error.
func dbgenOrders(scale int64, handle func(*dbgen.Order) error) error {
	dbgen.InitDbGen(scale)
	loader := orderLoader(handle)
	return dbgen.DbGen(map[dbgen.Table]dbgen.Loader{dbgen.TOrderLine: loader}, []dbgen.Table{dbgen.TOrderLine})
}

type orderLoader func(*dbgen.Order) error

func (l orderLoader) Load(item any) error { return l(item.(*dbgen.Order)) }
func (l orderLoader) Flush() error        { return nil }

var errEnough = errors.New("enough orders")

const reportOrders = 50_000 // between two reports

// run writes both tables. The source makes rows on one core, each table is
// encoded on the others.
func (t tpchTask) run(source func(scale int64, handle func(*dbgen.Order) error) error, report func(tpchReport)) error {
	orders, err := newTableSink(filepath.Join(t.Dir, ordersFile), OrdersSchema, t.Compression)
	if err != nil {
		return err
	}
	defer orders.abort()
	lines, err := newTableSink(filepath.Join(t.Dir, lineitemFile), LineitemSchema, t.Compression)
	if err != nil {
		return err
	}
	defer lines.abort()
	made := tpchReport{}
	var failure error
	sourceErr := source(t.Scale, func(order *dbgen.Order) error {
		if made.Orders == t.Orders {
			failure = errEnough
			return failure
		}
		orders.rows.appendOrder(order)
		for i := range order.Lines {
			lines.rows.appendLine(&order.Lines[i])
		}
		made.Orders++
		made.Lines += int64(len(order.Lines))
		if failure = errors.Join(orders.rowsDone(1), lines.rowsDone(int64(len(order.Lines)))); failure != nil {
			return failure
		}
		if made.Orders%reportOrders == 0 {
			report(made)
		}
		return nil
	})
	switch {
	case failure != nil && !errors.Is(failure, errEnough):
		return failure
	case failure == nil && sourceErr != nil:
		return sourceErr
	}
	if err := errors.Join(orders.finish(), lines.finish()); err != nil {
		return err
	}
	made.Done = true
	report(made)
	return nil
}

const sinkBatchRows = 1 << 17

// tableSink collects rows into batches, which the writer encodes while more rows are made.
type tableSink struct {
	rows    *rowBuilder
	pending int64
	writer  *tableio.Writer
}

func newTableSink(path string, schema *arrow.Schema, compression string) (*tableSink, error) {
	writer, err := tableio.Create(path, schema, tableio.WriteOptions{Format: tableio.Parquet, Compression: compression})
	if err != nil {
		return nil, err
	}
	return &tableSink{rows: newRowBuilder(schema), writer: writer}, nil
}

// rowsDone counts rows appended and hands a full batch on.
func (s *tableSink) rowsDone(rows int64) error {
	if s.pending += rows; s.pending < sinkBatchRows {
		return s.rows.err
	}
	return s.flush()
}

func (s *tableSink) flush() error {
	s.pending = 0
	if s.rows.err != nil {
		return s.rows.err
	}
	batch := s.rows.NewRecordBatch()
	defer batch.Release()
	return s.writer.Write(context.Background(), batch)
}

func (s *tableSink) finish() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.writer.Commit(context.Background())
}

// abort does nothing after finish.
func (s *tableSink) abort() { _ = s.writer.Abort() }
