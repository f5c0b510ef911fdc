//go:build !unix

package endtoend

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
