package devicetest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/leak"
)

// plant tells TestPlanted, in a separate process, what to leave behind.
const plant = "SPIRJOIN_TEST_PLANT"

// TestPlanted leaves behind what the environment says.
func TestPlanted(t *testing.T) {
	planted := os.Getenv(plant)
	if planted == "" {
		t.Skip("run by TestPlantedLeaksAreFound")
	}
	leak.Patience = 100 * time.Millisecond
	ForEach(t, func(t *testing.T, device *backend.Device) {
		switch planted {
		case "buffer":
			_, err := device.Allocate(t.Context(), backend.DeviceLocal, 1000, "forgotten")
			require.NoError(t, err)
		case "buffer released twice":
			b, err := device.Allocate(t.Context(), backend.DeviceLocal, 1000, "forgotten")
			require.NoError(t, err)
			b.Release()
			b.Release()
		case "goroutine":
			go func() { <-context.Background().Done() }()
		case "device":
			_, err := host.New(host.Options{}).Open("host:cpu")
			require.NoError(t, err)
		}
	})
}

// TestPlantedLeaksAreFound runs TestPlanted in separate processes.
func TestPlantedLeaksAreFound(t *testing.T) {
	for planted, says := range map[string]string{
		"nothing":               "PASS",
		"buffer":                `"forgotten" (1000 bytes)`,
		"buffer released twice": `"forgotten" released twice`,
		"goroutine":             "a goroutine was left",
		"device":                "a goroutine was left",
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestPlanted$", "-test.v")
		command.Env = append(os.Environ(), plant+"="+planted, "SPIRJOIN_TEST_DEVICES=host")
		output, err := command.CombinedOutput()
		require.Equal(t, planted == "nothing", err == nil, "%s", output)
		require.Contains(t, string(output), says)
	}
}
