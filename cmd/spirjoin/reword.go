package main

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/spirjoin/spirjoin/tableio"
)

// reword writes the text of an error as users of the command read it.
func reword(err error, text string) string { return quoteMeant(nameColumns(err, text)) }

// columnMeant finds the name of a column in a message about another one.
var columnMeant = regexp.MustCompile(`(column "(?:[^"\\]|\\.)*"; did you mean )("(?:[^"\\]|\\.)*")\?`)

// quoteMeant writes a suggested column as a shell and a list of names take it.
func quoteMeant(text string) string {
	return columnMeant.ReplaceAllStringFunc(text, func(found string) string {
		parts := columnMeant.FindStringSubmatch(found)
		name, err := strconv.Unquote(parts[2])
		if word := shellWord(listName(name)); err == nil && word != name {
			return parts[1] + word + "?"
		}
		return found
	})
}

// A groupsError is one of a command that makes groups.
type groupsError struct{ error }

func (e groupsError) Unwrap() error { return e.error }

func ofGroups(err *error) {
	if *err != nil {
		*err = groupsError{*err}
	}
}

// nameColumns writes as flags what the library says about a column that cannot be read or written. For groups, the
// columns of keys and aggregates are read and no others.
func nameColumns(err error, text string) string {
	advice := "leave it out with --columns"
	if errors.Is(err, tableio.ErrInput) && errors.As(err, new(groupsError)) {
		advice = "leave it out of --by and --agg"
	}
	return strings.ReplaceAll(text, "leave it out with columns", advice)
}
