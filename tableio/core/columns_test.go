package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownColumnListsAFew(t *testing.T) {
	many := strings.Split(strings.Repeat("column ", 30), " ")[:30]
	require.ErrorContains(t, UnknownColumn("zzzz", many), "and 10 more")
}
