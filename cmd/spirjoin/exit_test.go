package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
)

// What the library says about a column that cannot be read or written names the flags of the command.
func TestMessagesNameTheFlagsOfColumns(t *testing.T) {
	const foreign = "../../tableio/testdata/foreign/"
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct{ arguments, want string }{
		{"join " + foreign + "16_int96_from_spark.parquet " + foreign + "one.csv --how cross --columns a -o " + out + ".csv",
			"write " + out + `.csv: row 6, column "a": 9089380393200000000 is outside the range of timestamp[us] in CSV; ` +
				"write Parquet or Arrow, or leave it out with --columns"},
		{"groupby " + foreign + "16_int96_from_spark.parquet --by a --agg count -o " + out + ".csv",
			"; write Parquet or Arrow, or leave it out with --columns"},
		{"join " + foreign + "21_illegal_decimals.parquet " + foreign + "one.csv --how cross --columns d7 -o " + out +
			".parquet", "create " + out + `.parquet: column "d7": type decimal(2, 4) cannot be written to Parquet: ` +
			"it allows no scale above the precision; write Arrow, or leave it out with --columns"},
		{"join " + foreign + "08e_variant_minimal.parquet " + foreign + "one.csv --how cross -o " + out + ".arrow",
			`column "v" cannot be read: invalid: metadata field must be non-nullable binary type, got binary; ` +
				"leave it out with --columns"},
		{"groupby " + foreign + "08e_variant_minimal.parquet --by v --agg count -o " + out + ".arrow",
			"; leave it out of --by and --agg"},
		{"join " + foreign + "one.csv " + foreign + "08e_variant_minimal.parquet --how cross --by v --agg count -o " + out +
			".arrow", "; leave it out of --by and --agg"},
	} {
		o := tested.Require(t, command.ExitInputOutput, append(strings.Fields(c.arguments), "--device", "host", "-q")...)
		require.True(t, strings.HasSuffix(o.Stderr, c.want+"\n"), o.Stderr)
	}
}
