package planner

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/operator"
)

// TestRatesFile: a row has a device, a backend, what was measured, and a rate of every unit, and nothing else.
func TestRatesFile(t *testing.T) {
	var rows []struct {
		Rates
		Nanoseconds map[string]float64 `json:"ns"`
	}
	decoder := json.NewDecoder(bytes.NewReader(ratesFile))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&rows))
	require.Len(t, AllRates(), len(rows))
	for i, row := range rows {
		require.NotEmpty(t, row.Device)
		require.NotEmpty(t, row.Backend, row.Device)
		require.NotEmpty(t, row.Measured, row.Device)
		require.Len(t, row.Nanoseconds, int(operator.NumUnits), row.Device)
		for u := range operator.NumUnits {
			require.Contains(t, row.Nanoseconds, u.String(), row.Device)
			require.GreaterOrEqual(t, row.Nanoseconds[u.String()], 0., row.Device)
			require.Equal(t, row.Nanoseconds[u.String()], AllRates()[i].Ns[u])
		}
	}
}
