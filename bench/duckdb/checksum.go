package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checksum describes the content of a table independent of the order of its
// rows. Two tables of equal columns in equal order have the same multiset of
// rows if rows and row sums agree, up to collisions of a 64-bit hash.
type checksum struct {
	Rows    int64            `json:"rows"`
	RowSum  string           `json:"row_sum"`
	Columns []columnChecksum `json:"columns"`
}

type columnChecksum struct {
	Name  string `json:"name"`
	Nulls int64  `json:"nulls"`
	Sum   string `json:"sum"`
}

// textOf renders a value by the rules of README.md, or says that there is none.
func textOf(c columnType) (string, error) {
	name := quoteName(c.name)
	base, _, _ := strings.Cut(c.typ, "(")
	if strings.HasSuffix(c.typ, "]") { // a list of what base says
		base = "LIST"
	}
	switch base {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
		"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
		"DECIMAL", "VARCHAR", "DATE", "TIME", "TIME_NS", "UUID",
		"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return name + "::VARCHAR", nil
	case "FLOAT", "DOUBLE": // -0 + 0 is 0; the shortest text that reads back
		return "(" + name + " + 0)::VARCHAR", nil
	case "TIMESTAMP WITH TIME ZONE": // in UTC, whatever the session's zone
		return "(make_timestamp(epoch_us(" + name + "))::VARCHAR || '+00')", nil
	case "BLOB":
		return "lower(hex(" + name + "))", nil
	}
	return "", fmt.Errorf("column %q: type %s has no checksum", c.name, c.typ)
}

// hashOf is the first 8 bytes of the MD5 of a text, least significant first.
func hashOf(text string) string { return "md5_number_upper(" + text + ")" }

func sumOf(hash string) string {
	return "lpad(lower(hex(coalesce((sum(" + hash + ") % 18446744073709551616::HUGEINT)::UBIGINT, 0::UBIGINT))), 16, '0')"
}

// checksum computes the checksum of the table or file that from names in SQL; nil names mean all columns.
func (s *session) checksum(ctx context.Context, from string, names []string) (checksum, error) {
	columns, err := s.describe(ctx, from)
	if err != nil {
		return checksum{}, err
	}
	if names != nil {
		var chosen []columnType
		for _, name := range names {
			i := slices.IndexFunc(columns, func(c columnType) bool { return c.name == name })
			if i < 0 {
				return checksum{}, fmt.Errorf("%w: there is no column %q", errUsage, name)
			}
			chosen = append(chosen, columns[i])
		}
		columns = chosen
	}
	var framed []string
	expressions := []string{"count(*)"}
	result := checksum{Columns: make([]columnChecksum, len(columns))}
	for i, c := range columns {
		text, err := textOf(c)
		if err != nil {
			return checksum{}, err
		}
		result.Columns[i].Name = c.name
		expressions = append(expressions, "count(*) - count("+quoteName(c.name)+")", sumOf(hashOf(text)))
		framed = append(framed, "CASE WHEN "+quoteName(c.name)+" IS NULL THEN 'n' "+
			"ELSE concat('v', strlen("+text+"), ':', "+text+") END")
	}
	expressions = append(expressions, sumOf(hashOf("concat("+strings.Join(framed, ", ")+")")))
	into := []any{&result.Rows}
	for i := range result.Columns {
		into = append(into, &result.Columns[i].Nulls, &result.Columns[i].Sum)
	}
	into = append(into, &result.RowSum)
	if err := s.one(ctx, "SELECT "+strings.Join(expressions, ", ")+" FROM "+from, into...); err != nil {
		return checksum{}, fmt.Errorf("checksum: %w", err)
	}
	return result, nil
}

// checksumOfFile computes the checksum of a file.
func checksumOfFile(ctx context.Context, path string, names []string, l limits) (result checksum, err error) {
	s, err := openSession(ctx, l)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	result, err = s.checksum(ctx, file(path), names)
	if err != nil {
		return result, fmt.Errorf("%s: %w", path, err)
	}
	return result, nil
}
