package hugepages

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestAdvise: the kernel lists the advice about a mapping, "hg" for large pages, whether or not it has any.
func TestAdvise(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages to ask for: ", err)
	}
	memory, err := syscall.Mmap(-1, 0, 4*hugePageBytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(memory)) }()
	require.NotContains(t, flagsAt(t, &memory[0]), "hg")
	Advise(nil)
	Advise(memory[100 : 100+hugePageBytes-pageBytes])
	require.NotContains(t, flagsAt(t, &memory[pageBytes]), "hg", "too short for one")
	Advise(memory[100:])
	require.NotContains(t, flagsAt(t, &memory[0]), "hg", "a page that is shared with others")
	require.Contains(t, flagsAt(t, &memory[pageBytes]), "hg")
	Advise(memory)
	require.Contains(t, flagsAt(t, &memory[0]), "hg")
}

// flagsAt returns the flags of the mapping that contains an address.
func flagsAt(t *testing.T, at *byte) []string {
	text, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	inside := false
	for _, line := range strings.Split(string(text), "\n") {
		var low, high uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &low, &high); n == 2 {
			inside = low <= uintptr(unsafe.Pointer(at)) && uintptr(unsafe.Pointer(at)) < high
		} else if flags, found := strings.CutPrefix(line, "VmFlags:"); found && inside {
			return strings.Fields(flags)
		}
	}
	t.Fatal("no such mapping")
	return nil
}
