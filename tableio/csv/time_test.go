package csv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEveryDay(t *testing.T) {
	day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	first, last := day.Unix()/86_400, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix()/86_400
	for days := first; days <= last; days++ {
		year, month, dayOfMonth := dateOf(days)
		if days%97 == 0 || dayOfMonth > 27 { // the library is slow
			if y, m, d := time.Unix(days*86_400, 0).UTC().Date(); y != year || int(m) != month || d != dayOfMonth {
				t.Fatalf("day %d is %d-%d-%d instead of %d-%d-%d", days, year, month, dayOfMonth, y, m, d)
			}
		}
		if got := daysSinceEpoch(year, month, dayOfMonth); got != days {
			t.Fatalf("%d-%d-%d is day %d instead of %d", year, month, dayOfMonth, got, days)
		}
	}
}

func TestDatesAreReadAsTheLibraryDoes(t *testing.T) {
	accepted := 0
	property := func(rt *rapid.T) {
		const pattern = `[0-9]{4}-[01][0-9]-[0-3][0-9]|[0-9/:\-]{10}|[0-9]{4}-[0-9]{2}-[0-9]{2,3}`
		text := rapid.StringMatching(pattern).Draw(rt, "text")
		want, err := time.Parse(time.DateOnly, text)
		days, ok := parseDate([]byte(text))
		require.Equal(rt, err == nil, ok, "%q", text)
		if ok {
			accepted++
			require.Equal(rt, want.Unix(), days*86_400, "%q", text)
		}
	}
	for range 5 { // a fifth of the draws under go test -short would not find all of them
		rapid.Check(t, property)
	}
	require.Positive(t, accepted)
}
