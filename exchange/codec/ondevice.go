package codec

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Device is the coder that uses a device: values go there, all destinations are encoded in one dispatch, and messages
// come back to where they are sent from. What takes more memory than a call may have is encoded or decoded in pieces of
// whole blocks.
type Device struct {
	ops   *primitive.Ops
	grant *exec.Grant
	room  uint64        // device memory of a call
	turns chan struct{} // holds a value for each call under way

	measuring sync.Mutex
	rates     *Rates
}

// deviceCalls is the number of calls that use the device at once: both sides of a join encode and decode.
const deviceCalls = 4

// LeastDeviceBytes is the least memory with which a device encodes and decodes.
const LeastDeviceBytes = deviceCalls * 256 << 10

// NewDevice returns a coder that uses at most sizeBytes of the device's memory, [LeastDeviceBytes] or more, which grant
// has. The caller releases the grant after the last call.
func NewDevice(ops *primitive.Ops, grant *exec.Grant, sizeBytes uint64) *Device {
	return &Device{ops: ops, grant: grant, room: sizeBytes / deviceCalls, turns: make(chan struct{}, deviceCalls)}
}

// OnDevice implements Coder.
func (d *Device) OnDevice() bool { return true }

// begin waits for a turn, and returns a lane of a call, which ends with end.
func (d *Device) begin(ctx context.Context) (lane *exec.Lane, end func(), err error) {
	select {
	case d.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, backend.ContextError(ctx)
	}
	lane = exec.NewLane(ctx, d.ops, d.grant)
	return lane, func() {
		lane.Memory.ReleaseAll()
		<-d.turns
	}, nil
}

// piece is a range of the blocks of a destination's values.
type piece struct {
	part      int
	from, end uint32 // rows
}

// Encode implements Coder.
func (d *Device) Encode(ctx context.Context, valueBytes int, parts [][]byte, scheme kernel.CascadeScheme,
	to [][]byte) (sizes []uint64, err error) {
	lane, end, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	words := make([]uint32, len(parts)) // of payload, so far
	var pieces []piece
	most := d.mostRows(valueBytes)
	if most == 0 {
		return nil, d.tooSmall()
	}
	rows, left := func(part int) uint32 { return uint32(len(parts[part]) / valueBytes) }, most
	run := func() error {
		defer lane.Memory.ReleaseAll()
		err := d.encode(ctx, lane, valueBytes, parts, scheme, pieces, to, words)
		pieces, left = pieces[:0], most
		return err
	}
	for part := range parts {
		for from := uint32(0); from < rows(part); {
			end := rows(part)
			if uint64(end-from) > left {
				end = from + uint32(left)
			}
			pieces = append(pieces, piece{part, from, end})
			used := uint64(Blocks(end-from)) * kernel.CascadeBlock
			from, left = end, left-min(left, used)
			if left < kernel.CascadeBlock {
				if err := run(); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(pieces) > 0 {
		if err := run(); err != nil {
			return nil, err
		}
	}
	for part := range parts {
		sizes = append(sizes, MessageBytes(rows(part), words[part]))
		Seal(to[part][:sizes[part]], valueBytes, rows(part))
	}
	return sizes, nil
}

// mostRows is the number of rows that are encoded at a time, in whole blocks: values, payload, slots, and for each
// block its place, its size and what the scan takes.
func (d *Device) mostRows(valueBytes int) uint64 {
	const fixedBytes = 64 << 10
	blockBytes := uint64(3*kernel.CascadeBlock*valueBytes + 128)
	return (d.room - min(d.room, fixedBytes)) / blockBytes * kernel.CascadeBlock
}

func (d *Device) tooSmall() error {
	return &backend.OpError{Op: "compress a column", Device: d.ops.Device().Info().Name, Err: backend.ErrDeviceMemory,
		Detail: fmt.Sprintf("%d bytes are too few for a block; it takes %d", d.room*deviceCalls, LeastDeviceBytes)}
}

// encode encodes pieces in one dispatch, and adds their blocks to the messages.
func (d *Device) encode(ctx context.Context, lane *exec.Lane, valueBytes int, parts [][]byte,
	scheme kernel.CascadeScheme, pieces []piece, to [][]byte, words []uint32) error {
	starts := []uint32{0}
	for _, p := range pieces {
		starts = append(starts, starts[len(starts)-1]+p.end-p.from)
	}
	plan, err := primitive.PlanCascadeEncode(d.ops.Tuning(), starts, valueBytes, scheme)
	if err != nil {
		return err
	}
	memory, sizeBytes := lane.Memory, uint64(starts[len(pieces)])*uint64(valueBytes)
	values, about := memory.New(sizeBytes, "values to compress"), memory.New(4*uint64(len(plan.Parts)), "parts")
	directory := memory.New(plan.DirectoryBytes, "directory")
	payload, scratch := memory.New(plan.PayloadBytes, "payload"), memory.New(plan.ScratchBytes, "slots")
	if err := memory.Err(); err != nil {
		return err
	}
	uploads := []backend.Transfer{{Device: about.All(), Host: backend.AsBytes(plan.Parts)}}
	for i, p := range pieces {
		from, size := uint64(starts[i])*uint64(valueBytes), uint64(p.end-p.from)*uint64(valueBytes)
		uploads = append(uploads, backend.Transfer{Device: values.Range(from, size),
			Host: parts[p.part][uint64(p.from)*uint64(valueBytes):][:size]})
	}
	if _, err := lane.Device().UploadAll(ctx, uploads); err != nil {
		return err
	}
	err = lane.Run(ctx, "compress", func(list *backend.List) error {
		return lane.CascadeEncode(list, &plan, &primitive.CascadeBuffers{Values: values.All(), Parts: about.All(),
			Directory: directory.All(), Payload: payload.All(), Scratch: scratch.All()})
	})
	if err != nil {
		return err
	}
	places := make([]uint32, plan.Blocks+1)
	if err := lane.Download(ctx, backend.AsBytes(places), directory.All()); err != nil {
		return err
	}
	var downloads []backend.Transfer
	for i, p := range pieces {
		of, rows := places[plan.Parts[2*i+1]:plan.Parts[2*i+3]+1], uint32(len(parts[p.part])/valueBytes)
		begin, size := of[0], of[len(of)-1]-of[0]
		blocks := DirectoryOf(to[p.part], rows)[p.from/kernel.CascadeBlock:]
		for block, end := range of[1:] {
			blocks[block] = words[p.part] + end - begin
		}
		downloads = append(downloads, backend.Transfer{Device: payload.Range(4*uint64(begin), 4*uint64(size)),
			Host: PayloadOf(to[p.part], rows)[4*uint64(words[p.part]):][:4*uint64(size)]})
		words[p.part] += size
	}
	return lane.Device().DownloadAll(ctx, downloads)
}

// Decode implements Coder.
func (d *Device) Decode(ctx context.Context, column Column, m Message) error {
	if err := m.suits(column); err != nil {
		return err
	}
	lane, end, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	most := int(d.mostRows(m.ValueBytes) / kernel.CascadeBlock)
	if most == 0 {
		return d.tooSmall()
	}
	for block := 0; block < len(m.Directory); {
		next, begin := block, m.begin(block)
		// The sender says how large a block is.
		for next < len(m.Directory) && next-block < most && uint64(m.Directory[next]-begin)*4 <= d.room/2 {
			next++
		}
		if next == block {
			return WrongBlock(uint64(block))
		}
		if err := d.decode(ctx, lane, column, m, block, next); err != nil {
			return err
		}
		block = next
	}
	return nil
}

// decode decodes the blocks from first to end-1.
func (d *Device) decode(ctx context.Context, lane *exec.Lane, column Column, m Message, first, end int) error {
	memory := lane.Memory
	defer memory.ReleaseAll()
	from := uint32(first * kernel.CascadeBlock)
	rows := min(m.Rows, uint32(end*kernel.CascadeBlock)) - from
	words := m.Payload[m.begin(first):m.begin(end)]
	places := make([]uint32, 1, end-first+1)
	for _, behind := range m.Directory[first:end] {
		places = append(places, behind-m.begin(first))
	}
	plan, err := primitive.PlanCascadeDecode(d.ops.Tuning(), []uint32{0, rows}, m.ValueBytes, 4*uint64(len(words)))
	if err != nil {
		return err
	}
	out := column.Values[int(from)*m.ValueBytes:][:int(rows)*m.ValueBytes]
	values, about := memory.New(uint64(len(out)), "decompressed"), memory.New(4*uint64(len(plan.Parts)), "parts")
	directory := memory.New(4*uint64(len(places)), "directory")
	payload, status := memory.New(max(4, 4*uint64(len(words))), "payload"), memory.New(4, "status")
	if err := memory.Err(); err != nil {
		return err
	}
	_, err = lane.Device().UploadAll(ctx, []backend.Transfer{{Device: about.All(), Host: backend.AsBytes(plan.Parts)},
		{Device: directory.All(), Host: backend.AsBytes(places)},
		{Device: payload.Range(0, 4*uint64(len(words))), Host: backend.AsBytes(words)}})
	if err != nil {
		return err
	}
	var wrong [1]uint32
	err = lane.Run(ctx, "decompress", func(list *backend.List) error {
		return lane.CascadeDecode(list, &plan, &primitive.CascadeBuffers{Values: values.All(), Parts: about.All(),
			Directory: directory.All(), Payload: payload.All(), Status: status.All()})
	}, backend.Transfer{Device: status.All(), Host: backend.AsBytes(wrong[:])})
	if err != nil {
		return err
	}
	if wrong[0] > 0 {
		return WrongBlock(uint64(first) + uint64(wrong[0]) - 1)
	}
	return lane.Download(ctx, out, values.All())
}

// Rates implements Coder. It encodes and decodes up to 16 MiB of the values twice: the first time compiles kernels.
// Transfers are part of the rates.
func (d *Device) Rates(ctx context.Context, values []byte) (Rates, error) {
	d.measuring.Lock()
	defer d.measuring.Unlock()
	if d.rates != nil {
		return *d.rates, nil
	}
	values = values[:min(len(values), 16<<20)&^7]
	rows := uint32(len(values) / 8)
	message, out := make([]byte, MostMessageBytes(rows, 8)), make([]byte, len(values))
	var encode, decode time.Duration
	for range 2 {
		begin := time.Now()
		sizes, err := d.Encode(ctx, 8, [][]byte{values}, kernel.CascadeRLE|kernel.CascadeDelta|kernel.CascadePack,
			[][]byte{message})
		if err != nil {
			return Rates{}, err
		}
		encode, begin = time.Since(begin), time.Now()
		m, err := Open(message[:sizes[0]])
		if err != nil {
			return Rates{}, err
		}
		if err := d.Decode(ctx, Column{out, 8}, m); err != nil {
			return Rates{}, err
		}
		decode = time.Since(begin)
	}
	rates := Uniform(float64(len(values))/encode.Seconds(), float64(len(values))/decode.Seconds(), 0)
	d.rates = &rates
	return rates, nil
}
