package scaling

import (
	"context"
	"testing"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/primitive"
)

func TestMain(m *testing.M) { leak.Main(m) }

func init() {
	measureRates = func(ctx context.Context, ops ...*primitive.Ops) (*endtoend.Rates, error) {
		return &endtoend.Rates{OneCore: 5e9, Host: 9e9, Device: 9e9}, ctx.Err()
	}
}
