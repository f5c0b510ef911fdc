package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pipeReader is what reads standard output.
type pipeReader uint8

const (
	noPipe     pipeReader = iota
	elsewhere             // a program that does not write on the terminal
	onTerminal            // one that writes on a terminal, or one that is not known
	pager                 // one that takes the whole terminal
)

var pagers = []string{"less", "more", "most", "bat", "batcat", "nvim", "vim", "view"}

// readerOf tells what reads a pipe. Only Linux says; programs of other users are not known.
func readerOf(stream any) pipeReader {
	file, ok := stream.(*os.File)
	if !ok {
		return noPipe
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return noPipe
	}
	inputs, _ := filepath.Glob("/proc/[0-9]*/fd/0")
	return readerAmong(inputs, info, 0)
}

// readerAmong finds the process that reads a pipe, among the standard inputs of all processes. If that process writes
// to a pipe, its reader counts. pipes is the number of pipes followed so far.
func readerAmong(inputs []string, pipe os.FileInfo, pipes int) pipeReader {
	for _, input := range inputs {
		if info, err := os.Stat(input); err != nil || !os.SameFile(info, pipe) {
			continue
		}
		process := filepath.Dir(filepath.Dir(input))
		name, _ := os.ReadFile(filepath.Join(process, "comm"))
		if slices.Contains(pagers, strings.TrimSpace(string(name))) {
			return pager
		}
		output, err := os.Stat(filepath.Join(process, "fd/1"))
		switch {
		case err != nil || output.Mode()&os.ModeCharDevice != 0 && !isNull(output):
			return onTerminal
		case output.Mode()&os.ModeNamedPipe != 0 && pipes < 10:
			return readerAmong(inputs, output, pipes+1)
		}
		return elsewhere
	}
	return onTerminal
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}
