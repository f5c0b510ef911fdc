package files

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/tableio/csv"
)

// TextError is the refusal of a column that is text because of one value of a CSV file.
type TextError struct {
	Err          error
	Path, Column string
	Reason       csv.TextReason
}

func (e *TextError) Error() string {
	return fmt.Sprintf("%v; column %q of %s is text because of line %d: %.40q", e.Err, e.Column, e.Path, e.Reason.Line,
		e.Reason.Value)
}

func (e *TextError) Unwrap() error { return e.Err }

// LooksNull reports whether people write the value where one is missing, so that csv.Options.Nulls may have to name it.
func (e *TextError) LooksNull() bool {
	if e.Reason.Quoted {
		return false
	}
	switch value := e.Reason.Value; strings.ToLower(strings.Trim(value, "<>()[]#\\ ")) {
	case "", "n", "na", "n/a", "n.a.", "nan", "nil", "none", "null", "-", "--", "?", ".",
		"missing", "unknown", "undefined":
		return value != ""
	}
	return false
}

// explainKeys adds to a refusal of the keys which value of a CSV file made one of them text. It returns nil for nil.
func (p *Pair) explainKeys(err error, spec *spirjoin.JoinSpec) error {
	if err == nil {
		return nil
	}
	keys := keysOf(spec)
	for k := range min(len(keys[0]), len(keys[1])) {
		for side, t := range p.tables {
			if explained, ok := t.explainText(err, keys[side][k]); ok {
				return explained
			}
		}
	}
	return err
}

// explainText adds to a refusal which value of a CSV file made a column text, if one did.
func (t *Table) explainText(err error, column string) (error, bool) {
	if !errors.Is(err, backend.ErrUnsupported) {
		return err, false
	}
	reason, ok := t.WhyText(column)
	if !ok {
		return err, false
	}
	return &TextError{Err: err, Path: cmp.Or(reason.Path, t.path), Column: column, Reason: reason}, true
}
