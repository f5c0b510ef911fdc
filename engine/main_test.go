package engine

import (
	"testing"

	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func TestMain(m *testing.M) {
	vulkantest.Graphics = true
	leak.Main(m)
}
