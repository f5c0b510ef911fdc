package groupby

import (
	"context"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Least and greatest texts are not reduced on the device, which has no texts, but found by the host once the rows are
// grouped: it walks over the rows, looks their groups up by their key codes, and keeps the row with the best text of
// each group. That row stands for the text, as the first row of a group does for the value of First. In the table of
// the groups of a part of a stream the value is a column, of which the merge finds the first, least or greatest again.

// pick is a row of each group whose value in a column is output: the first one, or one with the least or greatest text.
type pick struct {
	column string
	of     reduce.Func // First, Min or Max
}

// picked are these rows, by group; nil: the first ones. If all texts of a group are NULL, the row is one of them.
type picked struct {
	column string
	rows   []uint32
}

// fetch returns the values of pick i of the groups [from, to), which the caller releases.
func (g *groups) fetch(ctx context.Context, i, from, to int) (arrow.Array, error) {
	of, rows := &g.picked[i], []uint32(nil)
	if of.rows == nil {
		rows = g.rowNumbers(from, to)
	} else {
		rows = of.rows[from:to]
	}
	return take.Rows(ctx, relation.ColumnOf(g.table, of.column), rows, memory.DefaultAllocator)
}

// isText tells whether values are compared byte by byte.
func isText(t arrow.DataType) bool { return relation.TraitOf(t).Class.IsText() }

// textOf returns the text of row i of an array; ok is false for NULL. It is valid as long as the array.
func textOf(a arrow.Array, i int) (text string, ok bool) {
	if a.IsNull(i) {
		return "", false
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return textOf(a.Dictionary(), a.GetValueIndex(i))
	case interface{ Value(int) string }:
		return a.Value(i), true
	case interface{ Value(int) []byte }: // binary of every kind
		b := a.Value(i)
		return unsafe.String(unsafe.SliceData(b), len(b)), true
	}
	return "", false
}

// pickedAtOnce is the number of rows after which the end of the context is noticed.
const pickedAtOnce = 1 << 16

// pick finds the rows that a program wants of finished groups.
func (g *groups) pick(ctx context.Context, p *program) error {
	var groupOf []uint32
	for _, wanted := range p.picks {
		if wanted.of == reduce.First || g.rows == 0 {
			g.picked = append(g.picked, picked{column: wanted.column})
			continue
		}
		if groupOf == nil {
			of, back, err := g.ofRows(ctx)
			defer back()
			if groupOf = of; err != nil {
				return err
			}
		}
		if err := g.memory.Grow(exec.Need{Host: 4 * uint64(g.rows)}); err != nil { // rows
			return err
		}
		back, err := charge(g.memory, (16+1)*uint64(g.rows)) // best and found
		if err != nil {
			return err
		}
		defer back()
		rows, best := make([]uint32, g.rows), make([]string, g.rows)
		found := make([]uint8, g.rows) // 1: a row, 2: a text
		at := 0
		for _, chunk := range relation.ColumnOf(p.table, wanted.column).Chunks() {
			for i := range chunk.Len() {
				if at%pickedAtOnce == 0 && ctx.Err() != nil {
					return backend.ContextError(ctx)
				}
				j := groupOf[at]
				text, ok := textOf(chunk, i)
				switch {
				case !ok && found[j] == 0:
					rows[j], found[j] = uint32(at), 1
				case ok && (found[j] < 2 || text != best[j] && text > best[j] == (wanted.of == reduce.Max)):
					rows[j], best[j], found[j] = uint32(at), text, 2
				}
				at++
			}
		}
		g.picked = append(g.picked, picked{wanted.column, rows})
	}
	return nil
}

// ofRows returns the group of each row of the table, of which back gives the memory back.
func (g *groups) ofRows(ctx context.Context) (groupOf []uint32, back func(), err error) {
	rows := uint64(g.table.NumRows())
	if back, err = charge(g.memory, 4*rows+keys.CodeTableBytes(g.rows)); err != nil {
		return nil, back, err
	}
	groupOf = make([]uint32, rows)
	return groupOf, back, g.keys.RowGroups(ctx, g.codes, groupOf)
}
