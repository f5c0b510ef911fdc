package offheap

import (
	"os"
	"runtime"
	"sync"

	"github.com/spirjoin/spirjoin/internal/hugepages"
)

// Populate has the system give all pages of new memory, which is zero, on all cores. A driver that pins memory would
// take them one after the other, and wait until each is cleared.
func Populate(memory []byte) {
	var group sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		group.Go(func() {
			for at := core * hugepages.Bytes; at < len(memory); at += cores * hugepages.Bytes {
				for page := at; page < min(at+hugepages.Bytes, len(memory)); page += os.Getpagesize() {
					memory[page] = 0
				}
			}
		})
	}
	group.Wait()
}
