package tableio

import (
	"os"
	"syscall"
)

const syncFileRangeWrite = 2 // SYNC_FILE_RANGE_WRITE: start, and wait for nothing

// startWriteback starts to bring a range of a file to disk. It is a hint: a failure shows when the file is synced.
func startWriteback(file *os.File, offset, sizeBytes int64) {
	_ = syscall.SyncFileRange(int(file.Fd()), offset, sizeBytes, syncFileRangeWrite)
}
