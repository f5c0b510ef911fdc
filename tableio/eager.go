package tableio

import "os"

// eagerFile asks the system to bring what is written to disk while more is being written, so that little is left to
// wait for when the file has to be there.
type eagerFile struct {
	file    *os.File
	written int64
	asked   int64
}

// eagerBytes are asked for at a time.
const eagerBytes = 16 << 20

func (f *eagerFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if f.written += int64(n); f.written-f.asked >= eagerBytes {
		startWriteback(f.file, f.asked, f.written-f.asked)
		f.asked = f.written
	}
	return n, err
}
