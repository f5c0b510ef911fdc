package relation

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// DeviceColumn is a payload column of 4 or 8 bytes a value on a device, with the space for one gathered piece of it.
// Release it; it is used by one goroutine at a time.
type DeviceColumn struct {
	dataType   arrow.DataType
	valueBytes int
	values     *backend.Buffer
	validity   *backend.Buffer // bitmap; nil without nulls
	gathered   *backend.Buffer
	bits       *backend.Buffer
}

// DeviceValueBytes is the size of a value that a device can gather, 4 or 8, or 0 for other types.
func DeviceValueBytes(t arrow.DataType) int {
	if fixed, ok := t.(arrow.FixedWidthDataType); ok && t.ID() != arrow.DICTIONARY && t.ID() != arrow.EXTENSION &&
		(fixed.BitWidth() == 32 || fixed.BitWidth() == 64) {
		return fixed.BitWidth() / 8
	}
	return 0
}

func bitmapBytes(rows uint64) uint64 { return (rows + 31) / 32 * 4 }

// DeviceColumnBytes is the device memory that a DeviceColumn takes with pieces of pieceRows; 0 where the type cannot be
// gathered on a device.
func DeviceColumnBytes(column *arrow.Chunked, pieceRows uint64) uint64 {
	valueBytes := uint64(DeviceValueBytes(column.DataType()))
	if valueBytes == 0 {
		return 0
	}
	rows := uint64(column.Len()) + pieceRows
	need := rows*valueBytes + 4*backend.PlanAlignment
	if column.NullN() > 0 {
		need += bitmapBytes(rows) + 4
	}
	return need
}

// UploadColumn copies a column to the device. When it returns, the copy has been submitted and, for columns in imported
// memory, the column must stay alive until the device column is released.
func UploadColumn(ctx context.Context, device *backend.Device, name string, column *arrow.Chunked,
	pieceRows uint64) (_ *DeviceColumn, err error) {
	c := &DeviceColumn{dataType: column.DataType(), valueBytes: DeviceValueBytes(column.DataType())}
	if c.valueBytes == 0 {
		return nil, fmt.Errorf("%w: column %q of type %s cannot be gathered on a device", backend.ErrUnsupported, name,
			c.dataType)
	}
	defer func() {
		if err != nil {
			c.Release()
		}
	}()
	rows, width := uint64(column.Len()), uint64(c.valueBytes)
	allocate := func(b **backend.Buffer, sizeBytes uint64, label string) {
		if err == nil {
			*b, err = device.Allocate(ctx, backend.DeviceLocal, sizeBytes, "column "+name+label)
		}
	}
	allocate(&c.values, rows*width, "")
	allocate(&c.gathered, pieceRows*width, ", gathered")
	if column.NullN() > 0 {
		allocate(&c.validity, bitmapBytes(rows), " validity")
		allocate(&c.bits, bitmapBytes(pieceRows), " validity, gathered")
	}
	if err != nil {
		return nil, err
	}
	if err = UploadValues(ctx, device, column, c.values); err != nil || c.validity == nil {
		return c, err
	}
	bitmap, at := make([]byte, bitmapBytes(rows)), int64(0)
	for _, chunk := range column.Chunks() {
		data, n := chunk.Data(), int64(chunk.Len())
		if valid := data.Buffers()[0]; valid != nil && valid.Len() > 0 && chunk.NullN() > 0 {
			bitutil.CopyBitmap(valid.Bytes(), data.Offset(), int(n), bitmap, int(at))
		} else {
			bitutil.SetBitsTo(bitmap, at, n, true)
		}
		at += n
	}
	_, err = device.Upload(ctx, c.validity.All(), bitmap)
	return c, err
}

// UploadValues is [UploadRows] for all rows of a column, to the start of a buffer.
func UploadValues(ctx context.Context, device *backend.Device, column *arrow.Chunked, to *backend.Buffer) error {
	return UploadRows(ctx, device, column, 0, column.Len(), to.All())
}

// UploadRows copies the values of the rows [from, to) of a column of [DeviceValueBytes] to the start of a range that
// holds as many; those of nulls are anything. When it returns, the copy has been submitted; for columns in imported
// memory, the column must stay alive until it is done. Errors wrap backend.ErrUnsupported (another type),
// backend.ErrInvalidInput (rows that the column does not have, a range that is too small) and those of the device.
func UploadRows(
	ctx context.Context, device *backend.Device, column *arrow.Chunked, from, to int, into backend.Range,
) error {
	width, err := uploadedBytes(column, to-from, into)
	if err != nil {
		return err
	}
	if from < 0 || to < from || to > column.Len() {
		return fmt.Errorf("%w: rows [%d, %d) of a column of %d rows", backend.ErrInvalidInput, from, to, column.Len())
	}
	start, at := 0, into.OffsetBytes
	for _, chunk := range column.Chunks() {
		first, end := max(from-start, 0), min(to-start, chunk.Len())
		start += chunk.Len()
		if first >= end {
			continue
		}
		offset := chunk.Data().Offset()
		values := chunk.Data().Buffers()[1].Bytes()[(offset+first)*width : (offset+end)*width]
		if _, err := device.Upload(ctx, into.Buffer.Range(at, uint64(len(values))), values); err != nil {
			return err
		}
		at += uint64(len(values))
	}
	return nil
}

// UploadAt is [UploadRows] for the rows of the given numbers, which are gathered first; meant for few. The values were
// read when it returns.
func UploadAt(
	ctx context.Context, device *backend.Device, column *arrow.Chunked, ids []uint32, into backend.Range,
) error {
	width, err := uploadedBytes(column, len(ids), into)
	if err != nil || len(ids) == 0 {
		return err
	}
	taken, err := Take(ctx, column, ids, memory.NewGoAllocator())
	if err != nil {
		return err
	}
	defer taken.Release()
	sizeBytes := len(ids) * width
	_, err = device.Upload(ctx, into.Buffer.Range(into.OffsetBytes, uint64(sizeBytes)),
		taken.Data().Buffers()[1].Bytes()[:sizeBytes])
	return err
}

// uploadedBytes is the size of a value of the column, of which rows must fit the range.
func uploadedBytes(column *arrow.Chunked, rows int, into backend.Range) (int, error) {
	width := DeviceValueBytes(column.DataType())
	if width == 0 {
		return 0, fmt.Errorf("%w: a column of type %s cannot be uploaded", backend.ErrUnsupported, column.DataType())
	}
	if rows > 0 && uint64(rows)*uint64(width) > into.SizeBytes {
		return 0, fmt.Errorf("%w: %d values of %d bytes do not fit %d bytes", backend.ErrInvalidInput, rows, width,
			into.SizeBytes)
	}
	return width, nil
}

// RecordGather records the fetching of the values of rows row numbers, at most pieceRows.
func (c *DeviceColumn) RecordGather(list *backend.List, ops *primitive.Ops, ids backend.Range, rows uint32) error {
	if err := ops.Gather(list, c.valueBytes, c.values.All(), ids, c.gathered.All(), rows); err != nil ||
		c.validity == nil {
		return err
	}
	return ops.GatherBits(list, c.validity.All(), ids, c.bits.All(), rows, 0)
}

// Fetch downloads the first rows gathered values as an array, which the caller releases.
func (c *DeviceColumn) Fetch(ctx context.Context, device *backend.Device, rows uint32,
	allocator memory.Allocator) (arrow.Array, error) {
	values, err := fetch(ctx, device, c.gathered.Range(0, uint64(rows)*uint64(c.valueBytes)), allocator)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	var validity *memory.Buffer
	nulls := 0
	if c.validity != nil {
		if validity, err = fetch(ctx, device, c.bits.Range(0, bitmapBytes(uint64(rows))), allocator); err != nil {
			return nil, err
		}
		defer validity.Release()
		nulls = int(rows) - bitutil.CountSetBits(validity.Bytes(), 0, int(rows))
	}
	data := array.NewData(c.dataType, int(rows), []*memory.Buffer{validity, values}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// fetch downloads bytes into memory of the allocator.
func fetch(ctx context.Context, device *backend.Device, from backend.Range,
	allocator memory.Allocator) (*memory.Buffer, error) {
	buffer := memory.NewResizableBuffer(allocator)
	buffer.Resize(int(from.SizeBytes))
	if err := device.Download(ctx, buffer.Bytes(), from); err != nil {
		buffer.Release()
		return nil, err
	}
	return buffer, nil
}

// FetchValues downloads values of a type of [DeviceValueBytes] as an array without nulls, which the caller releases.
func FetchValues(ctx context.Context, device *backend.Device, t arrow.DataType, from backend.Range,
	allocator memory.Allocator) (arrow.Array, error) {
	values, err := fetch(ctx, device, from, allocator)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	data := array.NewData(t, int(from.SizeBytes)/DeviceValueBytes(t), []*memory.Buffer{nil, values}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// Release gives the device memory back. Safe on nil.
func (c *DeviceColumn) Release() {
	if c == nil {
		return
	}
	for _, b := range []*backend.Buffer{c.values, c.validity, c.gathered, c.bits} {
		b.Release()
	}
}
