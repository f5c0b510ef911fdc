package host

import "runtime"

// What the backend reports where the operating system does not tell.
const (
	defaultProcessorName = runtime.GOARCH + " processor"
	unknownMemoryBytes   = 4 << 30
)
