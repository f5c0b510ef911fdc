package backendtest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// importable returns a device and memory of four parts that it can import, each of partBytes; it skips where it
// imports none.
func importable(t *testing.T, s *suite) (device *backend.Device, memory []byte, partBytes uint64) {
	device = s.openDevice(t, backend.DeviceOptions{})
	alignment := device.Info().Limits.ImportAlignment
	if alignment == 0 {
		t.Skip("the device imports no memory")
	}
	partBytes = (uint64(64<<10) + alignment - 1) / alignment * alignment
	return device, alignedMemory(t, 4*partBytes, max(alignment, 4096)), partBytes
}

// checkImportedTransfers uploads from and downloads to slices of imported memory.
func checkImportedTransfers(t *testing.T, s *suite) {
	device, memory, _ := importable(t, s)
	imported, err := device.Import(background, memory, "arrow column")
	require.NoError(t, err)
	host := backend.Words(memory)
	data := randomWords(9, 1000)
	copy(host[5:], data)
	b := allocate(t, device, 1000)
	point, err := device.Upload(background, b.All(), backend.AsBytes(host[5:1005]))
	require.NoError(t, err)
	require.NoError(t, point.Wait(background))
	requireWords(t, data, download(t, device, b), "upload")
	require.NoError(t, device.Download(background, backend.AsBytes(host[2001:3001]), b.All()))
	requireWords(t, data, host[2001:3001], "download")
	assert.Zero(t, host[2000]|host[3001], "neighbours are untouched")
	_, err = device.Upload(background, b.All(), backend.AsBytes(host[5:1005]))
	require.NoError(t, err)
	imported.Release()
	again, err := device.Import(background, memory, "arrow column, again")
	require.NoError(t, err, "once the upload is done")
	again.Release()
}

// checkSharedImports imports one table for several joins: whole, in part, from several goroutines, and again while it
// is still in use. All of them see the same bytes, work on them is ordered, and memory beyond an import is refused.
func checkSharedImports(t *testing.T, s *suite) {
	device, memory, part := importable(t, s)
	table := memory[:3*part]
	first, err := device.Import(background, table, "table")
	require.NoError(t, err)
	_, err = device.Import(background, memory[2*part:], "half of it beyond")
	requireOneOf(t, err, backend.ErrInvalidInput)
	assert.ErrorContains(t, err, "table")
	_, err = device.Import(background, memory, "more than it")
	requireOneOf(t, err, backend.ErrInvalidInput)
	if a := device.Info().Limits.ImportAlignment; a > 1 {
		_, err = device.Import(background, table[1:1+part], "misaligned")
		requireOneOf(t, err, backend.ErrInvalidInput)
	}

	var shared [8]*backend.Buffer
	errs := make([]error, len(shared))
	var group sync.WaitGroup
	for i := range shared {
		group.Go(func() {
			lo := uint64(i%2) * part
			shared[i], errs[i] = device.Import(background, table[lo:lo+2*part], "part")
		})
	}
	group.Wait()
	block, _ := first.All().Block()
	for i, b := range shared {
		require.NoError(t, errs[i])
		same, offset := b.All().Block()
		require.Equal(t, block, same)
		require.Equal(t, uint64(i%2)*part, offset)
		require.Len(t, b.Bytes(), int(2*part))
	}

	// A chain over two views of the same bytes: the kernel writes one, the copy reads the other, the fill comes after.
	k, err := device.Kernel(kernel.Iota.KernelSpec, nil)
	require.NoError(t, err)
	rows := part / 4
	out := allocate(t, device, int(rows))
	var number, read, overwrite backend.List
	number.Commands = []backend.Command{dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), rows),
		[]backend.Range{first.Range(part, part)}, uint32(rows), 77)}
	read.Copy(out.All(), shared[1].Range(0, part))
	overwrite.Fill(shared[0].Range(part, part), 5)
	_, err = device.Submit(background, backend.Compute, &number)
	require.NoError(t, err)
	_, err = device.Submit(background, backend.Upload, &read)
	require.NoError(t, err)
	last, err := device.Submit(background, backend.Download, &overwrite)
	require.NoError(t, err)

	first.Release()
	for _, b := range shared {
		b.Release()
	}
	again, err := device.Import(background, table[:part], "table again") // perhaps while it is still in use
	require.NoError(t, err)
	again.Release()
	whole, err := device.Import(background, memory, "more than the table") // waits for that use
	require.NoError(t, err)
	require.NoError(t, last.Wait(background))
	requireWords(t, ascending(77, int(rows)), download(t, device, out), "read between the writes")
	requireWords(t, repeated(5, int(rows)), backend.Words(memory[part:2*part]), "written last")
	whole.Release()
}
