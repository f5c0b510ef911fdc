package backendtest

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// rig submits hand-made batches to a driver. Buffers and kernels come from a Device above the same driver, which itself
// submits nothing: waits and barriers are those that the check asks for.
type rig struct {
	t         *testing.T
	driver    backend.Driver
	device    *backend.Device
	submitted [backend.Roles]uint64
	buffers   []*backend.Buffer
}

// newRig opens a driver. At the end of the test it waits for all submissions, releases the buffers and expects the
// driver to close without an error.
func (s *suite) newRig(t *testing.T) *rig {
	t.Helper()
	driver := s.open(t)
	r := &rig{t: t, driver: driver, device: backend.NewDevice(driver, backend.DeviceOptions{WaitLimit: waitLimit})}
	t.Cleanup(func() {
		for role, value := range r.submitted {
			if value > 0 {
				require.NoError(t, driver.Wait(background, backend.Role(role), value, waitLimit))
			}
		}
		for _, b := range r.buffers {
			b.Release()
		}
		require.NoError(t, r.device.Close(), "Close of the driver")
	})
	return r
}

// roles are those that the device has; all of them copy and fill.
func (r *rig) roles() []backend.Role { return rolesOf(r.driver.Info(), false) }

// rolesOf lists the roles of a device, or only those that run kernels.
func rolesOf(info *backend.DeviceInfo, kernels bool) (roles []backend.Role) {
	for role := range backend.Roles {
		if here, computes := info.Runs(role); here && (computes || !kernels) {
			roles = append(roles, role)
		}
	}
	return roles
}

// buffer allocates words 32-bit words filled with the marker where they are mapped.
func (r *rig) buffer(memory backend.Memory, words int) *backend.Buffer {
	r.t.Helper()
	b, err := r.device.Allocate(background, memory, uint64(words)*4, "test")
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	return b
}

// local allocates a device-local buffer that holds data.
func (r *rig) local(data []uint32) *backend.Buffer {
	r.t.Helper()
	b := r.buffer(backend.DeviceLocal, len(data))
	r.put(b, data)
	return b
}

func (r *rig) kernel(spec *backend.KernelSpec, config backend.Config) *backend.Kernel {
	r.t.Helper()
	k, err := r.device.Kernel(spec, config)
	require.NoError(r.t, err, "%s with %s", spec.Name, config)
	return k
}

// submit hands a batch to the driver and returns its point.
func (r *rig) submit(role backend.Role, waits []backend.QueuePoint, steps ...backend.Step) backend.QueuePoint {
	r.t.Helper()
	r.submitted[role]++
	batch := &backend.Batch{Role: role, Waits: waits, Steps: steps, Signal: r.submitted[role]}
	require.NoError(r.t, r.driver.Submit(batch))
	return backend.QueuePoint{Role: role, Value: batch.Signal}
}

func (r *rig) wait(p backend.QueuePoint) {
	r.t.Helper()
	require.NoError(r.t, r.driver.Wait(background, p.Role, p.Value, waitLimit))
}

// run submits a batch to the compute queue and waits for it.
func (r *rig) run(steps ...backend.Step) {
	r.t.Helper()
	r.wait(r.submit(backend.Compute, nil, steps...))
}

// put copies data to the front of a buffer that nothing uses.
func (r *rig) put(b *backend.Buffer, data []uint32) {
	r.t.Helper()
	if len(data) == 0 {
		return
	}
	if mapped := b.Bytes(); mapped != nil {
		copy(backend.Words(mapped), data)
		return
	}
	staged, err := r.device.Allocate(background, backend.HostVisible, uint64(len(data))*4, "staging")
	require.NoError(r.t, err)
	copy(backend.Words(staged.Bytes()), data)
	r.run(step(copyCommand(b.Range(0, staged.SizeBytes()), staged.All())))
	staged.Release()
}

// get returns the content of a buffer that nothing writes.
func (r *rig) get(b *backend.Buffer) []uint32 {
	r.t.Helper()
	out := make([]uint32, b.SizeBytes()/4)
	if len(out) == 0 {
		return out
	}
	if mapped := b.Bytes(); mapped != nil {
		copy(out, backend.Words(mapped))
		return out
	}
	staged, err := r.device.Allocate(background, backend.HostVisible, b.SizeBytes(), "staging")
	require.NoError(r.t, err)
	r.run(step(copyCommand(staged.All(), b.All())))
	copy(out, backend.Words(staged.Bytes()))
	staged.Release()
	return out
}

func copyCommand(dst, src backend.Range) backend.Command {
	return backend.Command{Kind: backend.Copy, Dst: dst, Src: src}
}

func fillCommand(dst backend.Range, value uint32) backend.Command {
	return backend.Command{Kind: backend.Fill, Dst: dst, Value: value}
}

func dispatchCommand(k *backend.Kernel, first, end uint32, args []backend.Range, params ...uint32) backend.Command {
	return backend.Command{Kind: backend.Dispatch, Kernel: k, FirstGroup: first, EndGroup: end, Args: args,
		Params: params}
}

// step is a command that needs no barrier, after one that waits for everything before it.
func step(c backend.Command) backend.Step { return backend.Step{Command: c} }

func after(c backend.Command) backend.Step { return backend.Step{Command: c, Barrier: true} }

// randomWords returns n words that depend on the seed alone.
func randomWords(seed uint64, n int) []uint32 {
	words := make([]uint32, n)
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	rand.NewChaCha8(key).Read(backend.AsBytes(words))
	return words
}

func isError(err, sentinel error) bool { return errors.Is(err, sentinel) }
