// Package hostmap joins with a map on the host, which holds the row numbers of the build side by key.
package hostmap

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Algorithm is the join with a map on the host. It downloads keys and uploads row numbers; payload stays on the device
// and is gathered there.
type Algorithm struct{}

// Name implements [operator.Algorithm].
func (Algorithm) Name() string { return "host-map" }

// Plan implements [operator.Algorithm].
func (a Algorithm) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	if err := f.Check("plan host-map", &want); err != nil {
		return nil, err
	}
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	c := operator.NewCost(p, operator.Moves{KeyBytes: f.KeyBytes})
	defer c.Close()
	for side, rows := range f.Rows {
		c.Stay(side)
		c.Add(operator.Match, operator.DownloadByte, float64(rows)*float64(f.KeyBytes))
		c.Add(operator.Match, operator.TakeFar, float64(rows))
	}
	c.Marks()
	if want.Pairs && !want.Count {
		c.PairsByNumber()
	}
	return p, c.Sides()
}

// Open implements [operator.Algorithm].
func (Algorithm) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return &join{want: p.Want, lane: lane.Nested(ctx), keys: make(map[uint64]*entry)}
}

// join is a join under way.
type join struct {
	want  operator.Want
	lane  *exec.Lane // whose memory is that of the operator
	build *relation.Chunk
	keys  map[uint64]*entry // of the build side
}

// entry is a key of the build side.
type entry struct {
	rows []uint32
	met  bool // by a probe row
}

// Build implements [operator.Operator].
func (j *join) Build(ctx context.Context, build *relation.Chunk) error {
	keys, err := download(ctx, j.lane, build)
	j.build = build
	for row, key := range keys {
		if j.keys[key] == nil {
			j.keys[key] = new(entry)
		}
		j.keys[key].rows = append(j.keys[key].rows, uint32(row))
	}
	return err
}

// Probe implements [operator.Operator].
func (j *join) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	keys, err := download(ctx, lane, probe)
	if err != nil {
		return err
	}
	found, marks, total := make([]*entry, len(keys)), make([]uint32, (len(keys)+31)/32), uint64(0)
	for row, key := range keys {
		if found[row] = j.keys[key]; found[row] != nil {
			found[row].met = true
			marks[row/32] |= 1 << (row % 32)
			total += uint64(len(found[row].rows))
		}
	}
	if j.want.Pairs {
		if err := sink.Count(ctx, total); err != nil {
			return err
		}
		if !j.want.Count {
			if err := j.pairs(ctx, lane, probe, found, total, sink); err != nil {
				return err
			}
		}
	}
	return j.rows(ctx, lane, operator.Probe, probe, marks, sink)
}

// pairs puts all pairs of a granule, window by window. found has the partners of each probe row.
func (j *join) pairs(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, found []*entry, total uint64,
	sink operator.Sink) error {
	out := operator.Pairs{Lane: lane, Chunks: [2]*relation.Chunk{j.build, probe}, Keys: j.want.Keys}
	for row, next := 0, 0; total > 0; { // the next pair is that of row with its partner number next
		w, err := sink.Window(ctx, min(total, primitive.MaxRows))
		if err != nil {
			return err
		}
		rows := min(w.Rows, total)
		var ids [2][]uint32
		for uint64(len(ids[operator.Probe])) < rows {
			if found[row] == nil || next == len(found[row].rows) {
				row, next = row+1, 0
				continue
			}
			ids[operator.Build] = append(ids[operator.Build], found[row].rows[next])
			ids[operator.Probe] = append(ids[operator.Probe], uint32(row))
			next++
		}
		if err := out.Write(ctx, sink, w, rows, func(_ *backend.List, build, probe backend.Range) error {
			if err := upload(ctx, lane, build, ids[operator.Build]); err != nil {
				return err
			}
			return upload(ctx, lane, probe, ids[operator.Probe])
		}); err != nil {
			return err
		}
		total -= rows
	}
	return nil
}

// Finish implements [operator.Operator].
func (j *join) Finish(ctx context.Context, sink operator.Sink) error {
	marks := make([]uint32, (j.build.Rows+31)/32)
	for _, e := range j.keys {
		for _, row := range e.rows {
			if e.met {
				marks[row/32] |= 1 << (row % 32)
			}
		}
	}
	return j.rows(ctx, j.lane, operator.Build, j.build, marks, sink)
}

// rows puts, or counts, the rows of a side that are wanted for themselves.
func (j *join) rows(ctx context.Context, lane *exec.Lane, side int, c *relation.Chunk, marks []uint32,
	sink operator.Sink) error {
	if !j.want.Marks(side) || c.Rows == 0 {
		return nil
	}
	on := lane.Memory.New(uint64(len(marks))*4, "marks")
	if err := lane.Memory.Err(); err != nil {
		return err
	}
	if err := upload(ctx, lane, on.All(), marks); err != nil {
		return err
	}
	in := operator.NewInput(lane, c, "rows")
	in.Stay()
	rows := operator.Rows{Input: &in, Side: side, Marks: on.All()}
	return rows.WriteWanted(ctx, sink, &j.want)
}

// Rewind implements [operator.Operator].
func (j *join) Rewind(context.Context) error {
	for _, e := range j.keys {
		e.met = false
	}
	return nil
}

// Close implements [operator.Operator].
func (j *join) Close() { j.lane.Memory.ReleaseAll() }

// download returns the keys of a chunk.
func download(ctx context.Context, lane *exec.Lane, c *relation.Chunk) ([]uint64, error) {
	if err := c.Check("host-map"); err != nil || c.Rows == 0 {
		return nil, err
	}
	data, keys := make([]byte, c.Keys.Data.SizeBytes), make([]uint64, c.Rows)
	if err := lane.Download(ctx, data, c.Keys.Data); err != nil {
		return nil, err
	}
	for row := range keys {
		if c.Keys.Bytes == 8 {
			keys[row] = binary.LittleEndian.Uint64(data[row*8:])
		} else {
			keys[row] = uint64(binary.LittleEndian.Uint32(data[row*4:]))
		}
	}
	return keys, nil
}

func upload(ctx context.Context, lane *exec.Lane, to backend.Range, values []uint32) error {
	_, err := lane.Device().Upload(ctx, to, backend.AsBytes(values))
	return err
}
