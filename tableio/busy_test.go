package tableio

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// Time counts once however many goroutines are at work, and not while none is.
func TestBusy(t *testing.T) {
	var none *Busy
	none.begin()
	none.end()
	var b Busy
	b.begin()
	b.begin()
	time.Sleep(2 * time.Millisecond)
	first := b.Time()
	require.GreaterOrEqual(t, first, 2*time.Millisecond)
	b.end()
	require.GreaterOrEqual(t, b.Time(), first, "one is still at work")
	b.end()
	sum := b.Time()
	time.Sleep(2 * time.Millisecond)
	require.Equal(t, sum, b.Time())
}

// Reading and writing are measured in every format, also those parts that run on other goroutines.
func TestBusyOfFormats(t *testing.T) {
	for _, format := range formats {
		var written, read, streamed Busy
		path, name := tempPath(t, format), format.String()
		batch := exampleBatch(100_000)
		writeFile(t, path, batch.Schema(), []arrow.RecordBatch{batch}, WriteOptions{Busy: &written})
		require.Positive(t, written.Time(), name)
		require.Zero(t, written.working, name)
		for _, busy := range []*Busy{&read, &streamed} {
			r, err := Open(t.Context(), path, ReadOptions{Busy: busy})
			require.NoError(t, err)
			opened := busy.Time()
			if busy == &read {
				table, err := r.Read(t.Context(), nil)
				require.NoError(t, err)
				table.Release()
			} else {
				for batch, err := range r.Batches(t.Context(), nil) {
					require.NoError(t, err)
					batch.Release()
				}
			}
			require.Greater(t, busy.Time(), opened, name)
			require.Zero(t, busy.working, name)
			require.NoError(t, r.Close())
		}
	}
}
