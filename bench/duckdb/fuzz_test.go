package main

import (
	"cmp"
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
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

var (
	fuzzCases = flag.Int("cases", 0, "how many joins TestFuzz holds against DuckDB; TestFuzzOnVulkan a twentieth. "+
		"0: 1000, or 100 under -short")
	fuzzSeed = flag.Uint64("seed", 0, "of the first case; the others follow. 0: that of the day, or 1 under -short")
	fuzzMost = flag.Int("failures", 5, "how many cases may fail before the test ends")
	fuzzOne  = flag.String("case", "", "a case, as JSON, to be run alone")
)

// TestFuzz holds the engine against DuckDB: joins of random tables, by random kinds, options and limits. Case n follows
// from the seed and n alone. A case that fails is made smaller and printed, as a test, as SQL and as the call of the
// engine. The case under way is in a file of the folder for temporary files: one may end the process.
func TestFuzz(t *testing.T) {
	devicetest.HostTest(t)
	fuzz(t, 1, nil)
}

// TestFuzzOnVulkan does the same on the Vulkan devices that are selected.
func TestFuzzOnVulkan(t *testing.T) {
	for _, driver := range vulkantest.Open(t) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		fuzz(t, 20, ops)
		require.NoError(t, device.Close())
	}
}

// found are cases that failed once.
var found = map[string]string{
	"a cap of device memory that is no multiple of the alignment": `{"Left":{"Seed":14851878461970970141,
		"Rows":[[150,300]],"Draw":"sorted","Most":512,"Payload":[{"Type":"int32"},{"Type":"timestamp_us"},
		{"Type":"int32"},{"Type":"int32"},{"Type":"int32"}]},"Right":{"Seed":794687303282292227,"Rows":[[0,183]],
		"Draw":"sorted","Most":128,"Payload":[{"Type":"int32"}]},"How":"cross","Deterministic":true,"Indicator":"k0",
		"Groups":{"By":[7],"Compute":[{"Func":"max","Column":6},{"Func":"min","Column":8}]},"Device":"walking",
		"DeviceMemory":384755}`,
	"a unit of more pairs than planned, of a build side that stays": `{"Left":{"Seed":12276185460194659107,
		"Rows":[[1149,1197]],"Draw":"sorted","Most":1024},"Right":{"Seed":8105021064701608297,"Rows":[[717,1863],
		[2130,4260]],"Draw":"sorted","Most":1024},"Keys":[{"Types":["duration_ms","duration_ms"],"Values":"special",
		"Step":86400000000000},{"Types":["int32","int32"],"Values":"dense","Step":1}],"How":"mark",
		"BuildSide":"right","Parts":1,"Device":"host","HashBits":8,"DeviceMemory":106498}`,
	"ranges of keys whose codes have no room on the host": `{"Left":{"Seed":5750444862748137191,"Rows":[[116,123],
		[134,201]],"Draw":"sorted","Most":8},"Right":{"Seed":14630721226581348323,"Rows":[[0,708]],"Draw":"sorted",
		"Most":8,"Offset":51},"Keys":[{"Types":["decimal256(30,1)","decimal256(30,1)"],"Values":"dense"},
		{"Types":["int32","int32"],"Values":"dense"},{"Types":["int32","int32"],"Values":"spread"}],"How":"inner",
		"Order":"right","Device":"host","Team":"hmg","Devices":2,"HostMemory":57599}`,
	"a range of keys that needs less than both sides sorted": `{"Left":{"Seed":2624337627664797214,"Rows":null,
		"Draw":"sorted","Most":256},"Right":{"Seed":8776352814256667494,"Rows":[[1597,1610],[1632,1634],[1641,1642],
		[1674,1679],[1686,1698],[1820,1827],[1833,1839],[1923,1933],[1950,1955],[2011,2018],[2042,2051],[2072,2082],
		[2132,2146]],"Draw":"sorted","Most":64,"Shift":29},"Keys":[{"Types":["int32","int32"],"Values":"dense",
		"Div":3,"Mod":33},{"Types":["int32","int32"],"Values":"dense","Div":7,"Mod":17}],"How":"full",
		"Device":"host","Team":"hmg","Devices":2,"DeviceMemory":69221}`,
	"ranges of keys of few rows on two devices": `{"Left":{"Seed":14760235593513936186,"Rows":[[1333,1334],[1403,
		1406],[1410,1436],[1439,1458]],"Draw":"runs","Most":256},"Right":{"Seed":18222723837499791506,"Rows":[[26,
		36],[189,204],[362,364],[514,515],[529,536],[695,708],[798,799],[872,875],[915,916]],"Draw":"sorted",
		"Most":2048},"Keys":[{"Types":["int32","int32"],"Values":"dense","Div":6,"Mod":28}],"How":"inner",
		"SeparateKeys":true,"Device":"host","Team":"hmg","Devices":2,"DeviceMemory":83003}`,
	"groups of no rows by hashed keys": `{"Left":{"Seed":1,"Draw":"sorted","Most":64},"Right":{"Seed":2,"Rows":[[1,3]],
		"Draw":"sorted","Most":32},"Keys":[{"Types":["binary","binary"],"Values":"dense"}],"How":"inner","Device":"host",
		"Groups":{"By":[0,2],"Compute":[{"Func":"count","Column":-1}]}}`,
	"marks of devices that sort, of a build side whose hashed keys are compared": `{"Left":{"Seed":5822922001499138206,
		"Rows":[[2960,2961],[3018,3019]],"Draw":"sorted","Most":8192},"Right":{"Seed":15021022778068039905,
		"Rows":[[82,83]],"Draw":"sorted","Most":2048},"Keys":[{"Types":["time_ns","time_ns"],"Values":"quarters",
		"Step":86400000000000},{"Types":["int32","int32"],"Values":"spread","Div":7,"Mod":6}],"How":"full",
		"BuildSide":"left","Device":"host","Team":"hmg","Devices":2}`,
	"devices that sort and get no row": `{"Left":{"Seed":17318548065731138085,"Draw":"sorted","Most":64},
		"Right":{"Seed":7052711515497726567,"Rows":[[1290,1291]],"Draw":"sorted","Most":32},
		"Keys":[{"Types":["int32","int32"],"Values":"dense"}],"How":"inner","Device":"host","Team":"hmg","Devices":2,
		"HostMemory":80429}`,
	"devices that sort both sides, in small granules": `{"Left":{"Seed":4141833408744700268,
		"Rows":[[1686,1850],[2014,2998]],"Draw":"sorted","Most":4096},"Right":{"Seed":14920052945514278722,
		"Rows":[[293,428]],"Draw":"sorted","Most":4096},"Keys":[{"Types":["binary_view","binary_view"],
		"Values":"spread"}],"How":"semi","BuildSide":"left","Device":"walking","Team":"hmg","Devices":2,
		"GranuleRows":76,"DeviceMemory":216561}`,
	"partitions of few keys that are peeled together": `{"Left":{"Seed":10257237344503726837,"Rows":[[107,1723]],
		"Draw":"sorted","Most":4},"Right":{"Seed":13852054858412438658,"Rows":[[98,99],[100,101],[110,111],[112,113]],
		"Draw":"uniform","Most":4},"Keys":[{"Types":["decimal128(38,3)","decimal128(38,3)"],"Values":"dense"}],
		"How":"inner","BuildSide":"left","Device":"walking","HostMemory":46909}`,
	"batches that leave no memory for the proof of a probe side": `{"Left":{"Seed":15476565799992731127,
		"Rows":[[3974,5000]],"Draw":"sorted","Most":64},"Right":{"Seed":3989784596439142127,"Rows":null,"Draw":"sorted",
		"Most":64},"Keys":[{"Types":["int32","int32"],"Values":"dense"}],"How":"inner","BuildSide":"right","Validate":"1:1",
		"Parts":1,"Device":"host","HostMemory":10691}`,
	"keys that repeat and are no integers, as the other side's are": `{"Left":{"Seed":6306398013888770342,"Rows":null,
		"Draw":"sorted","Most":8},"Right":{"Seed":7730711885714935483,"Rows":[[1776,1777],[1806,1807]],"Draw":"one","Most":8},
		"Keys":[{"Types":["int32","float64"],"Values":"quarters"}],"How":"inner","Validate":"m:1","Device":"host"}`,
	"keys that repeat beyond the ranges of a build side that stays": `{"Left":{"Seed":2458881685293960793,"Rows":null,
		"Draw":"sorted","Most":8},"Right":{"Seed":1684484341188041155,"Rows":[[12,13],[13,14]],"Draw":"runs","Most":8},
		"Keys":[{"Types":["int32","int32"],"Values":"dense"}],"How":"inner","BuildSide":"left","Validate":"m:1","Parts":1,
		"Device":"host"}`,
	"memory of the host and of the device that is short": `{"Left":{"Seed":1671145900381510395,"Rows":null,"Draw":"sorted",
		"Most":256},"Right":{"Seed":11992880418573081317,"Rows":[[0,0]],"Draw":"sorted","Most":256},"Keys":[{"Types":["int32",
		"int32"],"Values":"dense"}],"How":"inner","BuildSide":"left","Order":"left","Parts":1,"Device":"host",
		"DeviceMemory":1353913,"HostMemory":351214}`,
	"units of a key that all rows have": `{"Left":{"Seed":5147035705857532153,"Rows":[[426,1512]],"Draw":"sorted",
		"Most":32},"Right":{"Seed":16242142041244337293,"Rows":[[0,2250]],"Draw":"sorted","Most":32},"Keys":[{"Types":[
		"float64","float64"],"Values":"dense"},{"Types":["int32","int32"],"Values":"dense"}],"How":"right-semi",
		"Device":"small","WindowRows":2136,"HashBits":0,"DeviceMemory":384149}`,
	"keys that repeat in a part without output": `{"Left":{"Seed":96246336789231386,"Rows":null,"Draw":"sorted",
		"Most":4},"Right":{"Seed":9204133206161401577,"Rows":[[8100,8101],[8229,8230]],"Draw":"one","Most":4},
		"Keys":[{"Types":["int32","int32"],"Values":"dense"}],"How":"inner","Validate":"m:1","Device":"host",
		"DeviceMemory":68360}`,
	"keys of other types that repeat in a part without output": `{"Left":{"Seed":14622410892800536133,"Rows":null,
		"Draw":"sorted","Most":2},"Right":{"Seed":12720221875782745615,"Rows":[[124,157],[162,213]],"Draw":"sorted",
		"Most":2},"Keys":[{"Types":["decimal256(30,1)","int64"],"Values":"dense"}],"How":"inner","Validate":"m:1",
		"Device":"small","DeviceMemory":75379}`,
	"parts that need more memory than the first one that lacks it": `{"Left":{"Seed":10574559396251929445,
		"Rows":[[311,1065],[1171,1372],[1459,1807]],"Draw":"unique","Most":2048},"Right":{"Seed":16396262244477141584,
		"Rows":[[4,5],[6,7],[8,9],[11,12]],"Draw":"sorted","Most":128},"Keys":[{"Types":["int32","int32"],
		"Values":"special"},{"Types":["binary_view","binary_view"],"Values":"dense","Div":2,"Mod":21}],"How":"left",
		"BuildSide":"left","Device":"small","DeviceMemory":77356}`,
	"rows of a build side alone, of which none were expected": `{"Left":{"Seed":14674453890347765380,"Rows":null,
		"Draw":"sorted","Most":8},"Right":{"Seed":3410268339777417301,"Rows":[[2,3],[3,4]],"Draw":"sorted","Most":8,
		"Offset":19},"Keys":[{"Types":["int32","int32"],"Values":"dense"}],"How":"right-anti","BuildSide":"right",
		"Parts":1,"Device":"host","GranuleRows":133,"HostMemory":30294}`,
	"keys of both sides that are unique": `{"Left":{"Seed":8678630873561272555,"Rows":null,"Draw":"sorted","Most":2048},
		"Right":{"Seed":6129833238419544116,"Rows":[[1629,1630]],"Draw":"sorted","Most":4},"Keys":[{"Types":["int32","int32"],
		"Values":"dense"}],"How":"inner","Validate":"1:1","Device":"host","HostMemory":3907}`,
	"small batches of lists of a side with many chunks": `{"Left":{"Seed":3993314606997464580,"Rows":[[25000,100000]],
		"Draw":"uniform","Most":1024,"Shift":40,"Payload":[{"Type":"null"},{"Type":"instant_s"},{"Type":"list"}]},
		"Right":{"Seed":6749203625988204785,"Rows":[[0,0]],"Draw":"runs","Most":1024,"Chunk":256},
		"Keys":[{"Types":["int32","int32"],"Values":"dense","Nulls":[0,5],"Renamed":true}],"How":"not-in",
		"BuildSide":"right","BatchRows":256,"Stream":1,"Device":"host"}`,
}

func TestFuzzFound(t *testing.T) {
	devicetest.HostTest(t)
	f := newFuzzer(t, nil)
	for name, text := range found {
		if fail := f.check(t.Context(), parseCase(t, text)); fail != nil {
			t.Errorf("%s: %s: %s", name, fail.class, fail.detail)
		}
	}
}

// TestFuzzSeesFaults: what is made wrong is seen, and shrinks to a few rows without options.
func TestFuzzSeesFaults(t *testing.T) {
	devicetest.HostTest(t)
	const text = `{"Left":{"Seed":7,"Rows":[[0,500]],"Draw":"uniform","Most":256,"Payload":[{"Type":"string","Nulls":5},
		{"Type":"int64"}],"Chunk":64,"Offset":5},"Right":{"Seed":9,"Rows":[[0,700]],"Draw":"unique","Most":1024,"Payload":[
		{"Type":"float64"}]},"Keys":[{"Types":["int64","uint16"],"Values":"dense","Nulls":[5,5],"Renamed":true},
		{"Types":["timestamp_s","date32"],"Values":"dense","Step":86400000000000,"Div":3}],"How":"full","Device":"small",
		"Algorithm":"phj-um","Order":"right","SeparateKeys":true,"Indicator":"from","BatchRows":100}`
	f := newFuzzer(t, nil)
	whole := parseCase(t, text)
	require.Nil(t, f.check(t.Context(), whole))
	counted := whole.clone()
	counted.Output = "count"
	grouped := whole.clone()
	grouped.Groups = &fuzzGroups{By: []int{1}, Compute: []fuzzCompute{{"count", -1}, {"max", 3}}}
	require.Nil(t, f.check(t.Context(), grouped))
	for name, c := range map[string]struct {
		of    *fuzzCase
		class string
		spoil func(*expectation)
	}{
		"a row too few": {whole, "rows", func(e *expectation) { e.rows = e.rows[:max(0, len(e.rows)-1)] }},
		"another partner": {whole, "rows", func(e *expectation) {
			for i := range e.rows {
				if e.rows[i].from[0] > 0 && e.rows[i].from[1] >= 0 {
					e.rows[i].from[0]--
					return
				}
			}
		}},
		"a row too few in a group": {grouped, "groups", func(e *expectation) { e.rows = e.rows[:max(0, len(e.rows)-1)] }},
		"a row too many":           {counted, "count", func(e *expectation) { e.count++ }},
	} {
		f.spoil = c.spoil
		fail := f.check(t.Context(), c.of)
		require.NotNil(t, fail, name)
		require.Equal(t, c.class, fail.class, name)
		small, fail := shrink(c.of, fail, func(c *fuzzCase) *failure { return f.check(t.Context(), c) })
		require.Equal(t, c.class, fail.class, name)
		require.LessOrEqual(t, small.Left.rows()+small.Right.rows(), int64(4), "%s: %s", name, small)
		require.Len(t, small.Keys, 1)
		require.Equal(t, "host", small.Device)
		require.Contains(t, f.describe(t.Context(), small), "engine.Join(ctx, l, r, join.Spec{")
	}
}

func parseCase(t *testing.T, text string) *fuzzCase {
	var c fuzzCase
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&c))
	return &c
}

// ofTheDay is the seed of a day, far enough from the next day's.
func ofTheDay(day time.Time) uint64 {
	return uint64(day.Year()*10_000+int(day.Month())*100+day.Day()) * 1_000_000
}

// fuzz runs a share of the cases.
func fuzz(t *testing.T, share int, vulkan *primitive.Ops) {
	f := newFuzzer(t, vulkan)
	if *fuzzOne != "" {
		if c := parseCase(t, *fuzzOne); (c.Device == "vulkan") == (vulkan != nil) {
			f.agrees(t, c)
		}
		return
	}
	underWay := filepath.Join(os.TempDir(), fmt.Sprintf("spirjoin-fuzz-%d.json", os.Getpid()))
	defer os.Remove(underWay)
	failed, start := 0, time.Now()
	cases := (cmp.Or(*fuzzCases, devicetest.Short(100, 1000)) + share - 1) / share
	seed := cmp.Or(*fuzzSeed, devicetest.Short(1, ofTheDay(start.UTC())))
	t.Logf("%d cases from -seed %d on", cases, seed)
	for n := range cases {
		c := drawCase(seed+uint64(n), vulkan != nil)
		require.NoError(t, os.WriteFile(underWay, []byte(c.String()), 0o600))
		if !f.agrees(t, c) {
			if failed++; failed == *fuzzMost {
				t.Fatalf("after %d cases of -seed %d", n+1, seed)
			}
		}
		if done := n + 1; done%1000 == 0 || done == cases {
			fmt.Printf("fuzz: %d cases in %.0f s, seeds %d to %d:%s\n", done, time.Since(start).Seconds(), seed,
				seed+uint64(n), f.summary())
		}
	}
}

func newFuzzer(t *testing.T, vulkan *primitive.Ops) *fuzzer {
	s, err := openSession(t.Context(), limits{threads: 1})
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
