package measure

import (
	"fmt"
	"io"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Output is where a benchmark prints its lines, each as soon as it is known, and reports its progress. Errors of the
// writer are dropped; a writer that can fail must record them itself.
type Output struct {
	io.Writer
	Phase func(phase string, done, total uint64) // total is 0 if unknown
}

// Enter begins a phase of unknown length.
func (o Output) Enter(phase string) { o.Phase(phase, 0, 0) }

// Println prints a line.
func (o Output) Println(line string) { fmt.Fprintln(o, line) }

// DeviceText names a device and its driver.
func DeviceText(info *backend.DeviceInfo) string {
	return text.Printable(fmt.Sprintf("%s, %s %s", info.Name, info.Driver, info.DriverVersion))
}

// DefaultRows returns a number of rows that keeps a device busy for about a millisecond.
func DefaultRows(info *backend.DeviceInfo) uint64 {
	if info.CPULike() {
		return 1 << 20
	}
	return 1 << 27
}
