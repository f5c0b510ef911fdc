//go:build opencl && linux

package opencl

import (
	_ "embed"
	"fmt"
	"slices"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

//go:embed memory_proof.cl
var memoryProof string

// proveInPlace has a kernel change memory of the host between changes by the host. The standard promises that both see
// the same only while memory is mapped, so a GPU must show it. Memory objects are made with flags.
func (d *driver) proveInPlace(flags cl.MemFlag) error {
	const words, rounds = 1 << 16, 4
	memory, unmap, err := offheap.Map(4 * words)
	if err != nil {
		return err
	}
	defer unmap()
	buffer, err := d.context.CreateBufferUnsafe(cl.MemReadWrite|flags, 4*words, unsafe.Pointer(&memory[0]))
	if err != nil {
		return asResult(err)
	}
	defer buffer.Release()
	spec := &backend.KernelSpec{Name: "memory_proof", Constants: []backend.Constant{{Name: "workgroup"}}}
	p := &program{d: d, spec: spec}
	defer p.release()
	if err := p.build(d.text(memoryProof), d.options(spec, backend.Config{"workgroup": proofWorkgroup})); err != nil {
		return err
	}
	if _, err := p.finish(); err != nil {
		return asResult(err)
	}
	if err := p.kernel.SetArgBuffer(0, buffer); err != nil {
		return asResult(err)
	}
	queue, values := d.lines[backend.Compute].queue, backend.Words(memory)
	for round := range uint32(rounds) {
		for i := range values {
			values[i] = uint32(i) * (round + 3)
		}
		ran, err := queue.EnqueueNDRangeKernel(p.kernel, nil, []int{words}, []int{proofWorkgroup}, nil)
		if err != nil {
			return asResult(err)
		}
		err = cl.WaitForEvents([]*cl.Event{ran})
		ran.Release()
		if err != nil {
			return asResult(err)
		}
		for i, is := range values {
			if want := uint32(i)*(round+3) + 1; is != want {
				return fmt.Errorf("word %d is %#x, not %#x (round %d)", i, is, want, round)
			}
		}
	}
	return nil
}

// stagedOnly says that a device does not use memory of the host in place.
func (d *driver) stagedOnly(reason error) {
	i := &d.info
	i.Unified, i.Limits.ImportAlignment = false, 0
	i.Features = slices.DeleteFunc(slices.Clone(i.Features), func(f string) bool { return f == "hostMemoryImport" })
	i.Features = append(i.Features, "no memory of the host in place: "+reason.Error())
}
