package host

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

func TestReadMemory(t *testing.T) {
	const gib, mib = 1 << 30, 1 << 20
	meminfo := "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n"
	for name, c := range map[string]struct {
		files            map[string]string
		total, available uint64
	}{
		"no control group": {map[string]string{}, 16 * gib, 8 * gib},
		"version 2": {map[string]string{
			"proc/self/cgroup":                  "0::/job/step\n",
			"sys/fs/cgroup/job/memory.max":      "4294967296\n",
			"sys/fs/cgroup/job/memory.current":  "3221225472\n",
			"sys/fs/cgroup/job/memory.stat":     "anon 5\ninactive_file 1073741824\n",
			"sys/fs/cgroup/job/step/memory.max": "max\n",
		}, 4 * gib, 2 * gib},
		"version 2 in a container": {map[string]string{
			"proc/self/cgroup":             "0::/../other/path\n",
			"sys/fs/cgroup/memory.max":     "1073741824\n",
			"sys/fs/cgroup/memory.current": "1048576\n",
		}, gib, gib - mib},
		"version 1": {map[string]string{
			"proc/self/cgroup": "5:cpu:/x\n4:memory:/job\n0::/\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "3221225472\n",
			"sys/fs/cgroup/memory/job/memory.stat":           "total_inactive_file 2147483648\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
		}, 2 * gib, gib},
		"a used up group": {map[string]string{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "1048576\n",
			"sys/fs/cgroup/a/memory.current": "2097152\n",
		}, mib, 0},
		"a parent that others fill": {map[string]string{
			"proc/self/cgroup":                      "0::/job/step\n",
			"sys/fs/cgroup/job/memory.max":          "8589934592\n",
			"sys/fs/cgroup/job/memory.current":      "8053063680\n",
			"sys/fs/cgroup/job/step/memory.max":     "4294967296\n",
			"sys/fs/cgroup/job/step/memory.current": "1048576\n",
		}, 4 * gib, gib / 2},
		"a machine below its group": {map[string]string{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "15032385536\n",
			"sys/fs/cgroup/a/memory.current": "0\n",
		}, 14 * gib, 8 * gib},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}
			for path, text := range c.files {
				root[path] = &fstest.MapFile{Data: []byte(text)}
			}
			total, available := readMemory(root)
			assert.Equal(t, c.total, total)
			assert.Equal(t, c.available, available)
		})
	}
	total, available := readMemory(fstest.MapFS{})
	assert.Equal(t, uint64(unknownMemoryBytes), total)
	assert.Equal(t, total, available)
	total, available = machineMemory()
	assert.Greater(t, total, uint64(64*mib), "this machine")
	assert.LessOrEqual(t, available, total)
}

func TestProcessorName(t *testing.T) {
	assert.Equal(t, "Fast CPU", parseProcessorName([]byte("processor\t: 0\nmodel name\t: Fast CPU\nprocessor\t: 1\nmodel name\t: Other\n")))
	assert.Equal(t, defaultProcessorName, parseProcessorName([]byte("processor\t: 0\nFeatures\t: fp\n")))
	assert.NotEmpty(t, processorName())
}
