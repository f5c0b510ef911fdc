package reduce

import (
	"flag"
	"strings"
	"testing"

	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// On NVIDIA a queue for draws slows kernels down, so devices have one for tests and for the benchmarks of draws alone.
func TestMain(m *testing.M) {
	flag.Parse()
	benchmarks := flag.Lookup("test.bench").Value.String()
	vulkantest.Graphics = benchmarks == "" || strings.Contains(benchmarks, "Drawn")
	leak.Main(m)
}
