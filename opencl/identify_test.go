//go:build opencl && linux

package opencl

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// TestIdentify: IDs are distinct, stay the same whatever else is listed, and name the driver. Devices of one UUID or
// place on the bus are twins; one that cannot be used is no twin of one that can.
func TestIdentify(t *testing.T) {
	const a, b = "0000000a-0000-0000-0000-000000000000", "0000000b-0000-0000-0000-000000000000"
	device := func(driver, name, uuid, pci, unusable string) *physical {
		return &physical{info: backend.DeviceInfo{Driver: driver, Name: name, UUID: uuid, PCI: pci, Unusable: unusable}}
	}
	list := func() []*physical {
		return []*physical{
			device("Old Driver", "card", a, "", "too old"),
			device("NVIDIA CUDA", "card", a, "0000:01:00.0", ""),
			device("rusticl", "card", a, "", ""),
			device("NVIDIA CUDA", "card", b, "0000:02:00.0", ""),
			device("Intel", "card 2", "", "0000:02:00.0", ""),
			device("Intel", "card 2", "", "0000:03:00.0", ""),
			device("Intel", "card 3", "", "0000:03:00.1", ""),
			device("cores", "cores", "", "", ""),
			device("cores", "cores", "", "", ""),
		}
	}
	all := list()
	identify(all)
	byID := make(map[string]bool)
	var twins []string
	for _, p := range all {
		require.True(t, strings.HasPrefix(p.info.ID, "opencl:"), p.info.ID)
		require.NotContains(t, p.info.ID, " ")
		byID[p.info.ID] = true
		twins = append(twins, p.info.TwinOf)
	}
	require.Len(t, byID, len(all), "distinct")
	id := func(i int) string { return all[i].info.ID }
	require.Equal(t, "opencl:old-driver:"+a, id(0))
	require.Equal(t, "opencl:nvidia-cuda:"+a, id(1))
	require.Equal(t, id(7)+"#2", id(8))
	require.Equal(t, []string{"", "", id(1), "", id(3), "", "", "", id(7)}, twins)

	for i, p := range list()[:8] {
		identify([]*physical{p})
		require.Equal(t, id(i), p.info.ID, "listed alone")
	}
}

// TestTwoOfOneDriver lists two devices of PoCL in a process of its own: their IDs differ and stay the same.
func TestTwoOfOneDriver(t *testing.T) {
	const listing = "SPIRJOIN_TEST_LISTING"
	if os.Getenv(listing) != "" {
		b, err := New(Options{})
		require.NoError(t, err)
		for _, p := range b.found {
			if p.info.Driver == pocl {
				os.Stdout.WriteString("device " + p.info.ID + " twin of " + p.info.TwinOf + "\n")
			}
		}
		require.NoError(t, b.Close())
		return
	}
	b, d := openFirst(t, Options{})
	require.NoError(t, d.Close())
	single := b.found[0].info
	if single.Driver != pocl {
		t.Skip("only PoCL can be told to list a device twice")
	}
	for range 2 {
		child := exec.Command(os.Args[0], "-test.run=^TestTwoOfOneDriver$", "-test.timeout=2m")
		child.Env = append(os.Environ(), listing+"=1", "POCL_DEVICES=pthread pthread")
		output, err := child.CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Contains(t, string(output), "device "+single.ID+" twin of \ndevice "+single.ID+"#2 twin of "+single.ID+"\n")
	}
}
