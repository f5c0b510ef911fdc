package groupby

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// mapEntryBytes is the memory of a key in a map: text, number and room for more entries.
const mapEntryBytes = 64

// verified returns groups by hashes as they are if no two different keys are in one, and otherwise groups the table
// again, by numbers that the host gives to keys.
func (w *work) verified(ctx context.Context, p *program, g *groups) (*groups, error) {
	w.progress.Start("verify groups")
	back, err := charge(g.memory, keys.CodeTableBytes(g.rows)+4*uint64(g.rows))
	if err != nil {
		return nil, err
	}
	equal, err := g.keys.VerifyGroups(ctx, backend.Longs(g.codes), g.rowNumbers(0, g.rows))
	back()
	if err != nil || equal {
		return g, err
	}
	mapBytes := uint64(g.rows) * mapEntryBytes // and more, if there are many keys of equal hashes
	back, err = charge(g.memory, 4*uint64(g.table.NumRows())+mapBytes)
	if err != nil {
		return nil, err
	}
	defer back()
	numbers, err := g.keys.NumberKeys(ctx)
	if err != nil {
		return nil, err
	}
	column := relation.FixedArray(arrow.PrimitiveTypes.Uint32, len(numbers), backend.AsBytes(numbers), nil, 0)
	defer column.Release()
	const name = "number of the key"
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: column.DataType()}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{column}, int64(len(numbers)))
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	defer table.Release()
	keys, err := keys.PlanGroups(ctx, table, []string{name}, false, nil)
	if err != nil {
		return nil, err
	}
	return w.groupBy(ctx, p, &groups{keys: keys, by: g.by, table: g.table, first: g.first, hashes: g.keys,
		memory: g.memory})
}
