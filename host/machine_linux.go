package host

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// processorName returns the model name of the first processor, or the architecture where the kernel does not say.
func processorName() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	return parseProcessorName(text)
}

func parseProcessorName(cpuinfo []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(cpuinfo))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" && strings.TrimSpace(value) != "" {
			return strings.TrimSpace(value)
		}
	}
	return defaultProcessorName
}

// machineMemory returns the memory that the process may use at most and what of it is available now.
func machineMemory() (totalBytes, availableBytes uint64) { return readMemory(os.DirFS("/")) }

// readMemory takes the lower of the machine's memory and the limits of the control groups (version 2 or 1) that the process
// is in. Memory of a group that only caches files counts as available, as it does for the machine.
func readMemory(root fs.FS) (totalBytes, availableBytes uint64) {
	machine := readTable(root, "proc/meminfo")
	totalBytes, availableBytes = machine["MemTotal:"]<<10, machine["MemAvailable:"]<<10
	if totalBytes == 0 {
		totalBytes, availableBytes = unknownMemoryBytes, unknownMemoryBytes
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var top, limitFile, usedFile, cacheKey string
		switch {
		case fields[1] == "":
			top, limitFile, usedFile, cacheKey = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		case strings.Contains(","+fields[1]+",", ",memory,"):
			top, limitFile, usedFile, cacheKey = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		default:
			continue
		}
		// In a container the path may be the host's, so that only the top is visible.
		for dir := path.Join(top, path.Clean("/"+fields[2])); ; dir = path.Dir(dir) {
			if limit, ok := readNumber(root, path.Join(dir, limitFile)); ok {
				used, _ := readNumber(root, path.Join(dir, usedFile))
				used -= min(used, readTable(root, path.Join(dir, "memory.stat"))[cacheKey])
				totalBytes, availableBytes = min(totalBytes, limit), min(availableBytes, limit-min(limit, used))
			}
			if dir == top {
				break
			}
		}
	}
	return totalBytes, availableBytes
}

// readNumber reads a file that holds one number; "max" is not one.
func readNumber(root fs.FS, name string) (uint64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	value, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return value, err == nil
}

// readTable reads a file of lines with a name and a number; what is not one is left out.
func readTable(root fs.FS, name string) map[string]uint64 {
	text, _ := fs.ReadFile(root, name)
	table := make(map[string]uint64)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 {
			if value, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				table[fields[0]] = value
			}
		}
	}
	return table
}
