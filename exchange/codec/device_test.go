package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// onDevice uploads bytes; none are a word.
func onDevice(t *testing.T, device *backend.Device, bytes []byte) *backend.Buffer {
	b := memory(t, device, uint64(len(bytes)))
	point, err := device.Upload(t.Context(), b.Range(0, uint64(len(bytes))), bytes)
	require.NoError(t, err)
	require.NoError(t, point.Wait(t.Context()))
	return b
}

func memory(t *testing.T, device *backend.Device, sizeBytes uint64) *backend.Buffer {
	b, err := device.Allocate(t.Context(), backend.DeviceLocal, max(sizeBytes, 4), "test")
	require.NoError(t, err)
	t.Cleanup(b.Release)
	return b
}

func toHost(t *testing.T, device *backend.Device, from backend.Range) []byte {
	bytes := make([]byte, from.SizeBytes)
	require.NoError(t, device.Download(t.Context(), bytes, from))
	return bytes
}

// Messages of a device are those of the host, byte for byte, and a device decodes those of several senders.
func TestDevicesMakeTheSameMessages(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		starts := []uint32{0, 5000, 5000, 5001, 9000}
		for _, kind := range []string{"runs", "random", "descending"} {
			for _, valueBytes := range []int{4, 8} {
				column := columnOf(kind, valueBytes, 9000)
				want := encoded(t, column, starts, 7)
				values := onDevice(t, device, column.Values)
				plan, err := primitive.PlanCascadeEncode(ops.Tuning(), starts, valueBytes, 7)
				require.NoError(t, err)
				parts := onDevice(t, device, backend.AsBytes(plan.Parts))
				buffers := primitive.CascadeBuffers{Values: values.All(), Parts: parts.All(),
					Directory: memory(t, device, plan.DirectoryBytes).All(),
					Payload:   memory(t, device, plan.PayloadBytes).All(),
					Scratch:   memory(t, device, plan.ScratchBytes).All()}
				var list backend.List
				require.NoError(t, ops.CascadeEncode(&list, &plan, &buffers))
				require.NoError(t, device.Run(t.Context(), &list))
				places := backend.Words(toHost(t, device, buffers.Directory))
				var messages []codec.Message
				for i := range want {
					first, end := plan.Parts[2*i+1], plan.Parts[2*i+3]
					rows, begin, behind := starts[i+1]-starts[i], places[first], places[end]
					message := make([]byte, codec.MessageBytes(rows, behind-begin))
					codec.PutDirectory(message, rows, places[first:end+1])
					copy(codec.PayloadOf(message, rows),
						toHost(t, device, buffers.Payload.Part(4*uint64(begin), 4*uint64(behind-begin))))
					codec.Seal(message, valueBytes, rows)
					require.Equal(t, want[i], message, "%s, %d bytes, destination %d", kind, valueBytes, i)
					opened, err := codec.Open(message)
					require.NoError(t, err)
					messages = append(messages, opened)
				}
				decodeOn(t, ops, column, starts, messages)
			}
		}
	})
}

// decodeOn decodes messages on a device, and compares with the column.
func decodeOn(t *testing.T, ops *primitive.Ops, column codec.Column, starts []uint32, messages []codec.Message) {
	device := ops.Device()
	directory, err := codec.Directory(messages)
	require.NoError(t, err)
	var payload []uint32
	for _, m := range messages {
		payload = append(payload, m.Payload...)
	}
	plan, err := primitive.PlanCascadeDecode(ops.Tuning(), starts, column.ValueBytes, uint64(4*len(payload)))
	require.NoError(t, err)
	buffers := primitive.CascadeBuffers{Parts: onDevice(t, device, backend.AsBytes(plan.Parts)).All(),
		Directory: onDevice(t, device, backend.AsBytes(directory)).All(),
		Payload:   onDevice(t, device, backend.AsBytes(payload)).All(),
		Values:    memory(t, device, uint64(len(column.Values))).All(), Status: memory(t, device, 4).All()}
	var list backend.List
	require.NoError(t, ops.CascadeDecode(&list, &plan, &buffers))
	require.NoError(t, device.Run(t.Context(), &list))
	require.Equal(t, column.Values, toHost(t, device, buffers.Values))
	require.Equal(t, make([]byte, 4), toHost(t, device, buffers.Status))
}

// A device counts the bytes of a sample as the host does.
func TestDevicesSampleAlike(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		starts := []uint32{0, 30_000, 90_001}
		column := columnOf("runs", 8, 90_001)
		blocks := codec.SampleRows(starts)
		count := uint32(len(blocks) / 2)
		values, sampled := onDevice(t, device, column.Values), onDevice(t, device, backend.AsBytes(blocks))
		bytes := memory(t, device, 4*kernel.CascadeSchemes*uint64(count))
		var list backend.List
		require.NoError(t, ops.CascadeSizes(&list, 8, values.All(), sampled.All(), bytes.All(), count))
		require.NoError(t, device.Run(t.Context(), &list))
		require.Equal(t, codec.Sample(column, starts),
			codec.SizesOf(blocks, backend.Words(toHost(t, device, bytes.All())), 8))
	})
}
