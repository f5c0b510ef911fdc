package csv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"sync"
)

const (
	blockBytes     = 2 << 20
	maxRecordBytes = 64 << 20 // a longer record is a missing quote

	// padBytes lie behind the text of a block and may be read, so that the scanner and the parsers of values load
	// whole words. They are line ends: a scan needs no other test for the end.
	padBytes = 16
)

// textBlock is a run of whole records.
type textBlock struct {
	firstLine int64 // 1-based
	data      []byte
	padded    []byte // data and padBytes line ends
	returns   bool   // a carriage return alone ends some line
	buffer    *textBuffer
}

type textBuffer struct{ bytes []byte }

var padding = func() (pad [padBytes]byte) {
	for i := range pad {
		pad[i] = '\n'
	}
	return pad
}()

// textBuffers are used again by blocks of all files.
var textBuffers = sync.Pool{New: func() any { return &textBuffer{} }}

// release gives the memory back to be used again.
func (b textBlock) release() { textBuffers.Put(b.buffer) }

// split cuts the content into blocks of whole records, in order; the consumer releases them. A record ends at a
// line end outside quotes, and since a quote may stand only around a field, counting quotes finds it without parsing:
// that is what lets the blocks be parsed in parallel.
func split(ctx context.Context, content *io.SectionReader, firstLine int64) iter.Seq2[textBlock, error] {
	return func(yield func(textBlock, error) bool) {
		line, remaining := firstLine, content.Size()
		var carry []byte
		for {
			if err := ctx.Err(); err != nil {
				yield(textBlock{}, err)
				return
			}
			want := len(carry) + int(min(blockBytes, remaining+1)) // one more shows the end
			owner := textBuffers.Get().(*textBuffer)
			if len(owner.bytes) < want+padBytes {
				owner.bytes = make([]byte, want+blockBytes/8)
			}
			buffer := owner.bytes
			copy(buffer, carry)
			n, err := io.ReadFull(content, buffer[len(carry):want])
			text := buffer[:len(carry)+n]
			remaining = max(0, remaining-int64(n))
			last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			if err != nil && !last {
				yield(textBlock{}, err)
				return
			}
			end := len(text)
			if !last {
				if end = lastRecordEnd(text); end == 0 && len(text) > maxRecordBytes {
					yield(textBlock{}, fmt.Errorf(
						"line %d: the record is longer than %d bytes; is a closing quote missing?",
						line, maxRecordBytes))
					return
				}
			}
			carry = append(carry[:0], text[end:]...)
			if end > 0 {
				copy(buffer[end:], padding[:])
				returns := countReturns(text[:end])
				lines := int64(bytes.Count(text[:end], []byte{'\n'}) + returns)
				if !yield(textBlock{line, text[:end], buffer[:end+padBytes], returns > 0, owner}, nil) {
					return
				}
				line += lines
			}
			if last {
				return
			}
		}
	}
}

// lastRecordEnd is the offset behind the last line end outside quotes, or 0. It may be that of the last line feed,
// though carriage returns follow. A carriage return at the end of the text ends no line: a line feed may follow.
func lastRecordEnd(text []byte) int {
	if end := lastOutsideQuotes(text, '\n'); end > 0 {
		return end
	}
	return lastOutsideQuotes(text[:max(0, len(text)-1)], '\r')
}

// lastOutsideQuotes is the offset behind the last such byte outside quotes, or 0. It looks from the end backwards:
// whether a place is quoted follows from the number of quotes behind it.
func lastOutsideQuotes(text []byte, lineEnd byte) int {
	quoted := bytes.Count(text, []byte{'"'})%2 == 1
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[:end], lineEnd)
		if i < 0 {
			return 0
		}
		if bytes.Count(text[i:end], []byte{'"'})%2 == 1 {
			quoted = !quoted
		}
		if !quoted {
			return i + 1
		}
		end = i
	}
}

// countReturns counts carriage returns that no line feed follows. Whole words are looked at, shifted by a byte for what
// follows; texts without carriage returns cost no more than a search.
func countReturns(text []byte) (count int) {
	at := bytes.IndexByte(text, '\r')
	if at < 0 {
		return 0
	}
	equal := func(word uint64, c byte) uint64 { // the highest bit of each byte that equals c
		word ^= uint64(c) * eachByte
		return ^((word&lowBits + lowBits) | word | lowBits)
	}
	for ; at+9 <= len(text); at += 8 {
		word, next := binary.LittleEndian.Uint64(text[at:]), binary.LittleEndian.Uint64(text[at+1:])
		count += bits.OnesCount64(equal(word, '\r') &^ equal(next, '\n'))
	}
	for ; at < len(text); at++ {
		if text[at] == '\r' && (at+1 == len(text) || text[at+1] != '\n') {
			count++
		}
	}
	return count
}

// feedReturns makes line feeds of carriage returns that end a record by themselves. Those between quotes stay.
func feedReturns(text []byte) {
	quoted, from := false, 0
	for {
		n := bytes.IndexByte(text[from:], '\r')
		if n < 0 {
			return
		}
		at := from + n
		quoted = quoted != (bytes.Count(text[from:at], []byte{'"'})%2 == 1)
		if from = at + 1; !quoted && (from == len(text) || text[from] != '\n') {
			text[at] = '\n'
		}
	}
}
