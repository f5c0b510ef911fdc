package vulkan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// said requires that exactly the planted fault was reported.
func said(t *testing.T, what string) {
	t.Helper()
	messages := vulkantest.Take(t)
	require.NotEmpty(t, messages, "the planted fault went unseen")
	for _, m := range messages {
		require.Equal(t, vulkan.Error, m.Severity)
		require.Contains(t, m.ID+" "+m.Text, what)
		require.True(t, strings.HasPrefix(m.String(), "error: "+m.ID))
	}
}

// Under validation, planted faults show.

func TestLeakIsReported(t *testing.T) {
	if vulkantest.Validation(t) == vulkan.Off {
		t.Skip("needs the validation layer")
	}
	d := vulkantest.Open(t)[0]
	require.NoError(t, vulkan.Leak(d))
	require.NoError(t, d.Close())
	said(t, "VUID-vkDestroyDevice-device")
}

func TestHazardIsReported(t *testing.T) {
	if vulkantest.Validation(t) != vulkan.Sync {
		t.Skip("needs synchronisation validation")
	}
	b := newBench(t, vulkantest.Open(t)[0])
	buffer := b.buffer(backend.DeviceLocal, 1024)
	fill := func(barrier bool) backend.Step {
		return backend.Step{Command: backend.Command{Kind: backend.Fill, Dst: buffer.Range(0, 4096), Value: 1},
			Barrier: barrier}
	}
	b.submit(backend.Compute, 1, fill(false), fill(true), fill(true))
	b.wait(backend.Compute, 1)
	require.Empty(t, vulkantest.Take(t))
	b.submit(backend.Compute, 2, fill(false), fill(false))
	b.wait(backend.Compute, 2)
	said(t, "SYNC-HAZARD-WRITE-AFTER-WRITE")
}

func TestBadAddressIsReported(t *testing.T) {
	if vulkantest.Validation(t) != vulkan.GPUAssisted {
		t.Skip("needs GPU-assisted validation")
	}
	d := vulkantest.Open(t)[0]
	if !strings.Contains(d.Info().Name, "llvmpipe") {
		t.Skip("a bad address ends the process on other drivers")
	}
	b := newBench(t, d)
	buffer := b.buffer(backend.DeviceLocal, 1024)
	k := iotaKernel(t, b.device, nil)
	command := numbers(k, buffer, 0)
	b.submit(backend.Compute, 1, backend.Step{Command: command})
	b.wait(backend.Compute, 1)
	require.Empty(t, vulkantest.Take(t))
	command.Args = []backend.Range{{}} // absent: address 0
	b.submit(backend.Compute, 2, backend.Step{Command: command})
	b.wait(backend.Compute, 2)
	said(t, "Device address")
}

func TestPartialSubgroupsAreRefused(t *testing.T) {
	if vulkantest.Validation(t) != vulkan.GPUAssisted {
		t.Skip("needs GPU-assisted validation")
	}
	d := vulkantest.Open(t)[0]
	if !strings.Contains(d.Info().Name, "llvmpipe") {
		t.Skip("other drivers do well")
	}
	_, err := d.Compile(kernel.Iota.KernelSpec, backend.Config{"workgroup": 12, "items": 8})
	require.ErrorIs(t, err, backend.ErrUnsupported)
	require.ErrorContains(t, err, "multiple of 8")
}
