package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/join"
)

// shrinkLimit is how long a case is made smaller.
const shrinkLimit = time.Minute

// shrink makes a case smaller, one change at a time, as long as it fails in the same way, and returns the last one with
// what is wrong with it. No further change makes the smallest case fail.
func shrink(c *fuzzCase, fail *failure, check func(*fuzzCase) *failure) (*fuzzCase, *failure) {
	for end, changed := time.Now().Add(shrinkLimit), true; changed; {
		changed = false
		for _, change := range changes(c) {
			if time.Now().After(end) {
				return c, fail
			}
			smaller := c.clone()
			if change(smaller); smaller.String() == c.String() {
				continue
			}
			if f := check(smaller); f != nil && f.class == fail.class {
				c, fail, changed = smaller, f, true
			}
		}
	}
	return c, fail
}

// changes are what may make a case smaller, what saves most first. They leave alone what a case has not, as it may be
// smaller when their turn comes.
func changes(c *fuzzCase) (all []func(*fuzzCase)) {
	for side := range 2 {
		rows := c.sides()[side].rows()
		for parts := int64(2); parts <= min(rows, 16); parts *= 2 {
			for i := range parts {
				all = append(all, func(c *fuzzCase) { c.sides()[side].dropRows(i, parts) })
			}
		}
		if rows == 1 {
			all = append(all, func(c *fuzzCase) { c.sides()[side].dropRows(0, 1) })
		}
	}
	for k := range slices.Backward(c.Keys) {
		all = append(all, func(c *fuzzCase) {
			if len(c.Keys) > 1 && k < len(c.Keys) {
				c.Keys = slices.Delete(c.Keys, k, k+1)
			}
		})
	}
	for side := range 2 {
		for p := range slices.Backward(c.sides()[side].Payload) {
			all = append(all, func(c *fuzzCase) {
				if s := c.sides()[side]; p < len(s.Payload) {
					s.Payload = slices.Delete(s.Payload, p, p+1)
				}
			})
		}
	}
	all = append(all,
		func(c *fuzzCase) { c.Team, c.Devices = "", 0 }, func(c *fuzzCase) { c.Devices = min(c.Devices, 2) },
		func(c *fuzzCase) { c.Groups = nil }, func(c *fuzzCase) { c.Groups.by(-1) }, func(c *fuzzCase) { c.Groups.compute(-1) },
		func(c *fuzzCase) { c.Parts, c.BuildSide = 0, "" }, func(c *fuzzCase) { c.Parts = min(c.Parts, 1) },
		func(c *fuzzCase) { c.Stream = 0 }, func(c *fuzzCase) { c.HostMemory = 0 }, func(c *fuzzCase) { c.DeviceMemory = 0 },
		func(c *fuzzCase) { c.GranuleRows = 0 }, func(c *fuzzCase) { c.HashBits = nil }, func(c *fuzzCase) { c.WindowRows = 0 },
		func(c *fuzzCase) { c.DeviceTexts = false }, func(c *fuzzCase) { c.MostRows = nil }, func(c *fuzzCase) { c.BatchRows = 0 },
		func(c *fuzzCase) { c.Validate = "" }, func(c *fuzzCase) { c.Deterministic = false },
		func(c *fuzzCase) { c.Order = "" }, func(c *fuzzCase) { c.Columns = nil }, func(c *fuzzCase) { c.Suffix = "" },
		func(c *fuzzCase) { c.Indicator = "" }, func(c *fuzzCase) { c.MarkName = "" },
		func(c *fuzzCase) { c.SeparateKeys = false }, func(c *fuzzCase) { c.Materialize = 0 },
		func(c *fuzzCase) { c.Algorithm = "" }, func(c *fuzzCase) {
			if c.Parts == 0 {
				c.BuildSide = ""
			}
		},
		func(c *fuzzCase) { c.Output = "" }, func(c *fuzzCase) { c.How = "inner" },
		func(c *fuzzCase) { c.Device = "host" },
	)
	for k := range c.Keys {
		key := func(change func(*fuzzKey)) {
			all = append(all, func(c *fuzzCase) {
				if k < len(c.Keys) {
					change(&c.Keys[k])
				}
			})
		}
		key(func(k *fuzzKey) { k.Types = [2]string{"int32", "int32"} })
		key(func(k *fuzzKey) { k.Types[1] = k.Types[0] })
		key(func(k *fuzzKey) { k.Types[0] = k.Types[1] })
		key(func(k *fuzzKey) { k.Values = "dense" })
		key(func(k *fuzzKey) { k.Div, k.Mod = 0, 0 })
		key(func(k *fuzzKey) { k.Renamed = false })
		key(func(k *fuzzKey) { k.NullsEqual = false })
		for side := range 2 {
			key(func(k *fuzzKey) { k.Nulls[side] = 0 })
			key(func(k *fuzzKey) { k.Dictionary[side] = false })
		}
	}
	for side := range 2 {
		change := func(change func(*fuzzSide)) {
			all = append(all, func(c *fuzzCase) { change(c.sides()[side]) })
		}
		change(func(s *fuzzSide) { s.Chunk = 0 })
		change(func(s *fuzzSide) { s.Offset = 0 })
		change(func(s *fuzzSide) { s.Shift = 0 })
		change(func(s *fuzzSide) { s.Draw = "sorted" })
		for p := range c.sides()[side].Payload {
			change(func(s *fuzzSide) {
				if p < len(s.Payload) {
					s.Payload[p].Nulls = 0
				}
			})
			change(func(s *fuzzSide) {
				if p < len(s.Payload) {
					s.Payload[p].Type = "int32"
				}
			})
		}
	}
	return all
}

// dropRows cuts the rows into parts of equal size and drops part i.
func (s *fuzzSide) dropRows(i, parts int64) {
	from, to := s.rows()*i/parts, s.rows()*(i+1)/parts
	var rest [][2]int64
	at := int64(0)
	for _, span := range s.Rows {
		n := span[1] - span[0]
		keep := func(a, b int64) {
			if a = max(a, 0); a < min(b, n) {
				rest = append(rest, [2]int64{span[0] + a, span[0] + min(b, n)})
			}
		}
		keep(0, from-at)
		keep(to-at, n)
		at += n
	}
	s.Rows = rest
}

// describe is all that is needed to see a failure again: a test, the tables as SQL, and the call of the engine.
func (f *fuzzer) describe(ctx context.Context, c *fuzzCase) string {
	var text strings.Builder
	test := "TestFuzz"
	if c.Device == "vulkan" {
		test = "TestFuzzOnVulkan"
	}
	fmt.Fprintf(&text, "go test -run '^%s$' -case '%s'\n", test, c)
	tables, d, err := f.tables(ctx, c)
	if err != nil {
		return text.String() + err.Error()
	}
	for side, t := range tables {
		defer t.release()
		fmt.Fprintf(&text, "%s;", d.create(side))
		if rows := t.table.NumRows(); rows > 0 && rows <= 40 {
			var tuples []string
			for i := range int(rows) {
				values := []string{fmt.Sprint(i)}
				for _, k := range t.keys {
					values = append(values, sqlValue(t.columns[k].ValueStr(i), duckValue(t.columns[k], i)))
				}
				tuples = append(tuples, "("+strings.Join(values, ", ")+")")
			}
			fmt.Fprintf(&text, " INSERT INTO %s VALUES %s;\n", duckNames[side], strings.Join(tuples, ", "))
		} else {
			fmt.Fprintf(&text, " -- %d rows\n", rows)
		}
	}
	fmt.Fprintf(&text, "%s;\n", d.query())
	for side, t := range tables {
		for i, column := range t.columns {
			json := []byte("...")
			if column.Len() <= 40 {
				json, _ = column.MarshalJSON()
			}
			fmt.Fprintf(&text, "// %s: %s, %s\n", duckNames[side], t.table.Schema().Field(i), json)
		}
	}
	spec, _ := c.spec()
	fmt.Fprintf(&text, "engine.Join(ctx, l, r, %s)\n", literal(spec))
	return text.String()
}

// literal is a specification in Go, without what is zero.
func literal(spec join.Spec) string {
	var fields []string
	for v, i := reflect.ValueOf(spec), 0; i < v.NumField(); i++ {
		if !v.Field(i).IsZero() {
			fields = append(fields, fmt.Sprintf("%s: %#v", v.Type().Field(i).Name, v.Field(i)))
		}
	}
	return "join.Spec{" + strings.Join(fields, ", ") + "}"
}

func sqlValue(text string, value any) string {
	if value == nil {
		return "NULL"
	}
	switch value := value.(type) {
	case float32, float64:
		return "'" + text + "'"
	case string:
		return quoteText(value)
	case []byte:
		return fmt.Sprintf("from_hex('%x')", value)
	}
	return text
}
