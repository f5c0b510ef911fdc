package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	csvBlockBytes     = 4 << 20
	csvMaxRecordBytes = 64 << 20 // a longer record is a missing quote
)

// csvBlock is a run of whole records.
type csvBlock struct {
	index     int
	firstLine int64 // 1-based
	data      []byte
}

// splitCSV cuts the content into blocks of whole records and hands them out in
// order; handle may keep the block. A record ends at a line end outside quotes,
// and since a quote may stand only around a field, counting quotes finds it
// without parsing: that is what lets the blocks be parsed in parallel.
func splitCSV(ctx context.Context, content *io.SectionReader, handle func(csvBlock) error) error {
	line, remaining := int64(1), content.Size()
	var carry []byte
	for index := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := make([]byte, len(carry)+int(min(csvBlockBytes, remaining+1))) // one more shows the end
		copy(block, carry)
		n, err := io.ReadFull(content, block[len(carry):])
		block, remaining = block[:len(carry)+n], max(0, remaining-int64(n))
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		end := len(block)
		if !last {
			if end = lastRecordEnd(block); end == 0 && len(block) > csvMaxRecordBytes {
				return fmt.Errorf("line %d: the record is longer than %d bytes; is a closing quote missing?", line, csvMaxRecordBytes)
			}
		}
		if end > 0 {
			if err := handle(csvBlock{index, line, block[:end:end]}); err != nil {
				return err
			}
			index++
			line += int64(bytes.Count(block[:end], []byte{'\n'}))
		}
		if last {
			return nil
		}
		carry = block[end:]
	}
}

// lastRecordEnd is the offset behind the last line end outside quotes, or 0.
func lastRecordEnd(block []byte) int {
	end, pos, quoted := 0, 0, false
	for pos < len(block) {
		next := bytes.IndexByte(block[pos:], '"')
		if next < 0 {
			next = len(block) - pos
		}
		if !quoted {
			if i := bytes.LastIndexByte(block[pos:pos+next], '\n'); i >= 0 {
				end = pos + i + 1
			}
		}
		quoted = !quoted
		pos += next + 1
	}
	return end
}

// csvField is one field of a record: its text without the outer quotes.
type csvField struct {
	text    []byte
	quoted  bool
	doubled bool // text has doubled quotes
}

// value is the text meant; scratch is used where quotes were doubled.
func (f csvField) value(scratch *[]byte) []byte {
	if !f.doubled {
		return f.text
	}
	out := (*scratch)[:0]
	for i := 0; i < len(f.text); i++ {
		out = append(out, f.text[i])
		if f.text[i] == '"' {
			i++
		}
	}
	*scratch = out
	return out
}

// csvScanner walks the records of a block.
type csvScanner struct {
	data      []byte
	pos       int
	line      int64 // of the record that next returned last
	nextLine  int64
	delimiter byte
	columns   int // fields that each record must have; 0 = any
	fields    []csvField
}

func newCSVScanner(block csvBlock, delimiter byte, columns int) *csvScanner {
	return &csvScanner{data: block.data, nextLine: block.firstLine, delimiter: delimiter, columns: columns}
}

// next parses one record into fields, which are valid until the next call. It
// returns io.EOF behind the last one. An empty line is a record of one empty
// field where there is one column, and skipped otherwise.
func (s *csvScanner) next() ([]csvField, error) {
	for s.columns != 1 && s.skipEmptyLine() {
	}
	if s.pos >= len(s.data) {
		return nil, io.EOF
	}
	s.fields, s.line = s.fields[:0], s.nextLine
	for {
		field, err := s.field()
		if err != nil {
			return nil, fmt.Errorf("line %d, field %d: %w", s.line, len(s.fields)+1, err)
		}
		s.fields = append(s.fields, field)
		if s.pos < len(s.data) && s.data[s.pos] == s.delimiter {
			s.pos++
			continue
		}
		if s.pos < len(s.data) && s.data[s.pos] == '\r' {
			s.pos++
		}
		if s.pos < len(s.data) {
			s.pos++ // the line end
			s.nextLine++
		}
		break
	}
	if s.columns > 0 && len(s.fields) != s.columns {
		return nil, fmt.Errorf("line %d has %d fields, %d are expected", s.line, len(s.fields), s.columns)
	}
	return s.fields, nil
}

func (s *csvScanner) skipEmptyLine() bool {
	rest := s.data[s.pos:]
	switch {
	case len(rest) > 0 && rest[0] == '\n':
		s.pos++
	case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n', len(rest) == 1 && rest[0] == '\r':
		s.pos += len(rest[:min(2, len(rest))])
	default:
		return false
	}
	s.nextLine++
	return true
}

var (
	errBareQuote  = errors.New("a quote inside an unquoted field; quote the field and double the quote")
	errOpenQuote  = errors.New("the closing quote is missing")
	errAfterQuote = errors.New("text after the closing quote")
)

// field parses one field and stops at the delimiter, the line end or the end.
func (s *csvScanner) field() (csvField, error) {
	start := s.pos
	if start < len(s.data) && s.data[start] == '"' {
		return s.quotedField()
	}
	i := start
	for ; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == s.delimiter || c == '\n':
			s.pos = i
			if c == '\n' && i > start && s.data[i-1] == '\r' {
				s.pos--
			}
			return csvField{text: s.data[start:s.pos]}, nil
		case c == '"':
			return csvField{}, errBareQuote
		}
	}
	s.pos = i
	if i > start && s.data[i-1] == '\r' {
		s.pos--
	}
	return csvField{text: s.data[start:s.pos]}, nil
}

func (s *csvScanner) quotedField() (csvField, error) {
	start := s.pos + 1
	doubled := false
	for i := start; ; i += 2 {
		n := bytes.IndexByte(s.data[i:], '"')
		if n < 0 {
			return csvField{}, errOpenQuote
		}
		i += n
		if i+1 < len(s.data) && s.data[i+1] == '"' {
			doubled = true
			continue
		}
		text := s.data[start:i]
		s.nextLine += int64(bytes.Count(text, []byte{'\n'}))
		s.pos = i + 1
		rest := s.data[s.pos:]
		atEnd := len(rest) == 0 || rest[0] == s.delimiter || rest[0] == '\n' ||
			rest[0] == '\r' && (len(rest) == 1 || rest[1] == '\n')
		if !atEnd {
			return csvField{}, errAfterQuote
		}
		return csvField{text: text, quoted: true, doubled: doubled}, nil
	}
}

// isNull says whether the field is one of the null texts.
func (f csvField) isNull(nulls []string) bool {
	if f.quoted {
		return false
	}
	for _, null := range nulls {
		if string(f.text) == null {
			return true
		}
	}
	return false
}
