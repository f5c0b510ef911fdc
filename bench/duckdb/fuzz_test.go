package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

var (
	fuzzCases = flag.Int("cases", 1000, "how many joins TestFuzz holds against DuckDB; TestFuzzOnVulkan a twentieth")
	fuzzSeed  = flag.Uint64("seed", 1, "of the first case; the others follow")
	fuzzOne   = flag.String("case", "", "a case, as JSON, to be run alone")
)

// TestFuzz holds the engine against DuckDB: joins of random tables, by random kinds, options and limits. Case n follows
// from the seed and n alone. A case that fails is made smaller and printed, as a test, as SQL and as the call of the
// engine. The case under way is in a file of the folder for temporary files, so that one that ends the process is known.
func TestFuzz(t *testing.T) {
	fuzz(t, *fuzzCases, nil)
}

// TestFuzzOnVulkan does the same on the Vulkan devices that are selected.
func TestFuzzOnVulkan(t *testing.T) {
	for _, driver := range vulkantest.Open(t) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		fuzz(t, (*fuzzCases+19)/20, ops)
		require.NoError(t, device.Close())
	}
}

func fuzz(t *testing.T, cases int, vulkan *primitive.Ops) {
	f := newFuzzer(t, vulkan)
	if *fuzzOne != "" {
		var c fuzzCase
		decoder := json.NewDecoder(strings.NewReader(*fuzzOne))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&c))
		if (c.Device == "vulkan") == (vulkan != nil) {
			f.requireAgrees(t, &c)
		}
		return
	}
	underWay := filepath.Join(os.TempDir(), fmt.Sprintf("spirjoin-fuzz-%d.json", os.Getpid()))
	defer os.Remove(underWay)
	failed, start := 0, time.Now()
	for n := range cases {
		c := drawCase(*fuzzSeed+uint64(n), vulkan != nil)
		require.NoError(t, os.WriteFile(underWay, []byte(c.String()), 0o600))
		if !f.agrees(t, c) {
			if failed++; failed == 5 {
				t.Fatal("five cases failed")
			}
		}
		if done := n + 1; done%1000 == 0 || done == cases {
			fmt.Printf("fuzz: %d cases in %.0f s, seeds %d to %d:%s\n", done, time.Since(start).Seconds(), *fuzzSeed,
				*fuzzSeed+uint64(n), f.summary())
		}
	}
}

func newFuzzer(t *testing.T, vulkan *primitive.Ops) *fuzzer {
	s, err := openSession(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	return &fuzzer{s: s, vulkan: vulkan, outcomes: map[string]int{}}
}

func (f *fuzzer) summary() string {
	var text strings.Builder
	for _, outcome := range slices.Sorted(maps.Keys(f.outcomes)) {
		fmt.Fprintf(&text, " %s %d,", outcome, f.outcomes[outcome])
	}
	return strings.TrimSuffix(text.String(), ",")
}

// agrees runs a case, and reports it as small as it can be made if it fails.
func (f *fuzzer) agrees(t *testing.T, c *fuzzCase) bool {
	ctx := t.Context()
	fail := f.check(ctx, c)
	if fail == nil {
		return true
	}
	whole := c.String()
	c, fail = shrink(c, fail, func(c *fuzzCase) *failure { return f.check(ctx, c) })
	t.Errorf("%s: %s\n%sfrom %s", fail.class, fail.detail, f.describe(context.WithoutCancel(ctx), c), whole)
	return false
}

func (f *fuzzer) requireAgrees(t *testing.T, c *fuzzCase) { require.True(t, f.agrees(t, c)) }
