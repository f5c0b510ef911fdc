// Package csv reads and writes tables as CSV: text is cut into blocks of whole records, which are scanned and converted
// on all cores; types that are not given are inferred from all values.
package csv

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// Header says whether the first record of a CSV file names the columns.
type Header uint8

const (
	HeaderPresent Header = iota
	HeaderAbsent         // columns are named column_1, column_2, ... or by Options.Schema
)

// Options describes the CSV files that are read and written. The zero value is a comma-separated file with a header,
// in which empty fields are null. Fields are quoted by double quotes, which are doubled inside; quoted fields are never
// null.
type Options struct {
	Header    Header
	Delimiter byte     // one ASCII character; 0 = tab for .tsv, otherwise comma
	Nulls     []string // unquoted fields that mean null, exactly; nil = the empty one; the first is written

	// Schema gives the types of columns, which are then not inferred (reading only). With a header its fields are found
	// by name, and the types of other columns are inferred; without a header it must list all columns in order.
	Schema *arrow.Schema
}

// Validate reports all faults together.
func (o Options) Validate() error {
	var faults []error
	if o.Header > HeaderAbsent {
		faults = append(faults, fmt.Errorf("csv: header is %d, must be HeaderPresent or HeaderAbsent", o.Header))
	}
	if d := o.Delimiter; d == '"' || d == '\n' || d == '\r' || d > 126 {
		faults = append(faults, fmt.Errorf(
			"csv: delimiter %q must be an ASCII character other than a quote or a line end", d))
	}
	for _, null := range o.Nulls {
		if strings.ContainsAny(null, "\"\r\n") || strings.IndexByte(null, o.delimiter("")) >= 0 {
			faults = append(faults, fmt.Errorf("csv: null text %q contains a quote, a line end or the delimiter", null))
		}
	}
	if o.Schema != nil {
		for _, field := range o.Schema.Fields() {
			if _, err := newBuilder(field, nullTexts{}); err != nil {
				faults = append(faults, fmt.Errorf("csv: column %q: %w", field.Name, err))
			}
			if n := len(o.Schema.FieldIndices(field.Name)); n > 1 {
				faults = append(faults, fmt.Errorf("csv: column %q is %d times in the schema", field.Name, n))
			}
		}
	}
	return core.JoinFaults(faults...)
}

func (o Options) delimiter(path string) byte {
	switch {
	case o.Delimiter != 0:
		return o.Delimiter
	case strings.HasSuffix(strings.ToLower(path), ".tsv"):
		return '\t'
	}
	return ','
}

func (o Options) nulls() []string {
	if o.Nulls == nil {
		return []string{""}
	}
	return o.Nulls
}
