package codec

import (
	"fmt"
	"hash/crc32"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// The header of a message, in words.
const (
	atMagic = iota
	atValueBytes
	atRows
	atPayloadWords
	atCRC
	headerWords

	magic = 0x31434a53 // "SJC1"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Message is a message that has been checked: the rows of one column, as blocks. It refers to the bytes that were
// opened.
type Message struct {
	ValueBytes int
	Rows       uint32
	Directory  []uint32 // for each block the word of Payload behind it
	Payload    []uint32
}

// begin is the word of the payload at which a block begins, or at which the last one ends.
func (m *Message) begin(block int) uint32 {
	if block == 0 {
		return 0
	}
	return m.Directory[block-1]
}

// suits checks that a column has the rows of the message.
func (m *Message) suits(column Column) error {
	if m.ValueBytes != column.ValueBytes {
		return corrupt("values of %d bytes instead of %d", m.ValueBytes, column.ValueBytes)
	}
	if want := len(column.Values) / column.ValueBytes; int(m.Rows) != want {
		return corrupt("%d rows instead of %d", m.Rows, want)
	}
	return nil
}

// Blocks is the number of blocks of rows rows.
func Blocks(rows uint32) int {
	return int((uint64(rows) + kernel.CascadeBlock - 1) / kernel.CascadeBlock)
}

// MessageBytes is the size of a message of rows rows whose blocks take payloadWords.
func MessageBytes(rows, payloadWords uint32) uint64 {
	return 4 * (headerWords + uint64(Blocks(rows)) + uint64(payloadWords))
}

// DirectoryOf is the part of a message of rows rows that holds its directory. An encoder fills it, and [PayloadOf],
// before [Seal].
func DirectoryOf(message []byte, rows uint32) []uint32 {
	return backend.Words(message)[headerWords:][:Blocks(rows)]
}

// PayloadOf is the part of a message of rows rows behind its directory.
func PayloadOf(message []byte, rows uint32) []byte { return message[4*(headerWords+Blocks(rows)):] }

// Seal writes the header of a message whose directory and payload are in place. message is aligned to 4 bytes and has
// [MessageBytes].
func Seal(message []byte, valueBytes int, rows uint32) {
	words := backend.Words(message)
	words[atMagic], words[atValueBytes], words[atRows] = magic, uint32(valueBytes), rows
	words[atPayloadWords] = uint32(len(words) - headerWords - Blocks(rows))
	words[atCRC] = checksum(message)
}

// checksum is the CRC-32C of a message without its word of the checksum.
func checksum(message []byte) uint32 {
	return crc32.Update(crc32.Checksum(message[:4*atCRC], castagnoli), castagnoli, message[4*headerWords:])
}

// Open checks a message, but not its blocks, which decoders check. The bytes are untrusted: whatever they are, the
// message it returns may be decoded. They are aligned to 4 bytes, and must not change while the message is in use.
// The error is backend.ErrInvalidInput.
func Open(message []byte) (Message, error) {
	if len(message)%4 != 0 || len(message) < 4*headerWords {
		return Message{}, corrupt("%d bytes are no message", len(message))
	}
	words := backend.Words(message)
	m := Message{ValueBytes: int(words[atValueBytes]), Rows: words[atRows]}
	if words[atMagic] != magic {
		return Message{}, corrupt("the first word is %#x instead of %#x; is the sender of the same version?",
			words[atMagic], uint32(magic))
	}
	if m.ValueBytes != 4 && m.ValueBytes != 8 {
		return Message{}, corrupt("values of %d bytes", words[atValueBytes])
	}
	if want := MessageBytes(m.Rows, words[atPayloadWords]); uint64(len(message)) != want {
		return Message{}, corrupt("%d bytes instead of %d", len(message), want)
	}
	if got := checksum(message); got != words[atCRC] {
		return Message{}, corrupt("the CRC is %#x instead of %#x", got, words[atCRC])
	}
	m.Directory = words[headerWords:][:Blocks(m.Rows)]
	m.Payload = words[headerWords+len(m.Directory):]
	last := uint32(0)
	for block, end := range m.Directory {
		if end < last {
			return Message{}, corrupt("block %d ends at word %d, before it begins", block, end)
		}
		last = end
	}
	if int(last) != len(m.Payload) {
		return Message{}, corrupt("blocks end at word %d of %d", last, len(m.Payload))
	}
	return m, nil
}

func corrupt(format string, a ...any) error {
	return &backend.OpError{Op: "open a compressed message", Err: backend.ErrInvalidInput,
		Detail: fmt.Sprintf(format, a...)}
}

// tooLarge reports a payload whose words have no numbers.
func tooLarge(words uint64) error {
	return &backend.OpError{Op: "compress a column", Err: backend.ErrLimit, Detail: fmt.Sprintf(
		"%d words of encoded blocks, the limit is %d; send fewer rows at a time", words, uint32(math.MaxUint32))}
}
