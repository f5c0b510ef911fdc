package graphics

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/tableio"
)

// files are the output files of all figures of a sweep, in a folder.
type files struct {
	of   []figureFiles
	made []string // folders, the innermost first
}

// figureFiles are a CSV file and a chart, which appear when the figure is measured.
type figureFiles struct {
	table *measure.File
	chart *tableio.OutputFile // nil without a folder
}

// createFiles begins all files and makes the folder if it is missing, so that a sweep that cannot write them fails at
// once. The caller calls end. Errors: as for tableio.CreateFile.
func (s *Sweep) createFiles(figures []Figure, info *backend.DeviceInfo) (_ *files, err error) {
	f := &files{of: make([]figureFiles, len(figures))}
	defer func() {
		if err != nil {
			f.end()
		}
	}()
	if s.Out != "" {
		if err := f.makeFolder(s.Out); err != nil {
			return nil, &tableio.Error{Kind: tableio.ErrOutput, Op: "create", Path: s.Out, Err: err}
		}
	}
	for i, figure := range figures {
		path := func(extension string) string {
			if s.Out == "" {
				return ""
			}
			return filepath.Join(s.Out, figure.Name+extension)
		}
		if f.of[i].table, err = measure.Create(path(".csv"), s.Command, info, fileColumns); err != nil {
			return nil, err
		}
		if s.Out == "" {
			continue
		}
		if f.of[i].chart, err = tableio.CreateFile(path(".svg")); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *files) makeFolder(path string) error {
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		f.made = append(f.made, dir)
	}
	err := os.MkdirAll(path, 0o777)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// end discards the files of figures that were not measured, and folders that were made for no file.
func (f *files) end() {
	for _, figure := range f.of {
		if figure.table != nil {
			figure.table.Abort()
		}
		if figure.chart != nil {
			_ = figure.chart.Abort() // the earlier error is returned
		}
	}
	for _, dir := range f.made {
		_ = os.Remove(dir) // fails if it has files
	}
}

// commit makes both files appear.
func (f *figureFiles) commit(ctx context.Context, c *chart) error {
	if f.chart != nil {
		if err := c.write(f.chart); err != nil {
			return err
		}
		if err := f.chart.Commit(); err != nil {
			return err
		}
	}
	return f.table.Commit(ctx)
}
