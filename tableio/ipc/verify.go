package ipc

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Arrow's metadata is made of flatbuffers, whose vectors state their lengths.
// The decoder reserves memory for these before it looks at the elements, and Go
// cannot recover from the exhaustion of memory that a corrupt length causes, so
// they are compared with the bytes that are there first. All other corruption
// ends in an index out of range, which core.Guard turns into an error.

// flatTable is a flatbuffers table; accessors panic outside the buffer.
type flatTable struct {
	buf []byte
	at  int
}

func flatRoot(buf []byte) flatTable {
	return flatTable{buf, int(binary.LittleEndian.Uint32(buf))}
}

// slot is the position of the field with this number, or 0 where it is absent.
func (t flatTable) slot(field int) int {
	vtable := t.at - int(int32(binary.LittleEndian.Uint32(t.buf[t.at:])))
	if 4+2*field >= int(binary.LittleEndian.Uint16(t.buf[vtable:])) {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(t.buf[vtable+4+2*field:]))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

func (t flatTable) int64(field int) int64 {
	if at := t.slot(field); at != 0 {
		return int64(binary.LittleEndian.Uint64(t.buf[at:]))
	}
	return 0
}

func (t flatTable) byte(field int) byte {
	if at := t.slot(field); at != 0 {
		return t.buf[at]
	}
	return 0
}

func (t flatTable) table(field int) (flatTable, bool) {
	at := t.slot(field)
	if at == 0 {
		return flatTable{}, false
	}
	return flatTable{t.buf, at + int(binary.LittleEndian.Uint32(t.buf[at:]))}, true
}

// vector gives position and length of a vector whose elements have this size.
func (t flatTable) vector(field, elementBytes int) (at, length int, err error) {
	slot := t.slot(field)
	if slot == 0 {
		return 0, 0, nil
	}
	at = slot + int(binary.LittleEndian.Uint32(t.buf[slot:]))
	length = int(binary.LittleEndian.Uint32(t.buf[at:]))
	at += 4
	if length > (len(t.buf)-at)/elementBytes {
		return 0, 0, fmt.Errorf("the metadata claims %d elements in %d bytes", length, len(t.buf)-at)
	}
	return at, length, nil
}

// Field numbers of the tables in Arrow's Message.fbs, Schema.fbs and File.fbs.
const (
	messageHeaderType, messageHeader, messageBodyLength, messageMetadata = 1, 2, 3, 4
	schemaFields, schemaMetadata                                         = 1, 2
	fieldChildren, fieldMetadata                                         = 5, 6
	keyValueKey                                                          = 0
	dictionaryData                                                       = 1
	batchLength, batchNodes, batchBuffers                                = 0, 1, 2
	batchCompression, batchVariadicCounts                                = 3, 4
	footerSchema, footerDictionaries, footerBatches, footerMetadata      = 1, 2, 3, 4

	headerSchema, headerDictionary, headerBatch = 1, 2, 3

	nodeBytes, bufferBytes, blockBytes, offsetBytes = 16, 16, 24, 4
)

// verifyMessage checks the metadata of one message, whose body can be looked at,
// and gives the rows of a record batch.
func verifyMessage(meta []byte, body io.ReaderAt) (rows int64, err error) {
	message := flatRoot(meta)
	if err := verifyMessageMetadata(message); err != nil {
		return 0, err
	}
	header, ok := message.table(messageHeader)
	if !ok {
		return 0, errors.New("a message has no header")
	}
	switch kind := message.byte(messageHeaderType); kind {
	case headerSchema:
		if bodyBytes := message.int64(messageBodyLength); bodyBytes != 0 {
			return 0, fmt.Errorf("a schema claims a body of %d bytes", bodyBytes)
		}
		return 0, verifySchema(header)
	case headerDictionary:
		batch, ok := header.table(dictionaryData)
		if !ok {
			return 0, errors.New("a dictionary has no data")
		}
		return 0, verifyBatch(batch, body)
	case headerBatch:
		if rows = header.int64(batchLength); rows < 0 {
			return 0, fmt.Errorf("a record batch claims %d rows", rows)
		}
		return rows, verifyBatch(header, body)
	default:
		return 0, fmt.Errorf("a message has the unknown type %d", kind)
	}
}

// verifyMessageMetadata refuses compression as Arrow 0.17 wrote it, with buffers that look like any others and a key in
// the metadata of the message.
func verifyMessageMetadata(message flatTable) error {
	const experimental = "ARROW:experimental_compression"
	at, length, err := message.vector(messageMetadata, offsetBytes)
	if err != nil {
		return err
	}
	for i := range length {
		element := at + i*offsetBytes
		pair := flatTable{message.buf, element + int(binary.LittleEndian.Uint32(message.buf[element:]))}
		key, keyBytes, err := pair.vector(keyValueKey, 1)
		if err != nil {
			return err
		}
		if string(message.buf[key:key+keyBytes]) == experimental {
			return fmt.Errorf("the buffers are compressed as by Arrow 0.17 (%s); write the file again with Arrow 1.0 or later",
				experimental)
		}
	}
	return nil
}

func verifySchema(schema flatTable) error {
	if _, _, err := schema.vector(schemaMetadata, offsetBytes); err != nil {
		return err
	}
	budget := len(schema.buf) / 8 // no field is smaller, so more of them are a knot
	return verifyFields(schema, schemaFields, &budget)
}

func verifyFields(parent flatTable, vector int, budget *int) error {
	at, length, err := parent.vector(vector, offsetBytes)
	if err != nil {
		return err
	}
	if *budget -= length; *budget < 0 {
		return errors.New("the schema refers to itself")
	}
	for i := range length {
		element := at + i*offsetBytes
		field := flatTable{parent.buf, element + int(binary.LittleEndian.Uint32(parent.buf[element:]))}
		if _, _, err := field.vector(fieldMetadata, offsetBytes); err != nil {
			return err
		}
		if err := verifyFields(field, fieldChildren, budget); err != nil {
			return err
		}
	}
	return nil
}

// maxCompressionRatio is above what LZ4 and zstd reach: zstd's best block holds
// 128 KiB in 4 bytes.
const maxCompressionRatio = 1 << 16

func verifyBatch(batch flatTable, body io.ReaderAt) error {
	if _, _, err := batch.vector(batchNodes, nodeBytes); err != nil {
		return err
	}
	buffersAt, buffers, err := batch.vector(batchBuffers, bufferBytes)
	if err != nil {
		return err
	}
	countsAt, counts, err := batch.vector(batchVariadicCounts, 8)
	if err != nil {
		return err
	}
	for i := range counts {
		if count := binary.LittleEndian.Uint64(batch.buf[countsAt+8*i:]); count > uint64(buffers) {
			return fmt.Errorf("a column claims %d buffers of %d", count, buffers)
		}
	}
	if _, compressed := batch.table(batchCompression); !compressed {
		return nil
	}
	for i := range buffers {
		at := buffersAt + i*bufferBytes
		offset := int64(binary.LittleEndian.Uint64(batch.buf[at:]))
		length := int64(binary.LittleEndian.Uint64(batch.buf[at+8:]))
		if length == 0 {
			continue
		}
		var prefix [8]byte
		if _, err := body.ReadAt(prefix[:], offset); err != nil {
			return fmt.Errorf("a buffer lies outside its message: %w", err)
		}
		size := int64(binary.LittleEndian.Uint64(prefix[:]))
		if size != -1 && (size < 0 || size/maxCompressionRatio > length) {
			return fmt.Errorf("a buffer of %d bytes claims to hold %d", length, size)
		}
	}
	return nil
}

// messagePlace is where a message of an Arrow file lies: 8-byte prefix and metadata, then the body.
type messagePlace struct {
	offset, metaBytes, bodyBytes int64
	rows                         int64 // of a record batch that was verified
}

// verifyFile checks the footer of an Arrow file and all messages that it lists, and gives the number of rows and the
// record batches.
func verifyFile(in io.ReaderAt, sizeBytes int64) (rows int64, batches []messagePlace, err error) {
	const tail = 10 // footer length and magic
	if sizeBytes < 2*tail {
		return 0, nil, errors.New("the file is too short")
	}
	end := make([]byte, tail)
	if _, err := in.ReadAt(end, sizeBytes-tail); err != nil {
		return 0, nil, err
	}
	if string(end[4:]) != Magic {
		return 0, nil, errors.New("the end of an Arrow file is missing; it may be cut off")
	}
	footerBytes := int64(binary.LittleEndian.Uint32(end))
	if footerBytes > sizeBytes-tail {
		return 0, nil, fmt.Errorf("the footer claims %d bytes of %d", footerBytes, sizeBytes)
	}
	buf := make([]byte, footerBytes)
	if _, err := in.ReadAt(buf, sizeBytes-tail-footerBytes); err != nil {
		return 0, nil, err
	}
	footer := flatRoot(buf)
	if _, _, err := footer.vector(footerMetadata, offsetBytes); err != nil {
		return 0, nil, err
	}
	schema, ok := footer.table(footerSchema)
	if !ok {
		return 0, nil, errors.New("the footer has no schema")
	}
	if err := verifySchema(schema); err != nil {
		return 0, nil, err
	}
	gapAt := int64(len(Magic)) + 2 // behind the last message
	for _, list := range []int{footerDictionaries, footerBatches} {
		at, length, err := footer.vector(list, blockBytes)
		if err != nil {
			return 0, nil, err
		}
		for i := range length {
			block, blockRows, err := verifyBlock(in, sizeBytes, buf[at+i*blockBytes:])
			if rows += blockRows; err == nil && rows < 0 {
				err = errors.New("the batches claim too many rows")
			}
			if err != nil {
				return 0, nil, fmt.Errorf("block %d: %w", i, err)
			}
			gapAt = max(gapAt, block.offset+block.metaBytes+block.bodyBytes)
			if list == footerBatches {
				block.rows = blockRows
				batches = append(batches, block)
			}
		}
	}
	if err := verifyGap(in, gapAt, sizeBytes-tail-footerBytes); err != nil {
		return 0, nil, err
	}
	return rows, batches, nil
}

// verifyGap looks for the end of another file between the last message and the footer. Files that were put behind one
// another have only the last one's footer, whose places are then places of the first one's messages.
func verifyGap(in io.ReaderAt, gap, footerAt int64) error {
	if gap >= footerAt {
		return nil
	}
	between := bufio.NewReaderSize(io.NewSectionReader(in, gap, footerAt-gap), 1<<16)
	for {
		_, err := between.ReadSlice(Magic[0])
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			break
		}
		if rest, _ := between.Peek(2*len(Magic) - 1); string(rest) == (Magic + Magic)[1:] {
			return errors.New("several Arrow files were put behind one another; only a stream can be continued so")
		}
	}
	return nil
}

// verifyBlock checks one message of a file.
func verifyBlock(in io.ReaderAt, sizeBytes int64, entry []byte) (block messagePlace, rows int64, err error) {
	block.offset = int64(binary.LittleEndian.Uint64(entry))
	block.metaBytes = int64(int32(binary.LittleEndian.Uint32(entry[8:])))
	block.bodyBytes = int64(binary.LittleEndian.Uint64(entry[16:]))
	if block.offset < 0 || block.offset > sizeBytes || block.metaBytes < 8 || block.metaBytes > sizeBytes-block.offset ||
		block.bodyBytes < 0 || block.bodyBytes > sizeBytes-block.offset-block.metaBytes {
		return block, 0, fmt.Errorf("it lies outside the file of %d bytes", sizeBytes)
	}
	meta, err := block.metadata(in)
	if err != nil {
		return block, 0, err
	}
	rows, err = verifyMessage(meta, block.body(in))
	return block, rows, err
}

func (b messagePlace) metadata(in io.ReaderAt) ([]byte, error) {
	meta := make([]byte, b.metaBytes)
	if _, err := in.ReadAt(meta, b.offset); err != nil {
		return nil, err
	}
	prefix := 8
	if binary.LittleEndian.Uint32(meta) != continuation {
		prefix = 4 // as written before Arrow 0.15
	}
	return meta[prefix:], nil
}

func (b messagePlace) body(in io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(in, b.offset+b.metaBytes, b.bodyBytes)
}

// VerifyStoredSchema checks the Arrow schema that Parquet files carry in base64.
func VerifyStoredSchema(text string) error {
	encoding := base64.StdEncoding
	if len(text)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	content, err := encoding.DecodeString(text)
	if err != nil {
		return err
	}
	prefix := 8
	if binary.LittleEndian.Uint32(content) != continuation {
		prefix = 4
	}
	_, err = verifyMessage(content[prefix:], nil)
	return err
}
