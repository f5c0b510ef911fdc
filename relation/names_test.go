package relation

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearestName(t *testing.T) {
	names := []string{"o_orderkey", "o_custkey", "o_orderdate", "größe", "id"}
	for want, nearest := range map[string]string{
		"o_orderke":  "o_orderkey",
		"orderkey":   "o_orderkey",
		"O_ORDERKEY": "o_orderkey",
		"o_orderdat": "o_orderdate",
		"custkey":    "o_custkey",
		"grosse":     "",
		"grösse":     "größe",
		"ids":        "id",
		"xy":         "",
		"":           "",
		"l_shipdate": "",
	} {
		assert.Equal(t, nearest, NearestName(want, names), want)
	}
	assert.Equal(t, "", NearestName("id", nil))
}
