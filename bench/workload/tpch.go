package workload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// TPCHSpec describes the generation of TPC-H's orders and lineitem as Parquet.
//
// The rows equal the output of the official dbgen. They come from a port of it that keeps global state, prints, and
// takes more than a gigabyte of memory. It therefore runs in a child process: the program itself, started with the
// environment variable TPCHChild. A program that calls TPCH must call RunTPCHChildIfAsked first in main.
type TPCHSpec struct {
	// ScaleFactor is a whole number or less than 1. Below 1 the tables are the beginning of scale factor 1: this share
	// of its orders, with their lines.
	ScaleFactor float64
	Dir         string // gets orders.parquet and lineitem.parquet; made if missing
	Compression string // of Parquet: zstd, snappy, none; empty = snappy

	// Progress, if set, is called from time to time with the number of orders generated so far and in total, from one
	// goroutine.
	Progress func(orders, total int64)
}

// TPCHResult is what was written.
type TPCHResult struct {
	OrdersPath, LineitemPath string
	Orders, Lines            int64 // rows
}

// TPCHChild is the environment variable that makes the program the generator.
const TPCHChild = "SPIRJOIN_TPCH_CHILD"

const (
	ordersPerScale = 1_500_000
	maxScale       = 100_000
	ordersFile     = "orders.parquet"
	lineitemFile   = "lineitem.parquet"
)

// ErrGenerator says that the generating process failed.
var ErrGenerator = errors.New("tpch generator")

// Validate reports all faults together; the error wraps ErrSpec.
func (s TPCHSpec) Validate() error {
	var faults []string
	if sf := s.ScaleFactor; !(sf > 0 && sf <= maxScale) || sf > 1 && sf != math.Trunc(sf) {
		faults = append(faults, fmt.Sprintf("scale factor is %v, must be above 0 and up to 1, or a whole number up to %d", sf, maxScale))
	} else if s.orders() == 0 {
		faults = append(faults, fmt.Sprintf("scale factor %v gives no order: the smallest is %v", sf, 1.0/ordersPerScale))
	}
	if s.Dir == "" {
		faults = append(faults, "the output directory is missing")
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: tpch: %s", ErrSpec, strings.Join(faults, "; "))
	}
	return nil
}

func (s TPCHSpec) orders() int64 { return int64(math.Round(s.ScaleFactor * ordersPerScale)) }

// tpchTask is the order to the child, in TPCHChild; tpchReport is a line that it
// prints: the orders made so far, or the end.
type tpchTask struct {
	Scale       int64
	Orders      int64
	Dir         string
	Compression string
}

type tpchReport struct {
	Orders, Lines int64
	Done          bool
	Error         string `json:",omitempty"`
}

// TPCH writes orders.parquet and lineitem.parquet, replacing existing files. They appear together when all rows have
// been generated; after an error, or when ctx ends, nothing is left behind and the child has ended. (If this process is
// killed, the child ends too, but a hidden directory ".tpch-*" stays.) Errors: ErrSpec, ErrGenerator, file system
// errors, or ctx's.
func TPCH(ctx context.Context, spec TPCHSpec) (TPCHResult, error) {
	if err := spec.Validate(); err != nil {
		return TPCHResult{}, err
	}
	if err := os.MkdirAll(spec.Dir, 0o777); err != nil {
		return TPCHResult{}, fmt.Errorf("tpch: %w", err)
	}
	temp, err := os.MkdirTemp(spec.Dir, ".tpch-")
	if err != nil {
		return TPCHResult{}, fmt.Errorf("tpch: the output directory must be writable: %w", err)
	}
	defer os.RemoveAll(temp)
	result := TPCHResult{OrdersPath: filepath.Join(spec.Dir, ordersFile), LineitemPath: filepath.Join(spec.Dir, lineitemFile)}
	task := tpchTask{Scale: int64(math.Ceil(spec.ScaleFactor)), Orders: spec.orders(), Dir: temp, Compression: spec.Compression}
	report, err := runTPCHChild(ctx, task, spec.Progress)
	if err != nil {
		return TPCHResult{}, err
	}
	if report.Orders != task.Orders {
		return TPCHResult{}, fmt.Errorf("%w: made %d orders of %d", ErrGenerator, report.Orders, task.Orders)
	}
	result.Orders, result.Lines = report.Orders, report.Lines
	if err := os.Rename(filepath.Join(temp, lineitemFile), result.LineitemPath); err != nil {
		return TPCHResult{}, fmt.Errorf("tpch: %w", err)
	}
	if err := os.Rename(filepath.Join(temp, ordersFile), result.OrdersPath); err != nil {
		return TPCHResult{}, errors.Join(fmt.Errorf("tpch: %w", err), os.Remove(result.LineitemPath))
	}
	return result, nil
}

// runTPCHChild starts the child and follows its reports until it ends.
func runTPCHChild(ctx context.Context, task tpchTask, progress func(orders, total int64)) (tpchReport, error) {
	program, err := os.Executable()
	if err != nil {
		return tpchReport{}, fmt.Errorf("%w: find this program: %w", ErrGenerator, err)
	}
	text, err := json.Marshal(task)
	if err != nil {
		return tpchReport{}, err
	}
	child := exec.CommandContext(ctx, program)
	child.Env = append(os.Environ(), TPCHChild+"="+string(text))
	child.WaitDelay = 5 * time.Second
	alive, err := child.StdinPipe() // the child ends when it closes, however this process ends
	if err != nil {
		return tpchReport{}, fmt.Errorf("%w: %w", ErrGenerator, err)
	}
	defer alive.Close()
	reports, err := child.StdoutPipe()
	if err != nil {
		return tpchReport{}, fmt.Errorf("%w: %w", ErrGenerator, err)
	}
	var complaints bytes.Buffer
	child.Stderr = &complaints
	if err := child.Start(); err != nil {
		return tpchReport{}, fmt.Errorf("%w: start: %w", ErrGenerator, err)
	}
	last := followReports(reports, task.Orders, progress)
	err = child.Wait()
	switch {
	case ctx.Err() != nil:
		return tpchReport{}, fmt.Errorf("tpch: %w", ctx.Err())
	case last.Error != "":
		return tpchReport{}, fmt.Errorf("%w: %s", ErrGenerator, last.Error)
	case err != nil:
		return tpchReport{}, fmt.Errorf("%w: %w%s", ErrGenerator, err, firstLine(complaints.String()))
	case !last.Done:
		return tpchReport{}, fmt.Errorf("%w: the child ended without a result; does main call RunTPCHChildIfAsked?", ErrGenerator)
	}
	return last, nil
}

// followReports reads to the end of the output, so that the child never blocks.
func followReports(reports io.Reader, total int64, progress func(orders, total int64)) tpchReport {
	var last tpchReport
	lines := bufio.NewScanner(reports)
	for lines.Scan() {
		var report tpchReport
		if json.Unmarshal(lines.Bytes(), &report) != nil {
			continue
		}
		last = report
		if progress != nil {
			progress(report.Orders, total)
		}
	}
	_, _ = io.Copy(io.Discard, reports)
	return last
}

// firstLine is why a process died, for an error message.
func firstLine(text string) string {
	if first, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); first != "" {
		return ": " + first
	}
	return ""
}
