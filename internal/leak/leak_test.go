package leak

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/offheap"
)

// plant tells TestPlanted, in a separate process, what to leave behind.
const plant = "SPIRJOIN_TEST_PLANT"

func TestMain(m *testing.M) { Main(m) }

// TestPlanted leaves behind what the environment says.
func TestPlanted(t *testing.T) {
	if os.Getenv(plant) != "" {
		Patience = 100 * time.Millisecond
	}
	switch os.Getenv(plant) {
	case "goroutine":
		go func() { select {} }()
	case "checked goroutine":
		t.Run("inner", func(t *testing.T) {
			Check(t)
			go func() { time.Sleep(time.Minute) }()
		})
	case "block":
		offheap.Shared.Allocate(1 << 20)
	}
}

// TestPlantedLeaksAreFound runs TestPlanted in separate processes.
func TestPlantedLeaksAreFound(t *testing.T) {
	if os.Getenv(plant) != "" {
		t.Skip("planted")
	}
	for planted, says := range map[string]string{
		"":                  "PASS",
		"goroutine":         "internal/leak.TestPlanted",
		"checked goroutine": "a goroutine was left",
		"block":             "bytes of blocks of offheap.Shared",
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestPlanted$")
		command.Env = append(os.Environ(), plant+"="+planted)
		output, err := command.CombinedOutput()
		require.Equal(t, planted == "", err == nil, "%s", output)
		require.Contains(t, string(output), says)
	}
}

// TestPatience: a goroutine that is about to end is not a leak, and one that ran before the test is not counted.
func TestPatience(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	go func() { <-release }()
	require.Len(t, left(nil, 0), 1)
	before := running()
	go func() { time.Sleep(20 * time.Millisecond) }()
	require.Empty(t, left(before, Patience))
}

// TestUnbegun: a goroutine counts from its start, although its stack names no function of this module before it runs.
func TestUnbegun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	release := make(chan struct{})
	var waits sync.WaitGroup
	defer waits.Wait()
	defer close(release)
	before := running()
	waits.Go(func() { <-release })
	require.Len(t, left(before, 0), 1)
}
