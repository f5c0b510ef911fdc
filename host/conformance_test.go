package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
)

// opener opens the first device of a backend made for each test.
func opener(options Options) func(t *testing.T) backend.Driver {
	return func(t *testing.T) backend.Driver {
		t.Helper()
		b := New(options)
		driver, err := b.Open(b.infos[0].ID)
		require.NoError(t, err)
		return driver
	}
}

func TestConformance(t *testing.T) {
	backendtest.Run(t, opener(Options{}), backendtest.Options{})
}

func TestConformanceShuffled(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			options := Options{Shuffle: seed, Poison: true}
			backendtest.Run(t, opener(options), backendtest.Options{Order: backendtest.Shuffled, Effort: backendtest.Short})
		})
	}
}
