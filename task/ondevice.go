package task

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// DividePlace says where both sides of a join are divided by their keys.
type DividePlace uint8

const (
	DivideAuto     DividePlace = iota // on devices with memory of their own, while all parts are in memory
	DivideOnHost                      // always
	DivideOnDevice                    // on any device, blocks that it can divide
)

// deviceDivider divides blocks of both sides on the device, which reads and writes host memory faster than the host's
// cores scatter rows. A block is a chunk whose rows are partitioned by the highest bits of their mixed keys. In host
// memory, the parts of a block are slices of one buffer for each column. Three goroutines have a block each:
//
//	queue     host memory ───► device ───► host memory
//	upload    block 3: columns
//	compute                    block 2: partition
//	deliver                                block 1: columns, part after part
//
// The host divides the blocks that the device cannot divide, because of a NULL or a column without 4 or 8 bytes per
// value, and the blocks for which the device has no memory. It finds the same part for a key ([exchange.Digit]).
type deviceDivider struct {
	*sides
	lane, deliver *exec.Lane
}

// blocksOnDevice is how many blocks device memory has room for: one that is loaded, one before and after the partition,
// with its keys mixed and not, and one that is brought to the host.
const blocksOnDevice = 6

// leastSliceBytes is the size of a part of a block below which the host divides: a device with little memory has small
// blocks, so that parts would be many slices, which take longer to upload than the division saves (docs/exchange.md).
const leastSliceBytes = 512 << 10

// blockBytesOnDevice is the size of blocks that the device divides.
func (m *Means) blockBytesOnDevice() uint64 {
	return min(mostTableBlockBytes, m.DeviceCapBytes()/blocksOnDevice)
}

// deviceBlock is rows of a side that are divided on the device, or were divided by the host.
type deviceBlock struct {
	side  relation.Side
	table arrow.Table    // until it is divided
	lane  *exec.Lane     // has the memory of the chunk; nil if the device does not divide the block
	chunk relation.Chunk // of the table; once it is divided, part after part
	rows  []uint64       // of each part
	parts []arrow.RecordBatch
}

// Release releases the rows.
func (b *deviceBlock) Release() {
	b.leaveDevice()
	b.dropTable()
	relation.ReleaseAll(b.parts)
}

func (b *deviceBlock) leaveDevice() {
	if b.lane != nil {
		b.lane.Memory.ReleaseAll()
		b.lane = nil
	}
}

func (b *deviceBlock) dropTable() {
	if b.table != nil {
		b.table.Release()
		b.table = nil
	}
}

// planOnDevice decides whether blocks are divided on the device. If they are, it rounds the number of parts up to a
// power of 2.
func (p *sides) planOnDevice() {
	keyBytes := p.keyBytesOnDevice(p.divider.Hashes)
	if keyBytes == 0 {
		return
	}
	parts := 1
	for parts < p.divider.Parts {
		parts *= 2
	}
	small := p.blockBytesOnDevice()/uint64(parts) < leastSliceBytes
	if !small || p.DivideOn == DivideOnDevice {
		p.divider.KeyBytes, p.divider.Parts = keyBytes, parts
	}
}

// keyBytesOnDevice is the size of the values of keys by which the device divides; 0 if the host does.
func (m *Means) keyBytesOnDevice(hashes *keys.Hashes) int {
	inMemory := m.HostCapBytes() == exec.Unlimited && m.PartsBytes == 0
	if !inMemory || m.DivideOn == DivideOnHost || m.DivideOn == DivideAuto && m.Device().Info().Unified {
		return 0
	}
	return hashes.ValueBytes()
}

// DividesOnDevice reports whether the device can divide all blocks of both sides. A side without a table is taken to
// have no NULL.
func (m *Means) DividesOnDevice(layout *join.Layout, schemas [2]*arrow.Schema, tables [2]arrow.Table) bool {
	spec := &layout.Spec
	hashes, err := keys.PlanHashes(schemas, spec.Keys(), spec.NullEquals()...)
	if err != nil || m.keyBytesOnDevice(hashes) == 0 {
		return false
	}
	for side, schema := range schemas {
		for _, name := range layout.Needed[side] {
			at := schema.FieldIndices(name)[0]
			if !isWord(schema.Field(at).Type) || tables[side] != nil && tables[side].Column(at).Data().NullN() > 0 {
				return false
			}
		}
	}
	return true
}

// divideOnDevice has goroutines of a flow divide blocks.
func (p *sides) divideOnDevice(flow *exec.Flow, blocks *exec.Pipe[*sideBlock], divided *exec.Pipe[*dividedBlock]) {
	grant, ctx := p.Budget().Empty(), flow.Context()
	flow.AtEnd(grant.Release)
	d := &deviceDivider{sides: p, lane: exec.NewLane(ctx, p.Ops, grant)}
	d.deliver = d.lane.On(ctx, backend.Deliver)
	loaded, parted := exec.NewPipe[*deviceBlock](flow, 0), exec.NewPipe[*deviceBlock](flow, 0)
	exec.PassOn(flow, "load", blocks, loaded, d.load)
	exec.PassOn(flow, "divide", loaded, parted, d.divide)
	exec.PassOn(flow, "bring", parted, divided, d.bring)
}

// load begins to bring a block to the device.
func (d *deviceDivider) load(ctx context.Context, rows *sideBlock) (loaded *deviceBlock, err error) {
	b := &deviceBlock{side: rows.side, table: d.table(rows)}
	defer func() {
		if loaded == nil {
			b.Release()
		}
	}()
	defer exec.Begin(ctx, "load").Rows(uint64(b.table.NumRows())).End()
	if !hasWords(b.table) {
		return b, nil
	}
	b.lane = d.lane.Nested(ctx)
	return d.orOnHost(b, b.load(ctx, d.key(b)))
}

// key is the number of the key column of a block.
func (d *deviceDivider) key(b *deviceBlock) int {
	return b.table.Schema().FieldIndices(d.part.Layout.Spec.Keys()[b.side][0])[0]
}

// isWord reports whether values of a type have 4 or 8 bytes.
func isWord(t arrow.DataType) bool { return relation.WordBits(t) == 32 || relation.WordBits(t) == 64 }

// hasWords reports whether a table has rows, and all of its columns 4 or 8 bytes per value and no NULL.
func hasWords(table arrow.Table) bool {
	for i := range int(table.NumCols()) {
		if column := table.Column(i).Data(); !isWord(column.DataType()) || column.NullN() > 0 {
			return false
		}
	}
	return table.NumRows() > 0
}

// load brings the columns of the table to the device; one is the key.
func (b *deviceBlock) load(ctx context.Context, key int) error {
	rows := b.table.NumRows()
	columns := make([]relation.Values, b.table.NumCols())
	for i := range columns {
		bytes := relation.WordBits(b.table.Column(i).DataType()) / 8
		buffer := b.lane.Memory.New(uint64(rows)*uint64(bytes), "block of column "+b.table.Column(i).Name())
		columns[i] = relation.Values{Data: buffer.All(), Bytes: bytes}
	}
	if err := b.lane.Memory.Err(); err != nil {
		return err
	}
	var transfers []backend.Transfer
	for i, values := range columns {
		of, err := relation.Transfers(b.table.Column(i).Data(), 0, int(rows), values.Data)
		if err != nil {
			return err
		}
		transfers = append(transfers, of...)
	}
	b.chunk = relation.Chunk{Rows: uint64(rows), Keys: columns[key]}
	b.chunk.Payload = slices.Delete(columns, key, key+1)
	_, err := b.lane.Device().UploadAll(ctx, transfers)
	return err
}

// orOnHost leaves a block to the host if the device has no memory for it.
func (d *deviceDivider) orOnHost(b *deviceBlock, err error) (*deviceBlock, error) {
	if errors.Is(err, backend.ErrDeviceMemory) {
		b.leaveDevice()
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// divide partitions a block.
func (d *deviceDivider) divide(ctx context.Context, b *deviceBlock) (divided *deviceBlock, err error) {
	defer func() {
		if divided == nil {
			b.Release()
		}
	}()
	defer exec.Begin(ctx, "divide").Rows(uint64(b.table.NumRows())).End()
	if b.lane != nil {
		if _, err := d.orOnHost(b, d.partition(ctx, b)); err != nil {
			return nil, err
		}
	}
	if b.lane == nil && b.table.NumRows() > 0 {
		b.parts, err = d.divider.Divide(ctx, b.side, b.table, d.Allocator)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// partition divides a block that is on the device.
func (d *deviceDivider) partition(ctx context.Context, b *deviceBlock) (err error) {
	digit, whole := d.divider.Digit(), b.chunk
	if b.chunk, b.rows, err = peers.Partition(ctx, b.lane, &whole, digit.Bits, digit.Seed); err != nil {
		return err
	}
	for _, column := range append(whole.Payload, whole.Keys) {
		b.lane.Memory.Release(column.Data.Buffer)
	}
	return nil
}

// bring brings the parts of a block to the host.
func (d *deviceDivider) bring(ctx context.Context, b *deviceBlock) (*dividedBlock, error) {
	defer b.Release()
	if b.lane == nil {
		parts := b.parts
		b.parts = nil
		return &dividedBlock{b.side, parts}, nil
	}
	defer exec.Begin(ctx, "bring").Rows(b.chunk.Rows).End()
	columns := slices.Insert(slices.Clone(b.chunk.Payload), d.key(b), b.chunk.Keys)
	buffers, err := d.download(ctx, columns)
	defer func() {
		relation.ReleaseAll(buffers)
	}()
	if err != nil {
		return nil, err
	}
	d.onDevice.Add(1)
	return &dividedBlock{b.side, d.cut(b.table.Schema(), columns, buffers, b.rows)}, nil
}

// download brings columns to host memory, which the caller releases, also after an error. Kernels write imported
// memory.
func (d *deviceDivider) download(ctx context.Context, columns []relation.Values) (buffers []*memory.Buffer, err error) {
	list, device := d.deliver.List("bring parts"), d.lane.Device()
	empty := len(list.Commands)
	var held []*backend.Buffer
	defer func() {
		relation.ReleaseAll(held)
	}()
	var later []backend.Transfer
	for _, column := range columns {
		buffer := memory.NewResizableBuffer(d.Allocator)
		buffer.Resize(int(column.Data.SizeBytes))
		buffers = append(buffers, buffer)
		to, ok := device.Imported(buffer.Bytes(), 4)
		if !ok {
			later = append(later, backend.Transfer{Device: column.Data, Host: buffer.Bytes()})
			continue
		}
		held = append(held, to.Buffer)
		if err := d.deliver.Copy(list, to, column.Data); err != nil {
			return buffers, err
		}
	}
	var copied backend.Point
	if len(list.Commands) > empty {
		if copied, err = device.Submit(ctx, d.deliver.Role, list); err != nil {
			return buffers, err
		}
	}
	err = device.DownloadAll(ctx, later)
	return buffers, cmp.Or(err, copied.Wait(ctx))
}

// cut returns the parts of a block, which share the buffers of its columns.
func (d *deviceDivider) cut(schema *arrow.Schema, columns []relation.Values, buffers []*memory.Buffer, rows []uint64) (
	parts []arrow.RecordBatch) {
	from := 0
	for part := range d.divider.All() {
		n := 0
		if part < len(rows) { // rows whose key is NULL have a part, too
			n = int(rows[part])
		}
		arrays := make([]arrow.Array, len(columns))
		for i, column := range columns {
			values := memory.SliceBuffer(buffers[i], from*column.Bytes, n*column.Bytes)
			data := array.NewData(schema.Field(i).Type, n, []*memory.Buffer{nil, values}, nil, 0, 0)
			arrays[i] = array.MakeFromData(data)
			values.Release()
			data.Release()
		}
		parts = append(parts, array.NewRecordBatch(schema, arrays, int64(n)))
		relation.ReleaseAll(arrays)
		from += n
	}
	return parts
}
