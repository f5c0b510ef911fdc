package distributed

import (
	"testing"

	"github.com/spirjoin/spirjoin/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
