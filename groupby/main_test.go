package groupby

import (
	"flag"
	"testing"

	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// Devices have a queue for draws in tests; on NVIDIA it would slow benchmarks down.
func TestMain(m *testing.M) {
	flag.Parse()
	vulkantest.Graphics = flag.Lookup("test.bench").Value.String() == ""
	leak.Main(m)
}
