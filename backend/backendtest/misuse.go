package backendtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var misuseChecks = []check{
	{"too many arguments", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		spec := *kernel.Iota.KernelSpec
		spec.Params = nil
		for i := range driver.Info().Limits.MaxArgumentBytes / 4 {
			spec.Params = append(spec.Params, fmt.Sprintf("param%d", i))
		}
		config, err := spec.Complete(nil)
		require.NoError(t, err)
		_, err = driver.Compile(&spec, config)
		requireOneOf(t, err, backend.ErrLimit, backend.ErrUnsupported)
		assert.ErrorContains(t, err, spec.Name, "the error names the kernel")
	}},
	{"unknown kernel", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		spec := &backend.KernelSpec{Name: "no_such_kernel", Args: kernel.Iota.Args, Params: kernel.Iota.Params,
			Constants: kernel.Iota.Constants}
		config, err := spec.Complete(nil)
		require.NoError(t, err)
		_, err = driver.Compile(spec, config)
		requireOneOf(t, err, backend.ErrUnsupported, backend.ErrInvalidInput)
		assert.ErrorContains(t, err, spec.Name)
	}},
	{"workgroup beyond the limit", func(t *testing.T, s *suite) {
		driver := s.newRig(t).driver
		config, err := kernel.Iota.Complete(backend.Config{"workgroup": driver.Info().Limits.MaxInvocations * 2})
		require.NoError(t, err)
		_, err = driver.Compile(kernel.Iota.KernelSpec, config)
		requireOneOf(t, err, backend.ErrLimit, backend.ErrUnsupported, backend.ErrInvalidInput)
	}},
	{"close with a live block", func(t *testing.T, s *suite) {
		driver := s.open(t)
		block, err := driver.AllocateBlock(12345, backend.HostVisible)
		require.NoError(t, err)
		require.NotNil(t, block)
		require.Error(t, driver.Close(), "a leak is reported")
	}},
	{"use after close", checkUseAfterClose},
	{"close waits for submitted work", func(t *testing.T, s *suite) {
		driver := s.open(t)
		mark := step(backend.Command{Kind: backend.Mark})
		for i := range uint64(20) {
			for _, role := range rolesOf(driver.Info(), false) {
				batch := &backend.Batch{Role: role, Signal: i + 1, Steps: []backend.Step{mark}}
				if role > 0 {
					batch.Waits = []backend.QueuePoint{{Role: role - 1, Value: i + 1}}
				}
				require.NoError(t, driver.Submit(batch))
			}
		}
		require.NoError(t, driver.Close())
	}},
}

func checkUseAfterClose(t *testing.T, s *suite) {
	driver := s.open(t)
	block, err := driver.AllocateBlock(4096, backend.DeviceLocal)
	require.NoError(t, err)
	require.NoError(t, driver.Submit(&backend.Batch{Role: backend.Compute, Signal: 1}))
	require.NoError(t, driver.Wait(background, backend.Compute, 1, waitLimit))
	require.NoError(t, block.Free())
	require.NoError(t, driver.Close())

	assert.NotNil(t, driver.Info())
	config, err := kernel.Iota.Complete(nil)
	require.NoError(t, err)
	for name, use := range map[string]func() error{
		"AllocateBlock": func() error { _, err := driver.AllocateBlock(4096, backend.DeviceLocal); return err },
		"ImportHost": func() error {
			_, err := driver.ImportHost(alignedMemory(t, 64<<10, 64<<10))
			return err
		},
		"Compile":   func() error { _, err := driver.Compile(kernel.Iota.KernelSpec, config); return err },
		"Submit":    func() error { return driver.Submit(&backend.Batch{Role: backend.Compute, Signal: 2}) },
		"Wait":      func() error { return driver.Wait(background, backend.Compute, 2, time.Millisecond) },
		"Completed": func() error { _, err := driver.Completed(backend.Compute); return err },
	} {
		assert.Error(t, use(), name)
	}
	_, ok := driver.Times(backend.Compute, 1)
	assert.False(t, ok)
	assert.NotPanics(t, func() { _ = driver.Close() }, "a second Close")
}
