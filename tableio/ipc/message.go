package ipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/tableio/core"
)

const (
	continuation     = 0xffffffff // begins every message since Arrow 0.15
	maxMetadataBytes = 256 << 20
	firstBodyBytes   = 16 << 20
)

// streamMessages reads the messages of an Arrow IPC stream, verifies them and
// insists on the end-of-stream marker: a stream without it may have lost rows.
// The body of a message is allocated from mem.
type streamMessages struct {
	in        io.Reader
	mem       memory.Allocator
	sizeBytes int64 // of the whole content, 0 if it is not known before its end
	current   *ipc.Message
}

// Message returns the next message, valid until the next call, or io.EOF.
func (s *streamMessages) Message() (message *ipc.Message, err error) {
	s.Release()
	err = core.Guard(func() error {
		meta, err := s.metadata()
		if err != nil {
			return err
		}
		bodyBytes := flatRoot(meta).int64(messageBodyLength)
		if bodyBytes < 0 {
			return fmt.Errorf("a message claims a body of %d bytes", bodyBytes)
		}
		body := memory.NewResizableBuffer(s.mem)
		defer body.Release()
		if err := s.readBody(body, int(bodyBytes)); err != nil {
			return err
		}
		if _, err := verifyMessage(meta, bytes.NewReader(body.Bytes())); err != nil {
			return err
		}
		s.current = ipc.NewMessage(memory.NewBufferBytes(meta), body)
		return nil
	})
	return s.current, err
}

// readBody reads a body of any size. Where the size of the content is not known, the body grows while bytes come, so
// that a corrupt length costs no more memory than there is content; a large body is copied by a third more.
func (s *streamMessages) readBody(body *memory.Buffer, sizeBytes int) error {
	first := firstBodyBytes
	if s.sizeBytes > 0 {
		if first = sizeBytes; int64(sizeBytes) > s.sizeBytes {
			return errCutOff
		}
	}
	for step := first; body.Len() < sizeBytes; step *= 4 {
		have := body.Len()
		body.Resize(min(sizeBytes, step))
		if _, err := io.ReadFull(s.in, body.Bytes()[have:]); err != nil {
			return cutOff(err)
		}
	}
	return nil
}

func (s *streamMessages) metadata() ([]byte, error) {
	var word [4]byte
	if _, err := io.ReadFull(s.in, word[:]); err != nil {
		return nil, cutOff(err)
	}
	length := binary.LittleEndian.Uint32(word[:])
	if length == continuation {
		if _, err := io.ReadFull(s.in, word[:]); err != nil {
			return nil, cutOff(err)
		}
		length = binary.LittleEndian.Uint32(word[:])
	}
	if length == 0 {
		return nil, io.EOF
	}
	if length > maxMetadataBytes {
		return nil, fmt.Errorf(
			"a message claims metadata of %d bytes, more than the limit of %d", length, maxMetadataBytes)
	}
	meta := make([]byte, length)
	_, err := io.ReadFull(s.in, meta)
	return meta, cutOff(err)
}

var errCutOff = errors.New("the stream ends without its end-of-stream marker, so rows may be missing")

// cutOff names what an end in the wrong place means.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCutOff
	}
	return err
}

// Retain does nothing: the reader that uses the messages is their only owner.
func (s *streamMessages) Retain() {}

// Release drops the current message.
func (s *streamMessages) Release() {
	if s.current != nil {
		s.current.Release()
		s.current = nil
	}
}
