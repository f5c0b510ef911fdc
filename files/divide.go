package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/tableio"
)

// DivideOptions say how a file is divided.
type DivideOptions struct {
	On    []string // key columns
	Parts int      // 1 to MostParts
	// With is the schema of the file that the parts are joined with, and WithOn its key columns, if their types differ
	// from the types of On. Rows with equal keys are in parts of one number if both files are divided with one another.
	// nil: the types are equal.
	With       *arrow.Schema
	WithOn     []string
	NullsEqual bool                // joins of the parts may have NULL equal NULL; otherwise rows with a NULL are spread
	Read       tableio.ReadOptions // Allocator, AheadBytes, Opening and Progress are set by this package
	Write      tableio.WriteOptions
	Overwrite  bool   // an earlier output in the folder
	Limit      *Limit // on the memory of tables; nil: none
	Hooks
}

// MostParts is the largest number of parts.
const MostParts = 4096

// Division says how a file was divided.
type Division struct {
	On    []string `json:"on"`
	Types []string `json:"types"` // of the keys: of the file, or of both files if they differ, in alphabetical order
	Parts int      `json:"parts"`
	// NullsEqual says that rows with equal keys are in one part also if NULL equals NULL.
	NullsEqual bool    `json:"nulls_equal,omitempty"`
	Rows       []int64 `json:"-"` // by part
}

// stampName is the name under which the schema of a part says what it is.
const stampName = "spirjoin.part"

// stamp is what a part says of itself.
type stamp struct {
	Division
	Part int `json:"part"`
}

// stamp returns the schema of a part.
func (d *Division) stamp(schema *arrow.Schema, part int) *arrow.Schema {
	text, err := json.Marshal(stamp{*d, part})
	if err != nil {
		panic(err) // texts and numbers
	}
	of := schema.Metadata().ToMap()
	of[stampName] = string(text)
	metadata := arrow.MetadataFrom(of)
	return arrow.NewSchema(schema.Fields(), &metadata)
}

// stampOf returns what a part says of itself; false if the schema is not of a part.
func stampOf(schema *arrow.Schema) (s stamp, ok bool) {
	text, ok := schema.Metadata().GetValue(stampName)
	return s, ok && json.Unmarshal([]byte(text), &s) == nil
}

// checkParts refuses a join of parts that do not belong together, because rows with equal keys may be in other parts,
// and a kind of join for which all parts count.
func (p *Pair) checkParts(spec *spirjoin.JoinSpec) error {
	left, isLeft := stampOf(p.tables[relation.Left].Schema())
	right, isRight := stampOf(p.tables[relation.Right].Schema())
	if !isLeft || !isRight {
		return nil
	}
	of := func(s stamp, keys []string) string {
		return fmt.Sprintf("part %d of %d by %s of type %s", s.Part, s.Parts, strings.Join(keys, ", "),
			strings.Join(s.Types, ", "))
	}
	switch on := spec.Keys(); {
	case spec.How == join.Cross || spec.How == join.NotIn:
		return fmt.Errorf("%w: joins of parts are no %s: rows of other parts count; join the files before they are divided",
			backend.ErrInvalidInput, spec.How.Noun())
	case len(spec.NullsEqual) > 0 && !(left.NullsEqual && right.NullsEqual):
		return fmt.Errorf("%w: the files are divided so that a NULL may be in any part; divide both with nulls_equal",
			backend.ErrInvalidInput)
	case of(left, nil) == of(right, nil) && slices.Equal(left.On, on[0]) && slices.Equal(right.On, on[1]):
		return nil
	}
	return fmt.Errorf("%w: the left file is %s, the right file is %s: rows with equal keys may be in other parts; divide "+
		"both files by the keys of the join, with one another, into as many parts", backend.ErrInvalidInput,
		of(left, left.On), of(right, right.On))
}

const (
	// divisionSeed differs from the seeds of joins that divide their inputs, so that these divide a part again.
	divisionSeed = 1 << 32
	// blockBytes of rows are divided at a time; writersBytes of rows wait for all writers to encode them. Under a limit
	// they are at most a blockShare and a writersShare of it.
	blockBytes, writersBytes = 64 << 20, 1 << 30
	blockShare, writersShare = 16, 4
	leastRowGroupBytes       = 1 << 18
)

// Divide divides the rows of a file by the hashes of their keys into the parts of a folder, each of which is a file.
// Part i of one file has all partners of the rows in part i of another one that was divided by its keys into as many
// parts, so joins of these pairs are the join of both files, of every kind but cross and not-in joins. The parts say how
// they were divided, and joins of parts that do not belong together are refused ([Pair.Layout]); CSV files cannot say
// it. The rows of a part keep their order.
//
// Errors: as for [tableio.Open] and [tableio.CreateFolder]; backend.ErrInvalidInput for unknown keys or types that do
// not compare.
func Divide(ctx context.Context, path, folder string, o DivideOptions) (_ *Division, err error) {
	if o.Parts < 1 || o.Parts > MostParts {
		return nil, fmt.Errorf("%w: %d parts; choose 1 to %d", backend.ErrInvalidInput, o.Parts, MostParts)
	}
	t, err := (&Options{Limit: o.Limit, Hooks: o.Hooks}).open(ctx, relation.Left, path, o.Read)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	d := &Division{On: o.On, Parts: o.Parts, NullsEqual: o.NullsEqual, Rows: make([]int64, o.Parts)}
	divider, err := d.divider(t.Schema(), &o)
	if err != nil {
		return nil, err
	}
	var schemas []*arrow.Schema
	for part := range o.Parts {
		schemas = append(schemas, d.stamp(t.Schema(), part))
	}
	output, err := tableio.CreateFolder(folder, schemas, o.Overwrite, d.writing(&o))
	if err != nil {
		return nil, err
	}
	defer output.Abort() // does nothing after Commit
	if err := divideTable(ctx, t, divider, output, o.Limit); err != nil {
		return nil, err
	}
	for part := range d.Rows {
		d.Rows[part] = output.Part(part).Rows()
	}
	return d, output.Commit(ctx, d)
}

// divider plans the hashes of the keys.
func (d *Division) divider(schema *arrow.Schema, o *DivideOptions) (*exchange.Divider, error) {
	own := [2]*arrow.Schema{schema, schema}
	nullsEqual := slices.Repeat([]bool{o.NullsEqual}, len(o.On))
	alone, err := keys.PlanHashes(own, [2][]string{o.On, o.On}, nullsEqual...)
	if err != nil {
		return nil, err
	}
	both, on := own, [2][]string{o.On, o.On}
	if o.With != nil {
		both[relation.Right], on[relation.Right] = o.With, o.WithOn
	}
	hashes, err := keys.PlanHashes(both, on, nullsEqual...)
	if err != nil {
		return nil, err
	}
	for k := range o.On {
		var types []string
		for side, of := range both {
			types = append(types, of.Field(of.FieldIndices(on[side][k])[0]).Type.String())
		}
		slices.Sort(types)
		d.Types = append(d.Types, strings.Join(slices.Compact(types), " and "))
	}
	return &exchange.Divider{Hashes: hashes, Alone: [2]*keys.Hashes{alone}, Parts: o.Parts, Seed: divisionSeed}, nil
}

// writing completes the options of the writers, which share memory.
func (d *Division) writing(o *DivideOptions) tableio.WriteOptions {
	write, all := o.Write, int64(writersBytes)
	if o.Limit != nil {
		all = min(all, o.Limit.TableBytes/writersShare)
	}
	const groupsEach = 3 // row groups that a writer holds
	write.RowGroupBytes = cmp.Or(write.RowGroupBytes, max(all/int64(groupsEach*o.Parts), leastRowGroupBytes))
	return write
}

// divideTable writes the rows of a table, block by block, to their parts.
func divideTable(ctx context.Context, t *Table, divider *exchange.Divider, output *tableio.Folder, limit *Limit) error {
	most := uint64(blockBytes)
	if limit != nil {
		most = min(most, uint64(limit.TableBytes/blockShare))
	}
	var block []arrow.RecordBatch
	sizeBytes := uint64(0)
	defer func() { relation.ReleaseAll(block) }()
	write := func() error {
		table := array.NewTableFromRecords(t.Schema(), block)
		relation.ReleaseAll(block)
		block, sizeBytes = nil, 0
		defer table.Release()
		return writeParts(ctx, table, divider, output)
	}
	for batch, err := range t.Batches(ctx, nil) {
		if err != nil {
			return err
		}
		block, sizeBytes = append(block, batch), sizeBytes+exchange.BatchBytes(batch)
		if sizeBytes >= most {
			if err := write(); err != nil {
				return err
			}
		}
	}
	return write()
}

func writeParts(ctx context.Context, table arrow.Table, divider *exchange.Divider, output *tableio.Folder) error {
	if table.NumRows() == 0 {
		return nil
	}
	parts, err := divider.Divide(ctx, relation.Left, table, &offheap.Shared)
	if err != nil {
		return err
	}
	defer relation.ReleaseAll(parts)
	for part, rows := range parts {
		if err := output.Part(part).Write(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}
