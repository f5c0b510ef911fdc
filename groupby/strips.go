package groupby

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// On the host, keys with few codes are grouped strip by strip, straight from the buffers of the table. A core makes the
// codes of a strip of rows, which stay in its first-level cache, and adds the values of one column after the other to
// the states of these codes. All states of a code are words side by side: the first column brings them into the cache,
// and the others find them there. At the end the states of the cores are added up. Codes that exist are the groups.
//
//	strip  codes  2 0 2      words by code   0: sum, count   1: -, -   2: sum, count
//	       values 5 1 7                         1    1                    12    2
const (
	stripBits     = 20 // of codes, at most
	rowsOfCode    = 4  // at least, on average
	fewCodes      = 1 << 10
	stripBytes    = 1 << 26 // of the states of all cores; more rows may have
	stripRowBytes = 16
)

// strips groups the rows of a table strip by strip.
type strips struct {
	slots  int // a power of 2; each code is one
	stride int // words of a slot
	states []stripState
	counts int // the word that counts the rows of a slot

	lock  sync.Mutex
	cores []*stripCore // of all cores, and
	free  []*stripCore // those that are not at work
}

// stripState is what a request is reduced to in a slot.
type stripState struct {
	op     stripOp
	word   int                  // its first word in a slot
	values *relation.ColumnRows // nil: none, every row takes part
	bits   int                  // of a value
	kind   reduce.Kind
	part   int // which 64-bit word of a sum the result has, the lowest first; negative: the whole sum, of 128 bits
}

// planStrips returns how to group strip by strip, or nil if the host does not do that: there are many codes, reductions
// with more than one pass, or another algorithm is forced.
func (w *work) planStrips(p *program, s *query.Scan) (*strips, error) {
	rows := int(p.table.NumRows())
	if !w.onHost() || !haveStrips(s.Keys, rows) {
		return nil, nil
	}
	t := &strips{slots: 1 << s.Keys.KeyBits(), counts: -1}
	for i, r := range p.requests {
		column := columnOfRequest(p, s, r)
		state, ok := stripStateOf(r, column)
		if !ok {
			return nil, nil
		}
		if column != nil {
			var err error
			if state.values, err = relation.NewColumnRows(column); err != nil {
				return nil, err
			}
		}
		if state.word = t.stride; state.op == stripPart {
			state.word = t.states[i-state.part].word
		}
		if t.stride += state.words(); state.op == stripCount && r.value.column == "" {
			t.counts = state.word
		}
		t.states = append(t.states, state)
	}
	if t.counts < 0 {
		t.counts, t.stride = t.stride, t.stride+1
		t.states = append(t.states, stripState{word: t.counts})
	}
	bytes := stripCores(rows) * t.slots * t.stride * 8
	if bytes > stripBytes+rows*stripRowBytes ||
		uint64(bytes) > w.Device().Options().DeviceMemoryBytes/granuleShare {
		return nil, nil
	}
	return t, nil
}

// haveStrips reports whether the keys of rows rows have few enough codes for strips.
func haveStrips(plan *keys.Plan, rows int) bool {
	return plan.Exact() && plan.KeyBits() <= stripBits && 1<<plan.KeyBits() <= max(fewCodes, rows/rowsOfCode)
}

// onHost reports whether the host may group strip by strip.
func (w *work) onHost() bool {
	return w.Device().Info().Backend == "host" && w.result.Layout.Spec.Algorithm == "" && w.GranuleRows == 0
}

// columnOfRequest is the column that a request takes values of, or nil.
func columnOfRequest(p *program, s *query.Scan, r request) *arrow.Chunked {
	if r.value.column == "" {
		return nil
	}
	return s.Columns[slices.Index(p.values, r.value)]
}

// stripCores is the number of cores that share rows rows.
func stripCores(rows int) int { return min(runtime.GOMAXPROCS(0), rows/keys.StripRows+1) }

// groupBytes is the memory of a finished group: its code and the states of the first requests requests.
func (t *strips) groupBytes(requests int) uint64 {
	words := 0
	for i := range requests {
		words += t.states[i].resultWords()
	}
	return uint64(4 + 8*words)
}

// bytes is the memory of the states of all cores, and of as many groups as rows can have.
func (t *strips) bytes(requests, rows int) uint64 {
	return uint64(stripCores(rows)*t.slots*t.stride*8) + uint64(min(t.slots, rows))*t.groupBytes(requests)
}

// reduce groups all rows of a table.
func (t *strips) reduce(ctx context.Context, g *groups) error {
	for range stripCores(int(g.table.NumRows())) {
		c := &stripCore{words: make([]uint64, t.slots*t.stride)}
		c.counts = c.words[t.counts:]
		t.initialize(c.words)
		t.cores = append(t.cores, c)
	}
	t.free = slices.Clone(t.cores)
	if err := g.keys.Strips(ctx, uint32(t.stride), t.start); err != nil {
		return err
	}
	t.merge()
	g.strips = true
	t.finish(g)
	return nil
}

// initialize sets the words of a core, which are 0, to the states of no values.
func (t *strips) initialize(words []uint64) {
	for _, s := range t.states {
		if first := wordOps[s.op].initial; first != 0 {
			for at := s.word; at < len(words); at += t.stride {
				words[at] = first
			}
		}
	}
}

// start has a core work on some strips, whose slots begin at at.
func (t *strips) start() (work func(row int, at []uint32), end func()) {
	t.lock.Lock()
	defer t.lock.Unlock()
	c := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	work = func(row int, at []uint32) {
		if c.rows += len(at); c.rows > shortRows() {
			t.spill(c)
			c.rows = len(at)
		}
		c.uncounted = len(at)
		for i := range t.states {
			if s := &t.states[i]; s.word != t.counts {
				s.add(c, row, at)
			}
		}
		if c.uncounted > 0 {
			count(c.counts, at)
		}
	}
	return work, func() {
		t.lock.Lock()
		defer t.lock.Unlock()
		t.free = append(t.free, c)
	}
}

// spill makes room in the first words of the sums of a core.
func (t *strips) spill(c *stripCore) {
	for at := 0; at < len(c.words); at += t.stride {
		if c.words[at+t.counts] == 0 {
			continue
		}
		for i := range t.states {
			t.states[i].spill(c.words[at:][:t.stride])
		}
	}
}

// merge adds the states of all cores to the first core's.
func (t *strips) merge() {
	for _, c := range t.cores {
		t.spill(c)
	}
	all := t.cores[0].words
	for _, c := range t.cores[1:] {
		for at := 0; at < len(all); at += t.stride {
			if c.words[at+t.counts] == 0 {
				continue
			}
			for i := range t.states {
				t.states[i].merge(all[at:][:t.stride], c.words[at:][:t.stride])
			}
		}
	}
}

// finish makes groups of the codes that exist.
func (t *strips) finish(g *groups) {
	all := t.cores[0].words
	for at := t.counts; at < len(all); at += t.stride {
		if all[at] > 0 {
			g.rows++
		}
	}
	codes := make([]uint32, g.rows)
	columns := make([][][]uint64, len(g.states))
	for i := range columns {
		for range t.states[i].resultWords() {
			column := make([]uint64, g.rows)
			columns[i], g.states[i] = append(columns[i], column), append(g.states[i], backend.AsBytes(column))
		}
	}
	group := 0
	for code := range t.slots {
		slot := all[code*t.stride:][:t.stride]
		if slot[t.counts] == 0 {
			continue
		}
		codes[group] = uint32(code)
		for i := range columns {
			t.states[i].columns(slot, columns[i], group)
		}
		group++
	}
	g.codes = backend.AsBytes(codes)
}
