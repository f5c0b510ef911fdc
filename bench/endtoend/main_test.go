package endtoend

import (
	"testing"

	"github.com/spirjoin/spirjoin/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func init() { rateBytes, rateRuns = 3<<19+512, 1 } // not a whole number of pieces
