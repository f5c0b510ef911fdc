package main

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/spirjoin/spirjoin/join"
)

// fuzzCase is a join of two tables that are made from it. It says all there is to say, so that its JSON is a test.
type fuzzCase struct {
	Left, Right   fuzzSide
	Keys          []fuzzKey `json:",omitempty"`
	How           string
	Output        string      `json:",omitempty"` // rows, count or pairs; "" is rows
	Algorithm     string      `json:",omitempty"`
	BuildSide     string      `json:",omitempty"`
	Materialize   uint8       `json:",omitempty"`
	Validate      string      `json:",omitempty"`
	Order         string      `json:",omitempty"`
	Deterministic bool        `json:",omitempty"`
	SeparateKeys  bool        `json:",omitempty"`
	Suffix        string      `json:",omitempty"`
	Indicator     string      `json:",omitempty"`
	MarkName      string      `json:",omitempty"`
	Columns       []int       `json:",omitzero"` // of the output, by their places among all there are; nil for all
	BatchRows     int         `json:",omitempty"`
	MostRows      *int        `json:",omitempty"` // max_output_rows, relative to the actual number of output rows
	Groups        *fuzzGroups `json:",omitempty"` // of the rows, instead of the rows; nil for none
	// Parts is the number of parts of the other table that are joined with a build side that stays; 0: none stays.
	Parts int `json:",omitempty"`
	// Stream makes both tables sources, with batches of this many rows.
	Stream int64  `json:",omitempty"`
	Device string // of fuzzDevices
	// Team makes several such devices share the join: "together", each with the whole build side; "scatter", rows meet by
	// their keys; "hmg", by the strategy of this name. Devices is their number; 0: one, without a team.
	Team        string `json:",omitempty"`
	Devices     int    `json:",omitempty"`
	GranuleRows uint64 `json:",omitempty"`
	WindowRows  uint64 `json:",omitempty"`
	HashBits    *int   `json:",omitempty"` // of hashes of keys, so that some collide; nil: all
	DeviceTexts bool   `json:",omitempty"` // keys that have hashes are compared on the device
	// DeviceMemory and HostMemory are caps in bytes.
	DeviceMemory uint64 `json:",omitempty"`
	HostMemory   uint64 `json:",omitempty"`
}

// fuzzSide is a table. A row has a number, and its values follow from it alone, so that a table of fewer rows has rows
// of this one.
type fuzzSide struct {
	Seed    uint64
	Rows    [][2]int64   // from, to
	Draw    string       // of keyDraws: which key the row of a number has
	Most    int64        // how many keys there are to draw from, a power of two
	Shift   int64        `json:",omitempty"` // of keys, so that not all are on the other side
	Payload []fuzzColumn `json:",omitempty"`
	Chunk   int          `json:",omitempty"` // rows of a chunk at most; 0 is one chunk
	Offset  int          `json:",omitempty"` // of the first value in the buffers
}

type fuzzColumn struct {
	Type  string
	Nulls uint64 `json:",omitempty"` // percent
}

// fuzzKey is a key column of either side. Its value comes from the key of the row: it is number key/Div%Mod of Values.
type fuzzKey struct {
	Types      [2]string
	Values     string    // of keyValues
	Step       int64     `json:",omitempty"` // of temporal types: nanoseconds between two whole numbers
	Div, Mod   int64     `json:",omitempty"` // 0: nothing is divided
	Nulls      [2]uint64 `json:",omitzero"`
	Dictionary [2]bool   `json:",omitzero"`
	NullsEqual bool      `json:",omitempty"`
	Renamed    bool      `json:",omitempty"` // another name on the right
}

// keyDraws are the ways in which keys of rows repeat.
var keyDraws = map[string]func(n, most int64) int64{
	"unique":  func(n, most int64) int64 { return n * 0x9e3779b1 & (most - 1) }, // for the first rows
	"sorted":  func(n, most int64) int64 { return n & (most - 1) },
	"runs":    func(n, most int64) int64 { return n / 5 & (most - 1) },
	"uniform": func(n, most int64) int64 { return int64(scramble(uint64(n))) & (most - 1) },
	"skewed": func(n, most int64) int64 {
		return int64(scramble(uint64(n))) & (most - 1) >> (scramble(uint64(n)) >> 60)
	},
	"hot": func(n, most int64) int64 {
		if n%3 != 0 {
			return 5
		}
		return int64(scramble(uint64(n))) & (most - 1)
	},
	"one": func(int64, int64) int64 { return 5 },
}

func (c *fuzzCase) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (c *fuzzCase) clone() *fuzzCase {
	var again fuzzCase
	if err := json.Unmarshal([]byte(c.String()), &again); err != nil {
		panic(err)
	}
	return &again
}

func (c *fuzzCase) sides() [2]*fuzzSide { return [2]*fuzzSide{&c.Left, &c.Right} }

func (s *fuzzSide) rows() (rows int64) {
	for _, span := range s.Rows {
		rows += span[1] - span[0]
	}
	return rows
}

// spec is the case as a specification of a join, but for Columns and MaxOutputRows, which take what it makes.
func (c *fuzzCase) spec() (spec join.Spec, err error) {
	output := map[string]join.Output{"": join.Rows, "count": join.Count, "pairs": join.Pairs}
	spec = join.Spec{Output: output[c.Output], SeparateKeys: c.SeparateKeys, Suffix: c.Suffix, Indicator: c.Indicator,
		MarkName: c.MarkName, BatchRows: c.BatchRows, Algorithm: c.Algorithm, Materialize: join.Materialize(c.Materialize),
		Deterministic: c.Deterministic}
	if c.Team == "hmg" {
		spec.Strategy = join.StrategyHMG
	}
	if spec.How, err = join.ParseHow(c.How); err != nil {
		return spec, err
	}
	if c.Order != "" {
		if spec.Order, err = join.ParseOrder(c.Order); err != nil {
			return spec, err
		}
	}
	if c.Validate != "" {
		if spec.Validate, err = join.ParseValidate(c.Validate); err != nil {
			return spec, err
		}
	}
	if c.BuildSide != "" {
		if spec.BuildSide, err = join.ParseBuildSide(c.BuildSide); err != nil {
			return spec, err
		}
	}
	for k := range c.Keys {
		spec.LeftOn = append(spec.LeftOn, c.keyName(0, k))
		spec.RightOn = append(spec.RightOn, c.keyName(1, k))
		if c.Keys[k].NullsEqual {
			spec.NullsEqual = append(spec.NullsEqual, c.keyName(0, k))
		}
	}
	return spec, spec.Check()
}

// drawCase draws a case, for a device of fuzzDevices or for one that all cases share.
func drawCase(seed uint64, vulkan bool) *fuzzCase {
	d := drawing{rand.New(rand.NewPCG(seed, 0))}
	c := &fuzzCase{How: d.one("inner", "inner", "left", "right", "full", "semi", "anti", "right-semi", "right-anti",
		"mark", "not-in", "cross")}
	how, _ := join.ParseHow(c.How)
	c.Device = d.one("host", "shuffled", "small", "small", "walking")
	if vulkan {
		c.Device = "vulkan"
	}
	d.sides(c)
	if how != join.Cross {
		d.keys(c)
	}
	if how == join.Inner {
		c.Output = d.one("", "", "", "count", "pairs")
	} else {
		c.Output = d.one("", "", "", "count")
	}
	c.Algorithm = d.one("", "", "phj-om", "phj-um", "hj", "smj-om", "smj-um")
	c.BuildSide = d.one("", "", "left", "right")
	if d.chance(40) {
		c.Materialize = uint8(d.IntN(3))
	}
	if d.chance(25) {
		c.Order = d.one("left", "right")
	}
	c.Deterministic, c.SeparateKeys = d.chance(15), d.chance(25)
	if how != join.Cross && d.chance(20) {
		c.Validate = d.one("1:1", "1:m", "m:1")
	}
	if c.Output == "" {
		d.columns(c, how)
	}
	if d.chance(60) {
		c.BatchRows = 1 << d.IntN(21)
		if d.chance(50) {
			c.BatchRows += d.IntN(100)
		}
	}
	if d.chance(12) {
		most := [...]int{-100, -1, 0, 0, 1, 1000}[d.IntN(6)]
		c.MostRows = &most
	}
	if how != join.Cross && d.chance(12) {
		c.Parts, c.BuildSide = 1+d.IntN(4), d.one("left", "right")
	}
	if d.chance(20) {
		c.Stream = 1 + d.Int64N(1<<d.IntN(14))
	}
	if d.chance(30) {
		c.GranuleRows = 1 + d.Uint64N(1<<d.IntN(12))
	}
	if d.chance(40) {
		bits := [...]int{0, 3, 8}[d.IntN(3)]
		c.HashBits = &bits
	}
	if d.chance(30) {
		c.WindowRows = 2048 + d.Uint64N(1<<d.IntN(14)) // fewer are none
	}
	if !vulkan && d.chance(12) {
		c.DeviceMemory = 1<<16 + d.Uint64N(1<<(16+d.IntN(8)))
	}
	if d.chance(8) {
		c.HostMemory = 1 + d.Uint64N(1<<(14+d.IntN(12)))
	}
	c.DeviceTexts = d.chance(50)
	if c.Output == "" && c.Parts == 0 && d.chance(15) {
		c.Columns = nil
		d.groups(c)
	}
	if !vulkan && d.chance(15) {
		c.Devices, c.Team = 2+d.IntN(2), d.one("together", "scatter")
		if c.Stream == 0 && c.Parts == 0 && d.chance(60) {
			c.Devices, c.Team = 1+d.IntN(3), "hmg"
		}
	}
	for _, drop := range []func(){func() { c.Order = "" }, func() { c.Deterministic = false }} { // do they go together?
		if _, err := c.spec(); err != nil {
			drop()
		}
	}
	return c
}

// drawing draws parts of a case.
type drawing struct{ *rand.Rand }

func (d drawing) chance(percent int) bool      { return d.IntN(100) < percent }
func (d drawing) one(choices ...string) string { return choices[d.IntN(len(choices))] }

func (d drawing) rows(most int64) int64 {
	switch r := d.IntN(100); {
	case r < 4:
		return 0
	case r < 8:
		return 1
	case r < 30:
		return min(most, d.Int64N(20))
	case r < 60:
		return min(most, d.Int64N(300))
	case r < 97:
		return min(most, d.Int64N(3000))
	case r < 99 || most <= 20_000:
		return min(most, d.Int64N(20_000))
	}
	return min(most, 100_000)
}

func (d drawing) sides(c *fuzzCase) {
	most := int64(100_000)
	if c.Device != "host" {
		most = 5000
	}
	if c.How == "cross" {
		most = 300
	}
	draws := []string{"unique", "unique", "unique", "sorted", "runs", "uniform", "uniform", "skewed", "hot", "one"}
	distinct := int64(1) << d.IntN(13)
	for _, s := range c.sides() {
		rows := d.rows(most)
		s.Seed, s.Rows, s.Draw, s.Most = d.Uint64(), [][2]int64{{0, rows}}, d.one(draws...), distinct
		if s.Draw == "unique" && d.chance(80) {
			for s.Most < rows {
				s.Most *= 2
			}
		}
		if d.chance(40) {
			s.Shift = d.Int64N(distinct)
		}
		if d.chance(60) {
			s.Chunk = 1 << d.IntN(13)
			for s.Chunk > 0 && rows/int64(s.Chunk) > 500 {
				s.Chunk *= 2
			}
		}
		if d.chance(50) {
			s.Offset = d.IntN(70)
		}
		names := payloadNames()
		if d.chance(50) { // what the device moves
			names = []string{"int32", "int64", "float64", "uint32", "float32", "timestamp_us"}
		}
		for range [...]int{0, 0, 1, 1, 2, 3, 5}[d.IntN(7)] {
			s.Payload = append(s.Payload, fuzzColumn{d.one(names...), d.nulls()})
		}
	}
}

func (d drawing) nulls() uint64 { return [...]uint64{0, 0, 0, 0, 5, 40, 100}[d.IntN(7)] }

func (d drawing) keys(c *fuzzCase) {
	for range [...]int{1, 1, 1, 1, 2, 2, 3, 4}[d.IntN(8)] {
		k := fuzzKey{Renamed: d.chance(50)}
		left := d.one("int32", "int64", d.one(payloadKeys...), d.one(payloadKeys...))
		f := keyTypes[left].family
		right := left
		if others := comparesWith[f]; d.chance(45) {
			right = d.one(typesOf(others[d.IntN(len(others))])...)
		} else if d.chance(2) {
			right = "null"
		}
		if k.Types = [2]string{left, right}; d.chance(50) {
			k.Types = [2]string{right, left}
		}
		values := []string{"dense", "dense", "dense", "quarters", "spread", "special", "special"}
		if len(c.Keys) > 0 { // so that some need no more than 64 bits
			values = append(values, "dense", "dense", "dense", "quarters")
		}
		k.Values = d.one(values...)
		if keyTypes[left].unit > 0 {
			k.Step = [...]int64{1, 1000, 1_000_000, second, 3600 * second, day, day}[d.IntN(7)]
		}
		if len(c.Keys) > 0 || d.chance(20) {
			k.Div, k.Mod = 1+d.Int64N(8), d.Int64N(40)
		}
		for side := range k.Nulls {
			k.Nulls[side], k.Dictionary[side] = [...]uint64{0, 0, 0, 0, 0, 0, 5, 30, 100}[d.IntN(9)], d.chance(7)
			if len(c.Keys) > 0 { // all rows without a key are one case
				k.Nulls[side] %= 100
			}
		}
		k.NullsEqual = c.How != "not-in" && d.chance(20)
		c.Keys = append(c.Keys, k)
		if c.How == "not-in" { // takes one
			return
		}
	}
}

var payloadKeys = func() (names []string) {
	for f := integers; f < nulls1; f++ {
		names = append(names, typesOf(f)...)
	}
	return names
}()

func (d drawing) columns(c *fuzzCase, how join.How) {
	if d.chance(30) {
		c.Suffix = d.one("_r", "0", "é")
	}
	if how.Pairs() && d.chance(20) {
		c.Indicator = d.one("from", "p0", "k0")
	}
	if how == join.Mark && d.chance(50) {
		c.MarkName = d.one("marked", "p0", "k0")
	}
	if d.chance(25) {
		c.Columns = d.Perm(12)[:d.IntN(5)]
	}
}
