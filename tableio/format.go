package tableio

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spirjoin/spirjoin/tableio/ipc"
)

// Format is the file format of a table.
type Format uint8

const (
	Auto        Format = iota // by content, then by extension
	Parquet                   // .parquet, .pq
	CSV                       // .csv, .tsv, .txt
	ArrowFile                 // Arrow IPC file: .arrow, .ipc, .feather
	ArrowStream               // Arrow IPC stream: .arrows, and "-"
)

var formatNames = [...]string{"auto", "parquet", "csv", "arrow", "arrow-stream"}

// String returns the name that [ParseFormat] accepts.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// ParseFormat is the inverse of [Format.String]; the empty text is Auto.
func ParseFormat(text string) (Format, error) {
	if text == "" {
		return Auto, nil
	}
	for i, name := range formatNames {
		if strings.EqualFold(text, name) {
			return Format(i), nil
		}
	}
	return Auto, fmt.Errorf("unknown format %q: choose one of %s", text, strings.Join(formatNames[:], ", "))
}

// FormatOf returns the format that the extension of a file names; Auto if it names none.
func FormatOf(path string) Format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet", ".pq":
		return Parquet
	case ".csv", ".tsv", ".txt":
		return CSV
	case ".arrow", ".ipc", ".feather":
		return ArrowFile
	case ".arrows":
		return ArrowStream
	}
	return Auto
}

// extension is the extension of files of a format, which is not Auto.
func (f Format) extension() string {
	return [...]string{"", ".parquet", ".csv", ".arrow", ".arrows"}[f]
}

// names tells whether a file in a folder, of this name, is read: by its extension, unless a format is given. So is what
// is compressed, and then refused.
func (f Format) names(name string) bool {
	for _, compression := range []string{".gz", ".zst", ".bz2", ".lz4", ".xz"} {
		name = strings.TrimSuffix(name, compression)
	}
	return f != Auto || FormatOf(name) != Auto
}

// magicBytes is how much of a file detectFormat looks at.
const magicBytes = 8

var otherFormats = []struct{ magic, name string }{
	{"PARE", "an encrypted Parquet file"},
	{"FEA1", "a Feather version 1 file"},
	{"ORC", "an ORC file"},
	{"Obj\x01", "an Avro file"},
	{"\x1f\x8b", "gzip-compressed"},
	{"\x28\xb5\x2f\xfd", "zstd-compressed"},
	{"PK\x03\x04", "a zip archive or spreadsheet"},
	{"\xff\xfe", "UTF-16 text (only UTF-8 is read)"},
	{"\xfe\xff", "UTF-16 text (only UTF-8 is read)"},
}

// detectFormat looks at the first bytes of the content, then at the extension.
func detectFormat(path string, head []byte) (Format, error) {
	format := FormatOf(path)
	switch {
	case format == CSV && isText(head): // a column may be called PAR1 or ORC
		return CSV, nil
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet, nil
	case bytes.HasPrefix(head, []byte(ipc.Magic)):
		return ArrowFile, nil
	case bytes.HasPrefix(head, []byte("\xff\xff\xff\xff")):
		return ArrowStream, nil
	}
	for _, other := range otherFormats {
		if bytes.HasPrefix(head, []byte(other.magic)) {
			return Auto, fmt.Errorf("this is %s, which is not supported", other.name)
		}
	}
	switch {
	case format == CSV:
		return CSV, nil
	case format != Auto && len(head) == 0:
		return Auto, fmt.Errorf("the file is empty, where %s content was expected", format)
	case format != Auto:
		return Auto, fmt.Errorf("the content does not begin as %s does", format)
	case path == "-" && len(head) == 0:
		return Auto, errors.New("it is empty; did the program before it fail? An empty table still has a schema")
	case path == "-":
		return Auto, fmt.Errorf("%w: the content is neither Arrow IPC nor Parquet; name the format to read CSV",
			ErrFormat)
	}
	return Auto, fmt.Errorf("%w: recognized neither by its content nor by its extension; name one of %s", ErrFormat,
		strings.Join(formatNames[1:], ", "))
}

// isText says whether the bytes begin a UTF-8 text.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		cut := r == utf8.RuneError && !utf8.FullRune(head)
		if cut {
			return true
		}
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\r' && r != '\n' {
			return false
		}
		head = head[size:]
	}
	return true
}
