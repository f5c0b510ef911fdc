package keys

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// alike are texts that differ in little: in zeros at their end, in their length, in bytes behind the first 15.
var alike = []string{"", "\x00", "\x00\x00", "a", "a\x00", "1234567", "12345678", "12345678\x00", "123456789012345",
	"12345678901234\x00", "1234567890123456", "1234567890123457", strings.Repeat("x", 300) + "a",
	strings.Repeat("x", 300) + "b", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}

// textColumn is a column of a type, in three chunks, of which nulls are NULL. It returns also the texts.
func textColumn(dtype arrow.DataType, rows int, text func(row int) string, null func(row int) bool) (arrow.Table,
	[]string) {
	texts := make([]string, rows)
	var chunks []arrow.Array
	for from, to := 0, 0; from < rows; from = to {
		to = min(rows, from+rows/3+1)
		b := array.NewBuilder(memory.DefaultAllocator, dtype)
		for row := from; row < to; row++ {
			if texts[row] = text(row); null(row) {
				texts[row] = "NULL"
				b.AppendNull()
				continue
			}
			switch b := b.(type) {
			case array.StringLikeBuilder:
				b.Append(texts[row])
			case *array.FixedSizeBinaryBuilder:
				texts[row] = fmt.Sprintf("%-20.20s", texts[row])
				b.Append([]byte(texts[row]))
			case array.BinaryLikeBuilder:
				b.Append([]byte(texts[row]))
			}
		}
		chunks = append(chunks, array.NewSlice(b.NewArray(), 0, int64(to-from)))
	}
	field := arrow.Field{Name: "k", Type: dtype, Nullable: true}
	column := arrow.NewColumn(field, arrow.NewChunked(dtype, chunks))
	return array.NewTable(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Column{*column}, int64(rows)), texts
}

// TestNumberTexts: codes are equal if and only if texts are, and each code has a row with its text.
func TestNumberTexts(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	defer func(rows int) { leastNumbered = rows }(leastNumbered)
	leastNumbered = 1
	ctx := context.Background()
	fixed := &arrow.FixedSizeBinaryType{ByteWidth: 20}
	for i, dtype := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		arrow.BinaryTypes.StringView, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, fixed} {
		for _, different := range []int{1, len(alike), 5000} {
			for _, nulls := range []int{0, 3} {
				random := rand.New(rand.NewPCG(uint64(i), uint64(different)))
				rows := 40 * different
				table, texts := textColumn(dtype, rows, func(int) string {
					// Most rows have one of a few texts, so that a sample finds too few.
					n := random.IntN(different)
					if random.IntN(20) > 0 {
						n = n % 10
					}
					if n < len(alike) {
						return alike[n]
					}
					return fmt.Sprint("text of a number ", n)
				}, func(row int) bool { return nulls > 0 && random.IntN(nulls) == 0 })
				t.Run(fmt.Sprintf("type=%s/texts=%d/nulls=%d", dtype, different, nulls), func(t *testing.T) {
					plan, err := PlanGroups(ctx, table, []string{"k"}, false, nil)
					require.NoError(t, err)
					require.True(t, plan.HasRows(0))
					require.True(t, plan.Exact())
					require.False(t, plan.LeavesOut(relation.Left))
					codes := make([]byte, rows*plan.KeyBytes())
					require.NoError(t, plan.Encode(ctx, relation.Left, codes, nil))
					known, seen := plan.RowsOf(0, codes), make(map[uint32]string)
					for row, code := range backend.Words(codes) {
						before, found := seen[code]
						if texts[row] != texts[known[row]] || found && before != texts[row] {
							require.Failf(t, "another text", "row %d: %q, known as %q, after %q", row, texts[row],
								texts[known[row]], before)
						}
						seen[code] = texts[row]
					}
					distinct := make(map[string]bool)
					for _, text := range texts {
						distinct[text] = true
					}
					require.Len(t, seen, len(distinct))
				})
			}
		}
	}
}

// TestNumberTextsUnseen: a sample that sees only NULL says nothing of how many texts there are.
func TestNumberTextsUnseen(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	const rows, different = 1_900_000, 300
	for _, first := range []int{200_000, 800_000, 1_200_000} {
		table, _ := textColumn(arrow.BinaryTypes.String, rows, func(row int) string { return fmt.Sprint("text ", row) },
			func(row int) bool { return row < first || row >= first+different })
		plan, err := PlanGroups(context.Background(), table, []string{"k"}, false, nil)
		require.NoError(t, err)
		require.True(t, plan.HasRows(0))
		table.Release()
	}
}

// TestNumberManyTexts: many different texts, and texts of few rows, are not numbered.
func TestNumberManyTexts(t *testing.T) {
	never := func(int) bool { return false }
	for _, c := range []struct {
		rows, different int
		numbered        bool
	}{{leastNumbered - 1, 1, false}, {leastNumbered, 1, true}, {1 << 15, 1 << 10, true}, {1 << 15, 1 << 13, false},
		{1 << 15, 1 << 15, false}} {
		table, _ := textColumn(arrow.BinaryTypes.String, c.rows, func(row int) string {
			return fmt.Sprint("text of a number ", row*7919%c.different)
		}, never)
		plan, err := PlanGroups(context.Background(), table, []string{"k"}, false, nil)
		require.NoError(t, err)
		require.Equal(t, c.numbered, plan.HasRows(0), "%d rows, %d texts", c.rows, c.different)
		require.Equal(t, c.numbered, plan.Exact())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	table, _ := textColumn(arrow.BinaryTypes.String, leastNumbered, func(int) string { return "a" }, never)
	_, err := PlanGroups(ctx, table, []string{"k"}, false, nil)
	require.ErrorIs(t, err, backend.ErrCancelled)
}
