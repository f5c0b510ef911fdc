package ipc

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// fileLayout lays the messages of an Arrow file out: schema, record batches, dictionaries, footer. It leaves
// dictionaries out until it is ending, and then record batches.
type fileLayout struct {
	out    io.Writer
	at     int64 // bytes written
	ending bool

	schema                []byte // the message
	dictionaries, batches []messagePlace
}

const (
	Magic           = "ARROW1"
	metadataVersion = 4 // V5
)

func (f *fileLayout) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	f.at += int64(n)
	return n, err
}

func (f *fileLayout) Start() error { return nil }

func (f *fileLayout) WritePayload(payload ipc.Payload) error {
	meta := payload.Meta()
	defer meta.Release()
	switch flatRoot(meta.Bytes()).byte(messageHeaderType) {
	case headerSchema:
		if f.schema != nil {
			return nil
		}
		f.schema = bytes.Clone(meta.Bytes())
		if _, err := f.Write([]byte(Magic + "\x00\x00")); err != nil {
			return err
		}
		_, err := payload.WritePayload(f)
		return err
	case headerDictionary:
		if f.ending {
			return f.writeBlock(payload, &f.dictionaries)
		}
	case headerBatch:
		if !f.ending {
			return f.writeBlock(payload, &f.batches)
		}
	}
	return nil
}

func (f *fileLayout) writeBlock(payload ipc.Payload, blocks *[]messagePlace) error {
	block := messagePlace{offset: f.at}
	metaBytes, err := payload.WritePayload(f)
	block.metaBytes, block.bodyBytes = int64(metaBytes), f.at-block.offset-int64(metaBytes)
	*blocks = append(*blocks, block)
	return err
}

// Close writes the end of the stream and the footer.
func (f *fileLayout) Close() error {
	end := binary.LittleEndian.AppendUint64(nil, continuation) // and a length of 0
	footer := f.footer()
	end = append(end, footer...)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(footer)))
	_, err := f.Write(append(end, Magic...))
	return err
}

// footer is a flatbuffer of a table, as File.fbs has it, whose schema is that in the message of the schema: places in a
// flatbuffer are relative, so the message is part of the footer as it is.
func (f *fileLayout) footer() []byte {
	const vtable, table, vectors = 4, 16, 36 // where they begin
	const schema, dictionaries, batches, version = 4, 8, 12, 16
	le := binary.LittleEndian
	out := le.AppendUint32(nil, table)
	for _, field := range []uint16{table - vtable, vectors - table, version, schema, dictionaries, batches} {
		out = le.AppendUint16(out, field)
	}
	out = le.AppendUint32(out, table-vtable)
	out = append(out, make([]byte, vectors-len(out))...)
	le.PutUint16(out[table+version:], metadataVersion)
	for _, list := range []struct {
		field  int
		blocks []messagePlace
	}{{dictionaries, f.dictionaries}, {batches, f.batches}} {
		for len(out)%8 != 4 { // the blocks have 8-byte words
			out = append(out, 0)
		}
		le.PutUint32(out[table+list.field:], uint32(len(out)-table-list.field))
		out = le.AppendUint32(out, uint32(len(list.blocks)))
		for _, block := range list.blocks {
			out = le.AppendUint64(out, uint64(block.offset))
			out = le.AppendUint64(out, uint64(block.metaBytes))
			out = le.AppendUint64(out, uint64(block.bodyBytes))
		}
	}
	message, _ := flatRoot(f.schema).table(messageHeader)
	le.PutUint32(out[table+schema:], uint32(len(out)+message.at-table-schema))
	return append(out, f.schema...)
}
