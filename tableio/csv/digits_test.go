package csv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

func TestDigitsAreThoseOfStrconv(t *testing.T) {
	check := func(t tabletest.T, v uint64) {
		require.Equal(t, strconv.FormatUint(v, 10), string(appendUint(nil, v)))
		require.Equal(t, "x"+strconv.FormatInt(int64(v), 10), string(appendInt([]byte("x"), int64(v))))
		require.Equal(t, fmt.Sprintf("%020d", v), string(appendPadded(nil, v, 20)))
		for _, scale := range []int32{0, 1, 2, 17, 18, 19, 30} {
			num := decimal128.FromI64(int64(v))
			require.Equal(t, num.ToString(scale), string(appendDecimal(nil, num, scale)))
		}
		num := decimal128.New(int64(v), v)
		require.Equal(t, num.ToString(2), string(appendDecimal(nil, num, 2)))
	}
	for power := uint64(1); power < math.MaxUint64/10; power *= 10 {
		for _, v := range []uint64{power - 1, power, power + 1, 10*power - 1, 10 * power, -power} {
			check(t, v)
		}
	}
	rapid.Check(t, func(rt *rapid.T) { check(rt, rapid.Uint64().Draw(rt, "v")) })
}

// Quotes stand where the characters demand them, and the text comes back.
func TestQuoting(t *testing.T) {
	quoting := quoter{delimiter: ';', nulls: newNullTexts([]string{"", "NA"})}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abcdefgNA;\"\n\r,\ufeff")), 0, 30, -1).Draw(rt, "text")
		got := string(quoting.quote([]byte("before"+text), len("before")))
		want := text
		if text == "" || text == "NA" || strings.ContainsAny(text, ";\"\n\r") || strings.HasPrefix(text, "\ufeff") {
			want = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		require.Equal(rt, "before"+want, got)
	})
}
