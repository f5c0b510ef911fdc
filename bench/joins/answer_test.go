package joins

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
)

// answerRow is a row of an output: the key, the payload of R, and the payload of S. Payload of a side without a row is
// nil.
type answerRow struct {
	key  int32
	r, s []int32
}

// simplest joins tables of 32-bit integers by the simplest join that there is.
func simplest(t *testing.T, r, s arrow.Table, how string) (rows []answerRow) {
	want, err := Want(how)
	require.NoError(t, err)
	read := func(table arrow.Table) (rows [][]int32) {
		for row := range int(table.NumRows()) {
			var values []int32
			for c := range int(table.NumCols()) {
				values = append(values, table.Column(c).Data().Chunk(0).(*array.Int32).Value(row))
			}
			rows = append(rows, values)
		}
		return rows
	}
	sides := [2][][]int32{read(r), read(s)}
	for side := range sides {
		for _, own := range sides[side] {
			matched := false
			for _, other := range sides[1-side] {
				if other[0] == own[0] {
					matched = true
					if want.Pairs && side == sideR {
						rows = append(rows, answerRow{own[0], own[1:], other[1:]})
					}
				}
			}
			if matched && want.Matched[side] || !matched && want.Rest[side] {
				row := answerRow{key: own[0]}
				*[]*[]int32{&row.r, &row.s}[side] = own[1:]
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// batchOf has the columns of the sides that some row has.
func batchOf(rows []answerRow) arrow.RecordBatch {
	var fields []arrow.Field
	add := func(name string) {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32, Nullable: true})
	}
	add("key")
	of := func(row answerRow) [2][]int32 { return [2][]int32{row.r, row.s} }
	widths := [2]int{}
	for _, row := range rows {
		for side, payload := range of(row) {
			widths[side] = max(widths[side], len(payload))
		}
	}
	for range widths[0] + widths[1] {
		add("payload")
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer builder.Release()
	for _, row := range rows {
		builder.Field(0).(*array.Int32Builder).Append(row.key)
		at := 1
		for side, payload := range of(row) {
			for i := range widths[side] {
				field := builder.Field(at).(*array.Int32Builder)
				if at++; payload == nil {
					field.AppendNull()
				} else {
					field.Append(payload[i])
				}
			}
		}
	}
	return builder.NewRecordBatch()
}

// The answer of every kind equals the simplest join's, in any order and in any batches. Each kind of fault is seen.
func TestAnswer(t *testing.T) {
	spec := workload.DefaultPKFK(40, 90)
	spec.RPayloads, spec.SPayloads, spec.MatchRatio, spec.Distinct = []int{4, 4}, []int{4}, 0.5, 30
	r, s, err := workload.PKFK(t.Context(), spec)
	require.NoError(t, err)
	defer r.Release()
	defer s.Release()
	for _, h := range hows {
		a, err := NewAnswer(t.Context(), r, s, h.name)
		require.NoError(t, err)
		rows := simplest(t, r, s, h.name)
		verify := func(batches ...[]answerRow) error {
			check := a.Begin()
			for _, rows := range batches {
				batch := batchOf(rows)
				defer batch.Release()
				if err := check.Add(t.Context(), batch); err != nil {
					return err
				}
			}
			return check.End()
		}
		require.EqualValues(t, len(rows), a.Rows(), h.name)
		if h.want.Count {
			continue
		}
		require.NoError(t, verify(rows), h.name)
		reversed := slices.Clone(rows)
		slices.Reverse(reversed)
		require.NoError(t, verify(reversed), h.name)
		if !a.absent[sideR] && !a.absent[sideS] { // a batch of one side alone has fewer columns
			require.NoError(t, verify(rows[:7], rows[7:]), h.name)
		}
		for name, change := range map[string]func(rows []answerRow) []answerRow{
			"row missing": func(rows []answerRow) []answerRow { return rows[1:] },
			"row twice":   func(rows []answerRow) []answerRow { return append(rows[1:], rows[1]) },
			"key":         func(rows []answerRow) []answerRow { rows[0].key++; return rows },
			"payload": func(rows []answerRow) []answerRow {
				row := &rows[len(rows)-1]
				for _, payload := range []*[]int32{&row.r, &row.s} {
					if *payload != nil {
						*payload = append(slices.Clone((*payload)[1:]), (*payload)[0]+1)
					}
				}
				return rows
			},
			"no columns": func(rows []answerRow) []answerRow {
				for i := range rows {
					rows[i].r, rows[i].s = nil, nil
				}
				return rows
			},
			"halves exchanged": func(rows []answerRow) []answerRow {
				other := slices.IndexFunc(rows, func(row answerRow) bool { return row.key != rows[0].key })
				require.Positive(t, other)
				rows[0].key, rows[other].key = rows[other].key, rows[0].key
				return rows
			},
		} {
			require.ErrorIs(t, verify(change(slices.Clone(rows))), measure.ErrWrong, "%s: %s", h.name, name)
		}
	}
	spec.RPayloads = nil
	keys, s2, err := workload.PKFK(t.Context(), spec)
	require.NoError(t, err)
	defer keys.Release()
	defer s2.Release()
	_, err = NewAnswer(t.Context(), keys, s2, "right")
	require.ErrorContains(t, err, "a right join needs payload columns to be verified")
	_, err = NewAnswer(t.Context(), keys, s2, "inner")
	require.NoError(t, err)
}
