package csv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// fieldSpan is where a field lies in its block: its text without the outer quotes. Blocks are shorter than 2^29 bytes.
type fieldSpan struct{ start, end uint32 }

const (
	spanQuoted  = 1 << 31 // in start: quotes stood around it
	spanDoubled = 1 << 30 // in start: the text has doubled quotes
	spanOffset  = spanDoubled - 1
)

func (s fieldSpan) quoted() bool { return s.start&spanQuoted != 0 }

// tileRecords is how many records are scanned before their columns are converted one after the other: few enough
// that text and spans stay in the cache.
const tileRecords = 256

// recordScanner walks the records of a block.
//
// A carriage return that ends a line by itself is made a line feed first. It looks for delimiters, quotes and line ends
// in eight bytes at once: a byte of a word that equals one of them gets its highest bit set, and the positions of these
// bits are taken one by one. The line ends that pad a block end the last field, too.
type recordScanner struct {
	textBlock
	delimiter byte
	columns   int // fields that each record must have; 0 = any

	pos      int
	nextLine int64
	scratch  []byte // texts without the doubled quotes

	ascii asciiState

	// The tile: records scanned last, by record and field, and the line where each begins.
	spans []fieldSpan
	lines []int64
}

func newRecordScanner(block textBlock, delimiter byte, columns int) *recordScanner {
	s := &recordScanner{}
	s.reset(block, delimiter, columns)
	return s
}

// reset begins another block and keeps the memory.
func (s *recordScanner) reset(block textBlock, delimiter byte, columns int) {
	s.textBlock, s.delimiter, s.columns = block, delimiter, columns
	s.pos, s.nextLine, s.ascii = 0, block.firstLine, asciiUnknown
	s.spans, s.lines = s.spans[:0], s.lines[:0]
	if s.returns {
		feedReturns(s.data)
	}
}

// tile scans the next records, tileRecords at most, and returns how many. An error, io.EOF behind the last record,
// belongs to what follows them.
func (s *recordScanner) tile() (records int, err error) {
	s.spans, s.lines = s.spans[:0], s.lines[:0]
	for ; records < tileRecords; records++ {
		if err := s.record(); err != nil {
			return records, err
		}
	}
	return records, nil
}

// text is a field as it stands in the file, without the outer quotes.
func (s *recordScanner) text(span fieldSpan) []byte {
	return s.padded[span.start&spanOffset : span.end]
}

// value is the text that a field means, valid until the next call.
func (s *recordScanner) value(span fieldSpan) []byte {
	text := s.text(span)
	if span.start&spanDoubled == 0 {
		return text
	}
	s.scratch = s.scratch[:0]
	for i := 0; i < len(text); i++ {
		s.scratch = append(s.scratch, text[i])
		if text[i] == '"' {
			i++
		}
	}
	return s.scratch
}

type asciiState uint8

const (
	asciiUnknown asciiState = iota
	asciiOnly
	asciiNot
)

// isASCII says whether the block has no byte outside ASCII, so that all of its texts are valid UTF-8.
func (s *recordScanner) isASCII() bool {
	if s.ascii == asciiUnknown {
		if s.ascii = asciiNot; core.IsASCII(s.data) {
			s.ascii = asciiOnly
		}
	}
	return s.ascii == asciiOnly
}

var (
	errBareQuote  = errors.New("a quote inside an unquoted field; quote the field and double the quote")
	errOpenQuote  = errors.New("the closing quote is missing")
	errAfterQuote = errors.New("text after the closing quote")
)

const lowBits, eachByte = 0x7f7f7f7f7f7f7f7f, 0x0101010101010101

// record appends one record to the tile, or returns io.EOF behind the last one. An empty line is a record of one empty
// field where there is one column, and skipped otherwise.
func (s *recordScanner) record() error {
	for s.columns != 1 && s.skipEmptyLine() {
	}
	if s.pos >= len(s.data) {
		return io.EOF
	}
	line, first := s.nextLine, len(s.spans)
	spans, text := s.spans, s.padded
	delimiter, delimiters := s.delimiter, uint64(s.delimiter)*eachByte
	special := func(at int) uint64 {
		word := binary.LittleEndian.Uint64(text[at:])
		a, b, c := word^delimiters, word^'\n'*eachByte, word^'"'*eachByte
		return ^(((a&lowBits+lowBits)|a)&((b&lowBits+lowBits)|b)&((c&lowBits+lowBits)|c) | lowBits)
	}
	start, base := s.pos, s.pos
	found := special(base)
	for {
		for found == 0 {
			base += 8
			found = special(base)
		}
		at := base + bits.TrailingZeros64(found)>>3
		found &= found - 1
		switch text[at] {
		case delimiter:
			spans = append(spans, fieldSpan{uint32(start), uint32(at)})
			start = at + 1
			continue
		case '\n':
			end := at
			if end > start && text[end-1] == '\r' {
				end--
			}
			spans = append(spans, fieldSpan{uint32(start), uint32(end)})
			s.endRecord(at)
		default: // a quote
			span, next, err := fieldSpan{}, 0, errBareQuote
			if at == start {
				span, next, err = s.quotedField(start)
			}
			if err != nil {
				return fmt.Errorf("line %d, field %d: %w", line, len(spans)-first+1, err)
			}
			spans = append(spans, span)
			if next < len(s.data) && text[next] == delimiter {
				start, base = next+1, next+1
				found = special(base)
				continue
			}
			if text[next] == '\r' {
				next++
			}
			s.endRecord(next)
		}
		break
	}
	s.spans, s.lines = spans, append(s.lines, line)
	if count := len(spans) - first; s.columns > 0 && count != s.columns {
		return fmt.Errorf("line %d has %d fields, %d are expected", line, count, s.columns)
	}
	return nil
}

// endRecord moves behind a line end, or the end of the block.
func (s *recordScanner) endRecord(at int) {
	if at < len(s.data) {
		s.nextLine++
	}
	s.pos = min(at+1, len(s.data))
}

func (s *recordScanner) skipEmptyLine() bool {
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

// quotedField parses the field whose opening quote is at a place, and says where it ends.
func (s *recordScanner) quotedField(at int) (span fieldSpan, next int, err error) {
	start := at + 1
	flags := uint32(spanQuoted)
	for i := start; ; i += 2 {
		n := bytes.IndexByte(s.data[i:], '"')
		if n < 0 {
			return span, 0, errOpenQuote
		}
		i += n
		if i+1 < len(s.data) && s.data[i+1] == '"' {
			flags |= spanDoubled
			continue
		}
		s.nextLine += int64(bytes.Count(s.data[start:i], []byte{'\n'}))
		if s.returns {
			s.nextLine += int64(countReturns(s.data[start:i]))
		}
		rest := s.data[i+1:]
		atEnd := len(rest) == 0 || rest[0] == s.delimiter || rest[0] == '\n' ||
			rest[0] == '\r' && (len(rest) == 1 || rest[1] == '\n')
		if !atEnd {
			return span, 0, errAfterQuote
		}
		return fieldSpan{uint32(start) | flags, uint32(i)}, i + 1, nil
	}
}

// nullTexts are the unquoted fields that mean null.
type nullTexts struct {
	texts     []string
	empty     bool // one of them is the empty text
	onlyEmpty bool
}

func newNullTexts(texts []string) nullTexts {
	n := nullTexts{texts: texts, onlyEmpty: true}
	for _, text := range texts {
		n.empty = n.empty || text == ""
		n.onlyEmpty = n.onlyEmpty && text == ""
	}
	return n
}

// has says whether an unquoted text means null.
func (n *nullTexts) has(text []byte) bool {
	if len(text) == 0 {
		return n.empty
	}
	if n.onlyEmpty {
		return false
	}
	for _, null := range n.texts {
		if string(text) == null {
			return true
		}
	}
	return false
}
