package ipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// columnSelection reads some columns of the record batches of an Arrow file without the bytes of the others.
//
// The metadata of a record batch lists a node (rows and nulls) for every column and where in the body its buffers lie.
// The lists are cut down to the chosen columns, in place, and the body is put together from their buffers. Together
// with the schema of these columns that is a message like any other, for Arrow's reader to decode.
type columnSelection struct {
	schema      *arrow.Schema // of the chosen columns
	all         []int         // their indices in schema
	columns     []int         // their indices in the file
	bufferOf    []int         // the first buffer of every column of the file, and the number of all
	schemaBytes []byte        // an Arrow stream of nothing but schema
}

// bodyAlignment is how Arrow's writers align buffers.
const bodyAlignment = 64

// selectColumns says no where all columns are taken, or one twice, or where a column of the file has another
// layout than one node with its buffers: then messages are read as a whole. Values of the other endianness than the
// machine's are swapped by Arrow's reader, which learns of it from the schema.
func selectColumns(schema *arrow.Schema, columns []int, values endian.Endianness) (*columnSelection, bool) {
	distinct := map[int]bool{}
	for _, column := range columns {
		distinct[column] = true
	}
	if len(distinct) != len(columns) || len(columns) == schema.NumFields() {
		return nil, false
	}
	s := &columnSelection{schema: core.ChosenSchema(schema, columns), columns: columns, bufferOf: []int{0}}
	for i, field := range schema.Fields() {
		buffers := flatBuffers(field.Type)
		if buffers == 0 {
			return nil, false
		}
		s.bufferOf = append(s.bufferOf, s.bufferOf[i]+buffers)
	}
	for i := range columns {
		s.all = append(s.all, i)
	}
	var out bytes.Buffer
	if err := ipc.NewWriter(&out, ipc.WithSchema(s.schema.WithEndianness(values))).Close(); err != nil {
		return nil, false
	}
	s.schemaBytes = out.Bytes()
	return s, true
}

// flatBuffers is how many buffers a column of the type has; 0 where it is more than a node with buffers.
func flatBuffers(dt arrow.DataType) int {
	switch dt.(type) {
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		return 3
	case arrow.ExtensionType, arrow.NestedType, *arrow.DictionaryType, *arrow.RunEndEncodedType, *arrow.NullType,
		arrow.BinaryViewDataType:
		return 0
	case arrow.FixedWidthDataType:
		return 2
	}
	return 0
}

// read gives the chosen columns of a record batch, not validated.
func (s *columnSelection) read(in io.ReaderAt, block messagePlace, mem memory.Allocator) (arrow.RecordBatch, error) {
	meta, err := block.metadata(in)
	if err != nil {
		return nil, err
	}
	body := memory.NewResizableBuffer(mem)
	defer body.Release()
	if err := s.cut(meta, block.body(in), body); err != nil {
		return nil, err
	}
	message := ipc.NewMessage(memory.NewBufferBytes(meta), body)
	defer message.Release()
	reader, err := ipc.NewReaderFromMessageReader(&oneMessage{
		schema: streamMessages{in: bytes.NewReader(s.schemaBytes), mem: mem}, batch: message,
	}, ipc.WithAllocator(mem))
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	if !reader.Next() {
		return nil, errors.Join(reader.Err(), core.ErrCorrupt)
	}
	batch := reader.RecordBatch()
	batch.Retain()
	return batch, nil
}

// cut reduces the metadata of a record batch to the chosen columns and reads their buffers into body.
func (s *columnSelection) cut(meta []byte, from *io.SectionReader, body *memory.Buffer) error {
	message := flatRoot(meta)
	batch, ok := message.table(messageHeader)
	if !ok || message.byte(messageHeaderType) != headerBatch {
		return errors.New("the message holds no rows")
	}
	nodesAt, nodes, err := batch.vector(batchNodes, nodeBytes)
	if err != nil {
		return err
	}
	buffersAt, buffers, err := batch.vector(batchBuffers, bufferBytes)
	if err != nil {
		return err
	}
	if want := len(s.bufferOf) - 1; nodes != want || buffers != s.bufferOf[want] {
		return fmt.Errorf("the message has %d columns of %d buffers, the schema %d of %d",
			nodes, buffers, want, s.bufferOf[want])
	}
	oldNodes := bytes.Clone(meta[nodesAt : nodesAt+nodes*nodeBytes])
	oldBuffers := bytes.Clone(meta[buffersAt : buffersAt+buffers*bufferBytes])

	type part struct{ from, length, to int64 }
	var parts []part
	sizeBytes := int64(0)
	for i, column := range s.columns {
		copy(meta[nodesAt+i*nodeBytes:], oldNodes[column*nodeBytes:][:nodeBytes])
		for b := s.bufferOf[column]; b < s.bufferOf[column+1]; b++ {
			entry := oldBuffers[b*bufferBytes:]
			p := part{int64(binary.LittleEndian.Uint64(entry)), int64(binary.LittleEndian.Uint64(entry[8:])), sizeBytes}
			if p.from < 0 || p.length < 0 || p.from > from.Size() || p.length > from.Size()-p.from {
				return fmt.Errorf("column %q: a buffer lies outside its message", s.schema.Field(i).Name)
			}
			into := meta[buffersAt+len(parts)*bufferBytes:]
			binary.LittleEndian.PutUint64(into, uint64(p.to))
			binary.LittleEndian.PutUint64(into[8:], uint64(p.length))
			parts = append(parts, p)
			sizeBytes += (p.length + bodyAlignment - 1) / bodyAlignment * bodyAlignment
		}
	}
	binary.LittleEndian.PutUint32(meta[nodesAt-4:], uint32(len(s.columns)))
	binary.LittleEndian.PutUint32(meta[buffersAt-4:], uint32(len(parts)))
	if at := message.slot(messageBodyLength); at != 0 {
		binary.LittleEndian.PutUint64(meta[at:], uint64(sizeBytes))
	}
	body.Resize(int(sizeBytes))
	for _, p := range parts {
		if p.length == 0 {
			continue
		}
		if _, err := from.ReadAt(body.Bytes()[p.to:p.to+p.length], p.from); err != nil {
			return err
		}
	}
	return nil
}

// oneMessage gives a schema, then one record batch.
type oneMessage struct {
	schema streamMessages
	batch  *ipc.Message
	asked  int
}

func (m *oneMessage) Message() (*ipc.Message, error) {
	m.asked++
	switch m.asked {
	case 1:
		return m.schema.Message()
	case 2:
		return m.batch, nil
	}
	return nil, io.EOF
}

// Retain does nothing: the reader that uses the messages is their only owner.
func (m *oneMessage) Retain() {}

// Release drops the schema; the batch stays its owner's.
func (m *oneMessage) Release() { m.schema.Release() }
