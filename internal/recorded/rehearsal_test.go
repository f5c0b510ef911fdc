package recorded_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/join"
)

// kernelSet are kernels in their configurations.
type kernelSet struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *kernelSet) add(spec *backend.KernelSpec, config backend.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]bool)
	}
	s.all[spec.Name+" "+config.String()] = true
}

// without returns the kernels that are not in other.
func (s *kernelSet) without(other *kernelSet) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		if !other.all[name] {
			names = append(names, name)
		}
	}
	return names
}

// TestRehearsals: a rehearsal of a plan asks for the kernels that the join needs.
func TestRehearsals(t *testing.T) {
	for _, c := range tableCases {
		if c.spec.Output == join.Ranges {
			continue // not planned
		}
		t.Run(c.name, func(t *testing.T) {
			var needed, rehearsed kernelSet
			const leftRows, rightRows = 1 << 16, 1 << 17
			random := rand.New(rand.NewPCG(3, 4))
			numbers := random.Perm(leftRows)
			left := table(t, leftRows, &c, func(row int) int64 { return int64(numbers[row]) * 3 })
			right := table(t, rightRows, &c, func(int) int64 { return int64(random.IntN(leftRows)) * 3 })
			info := infoOf(c.name)
			driver, err := host.Simulate(&info, needed.add)
			require.NoError(t, err)
			device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: c.capBytes})
			defer func() { require.NoError(t, device.Close()) }()
			engine := join.NewEngine(opsOf(t, device, nil), memory.DefaultAllocator, 0)
			defer engine.Close()
			engine.Simulate = func(info *backend.DeviceInfo, _ func(*backend.KernelSpec, backend.Config)) (backend.Driver, error) {
				return host.Simulate(info, rehearsed.add)
			}
			spec := c.spec
			spec.On = []string{"k"}
			p, err := engine.Plan(background, left, right, spec)
			require.NoError(t, err)
			start := time.Now()
			require.NoError(t, p.Rehearse(background))
			t.Log(time.Since(start), len(rehearsed.all))
			engine.Simulate = nil
			result, err := p.Run(background)
			require.NoError(t, err)
			defer result.Close()
			switch spec.Output {
			case join.Rows:
				for batch, err := range result.Batches(background) {
					require.NoError(t, err)
					batch.Release()
				}
			case join.Pairs:
				for _, err := range result.Pairs(background) {
					require.NoError(t, err)
				}
			}
			t.Log(p.Alternatives[0].Algorithm.Name(), "missed", needed.without(&rehearsed), "unneeded", rehearsed.without(&needed))
		})
	}
}
