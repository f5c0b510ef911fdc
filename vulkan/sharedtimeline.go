package vulkan

import (
	"syscall"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan/cuda"
)

/*
#include "shim.h"
*/
import "C"

// sharedTimeline is a timeline semaphore of a device that CUDA has opened on its GPU.
type sharedTimeline struct {
	d      *driver
	handle vk.Semaphore
	cuda   *cuda.Timeline
}

func (d *driver) shareTimeline(gpu *cuda.GPU) (*sharedTimeline, error) {
	if err := d.enter("share a semaphore"); err != nil {
		return nil, err
	}
	defer d.leave()
	var handle C.uint64_t
	if err := d.check(result(C.sj_create_shared_timeline(d.shim, &handle)), "share a semaphore", "making it"); err != nil {
		return nil, err
	}
	t := &sharedTimeline{d: d, handle: handleOf[vk.Semaphore](handle)}
	var fd C.int
	err := d.check(result(C.sj_export_timeline(d.shim, handle, &fd)), "share a semaphore", "exporting it")
	if err == nil {
		if t.cuda, err = gpu.ImportTimeline(int(fd)); err != nil {
			_ = syscall.Close(int(fd))
		}
	}
	if err != nil {
		vk.DestroySemaphore(d.device, t.handle, nil)
		return nil, err
	}
	return t, nil
}

// raise sets the value from the host.
func (t *sharedTimeline) raise(value uint64) error {
	if err := t.d.enter("set a semaphore"); err != nil {
		return err
	}
	defer t.d.leave()
	return t.d.check(result(C.sj_raise(t.d.shim, raw(t.handle), C.uint64_t(value))), "set a semaphore", "to %d", value)
}

// close releases what CUDA has of the semaphore, and the semaphore itself unless the device is closed or keeps it.
func (t *sharedTimeline) close(kept bool) {
	t.cuda.Close()
	t.d.life.RLock()
	defer t.d.life.RUnlock()
	if !t.d.closed && !kept {
		vk.DestroySemaphore(t.d.device, t.handle, nil)
	}
}

// semaphoresOf lists semaphores of this device and their values after those that are there.
func (d *driver) semaphoresOf(list []backend.SemaphoreValue, semaphores, values []C.uint64_t) error {
	if len(list) > len(semaphores) {
		return d.misuse("submit", "%d semaphores", len(list))
	}
	for i, v := range list {
		t, ok := v.Semaphore.(*sharedTimeline)
		if !ok || t.d != d {
			return d.misuse("submit", "a semaphore of another device")
		}
		semaphores[i], values[i] = raw(t.handle), C.uint64_t(v.Value)
	}
	return nil
}
