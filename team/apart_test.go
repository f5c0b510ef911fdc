package team

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// counted is a table that counts its owners.
type counted struct {
	arrow.Table
	owners int
}

func (c *counted) Retain()  { c.owners++ }
func (c *counted) Release() { c.owners-- }

// during is a team whose join is a test.
type during struct {
	*apart
	test func(context.Context, []*query.Lane) error
}

func (d *during) Join(ctx context.Context, lanes []*query.Lane) error { return d.test(ctx, lanes) }

// queries are two queries on the host backend that nothing runs.
func queries(t *testing.T) (all []*query.Query) {
	for range 2 {
		driver, err := host.New(host.Options{}).Open("host:cpu")
		require.NoError(t, err)
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		q := query.NewEngine(ops, memory.DefaultAllocator, 0).Bind(query.Spec{Parts: true})
		q.Alternatives = []query.Alternative{{Plan: new(operator.Plan),
			Join: &query.Join{Scans: [2]*query.Scan{{}, {}}, Output: operator.Want{Count: true}}}}
		all = append(all, q)
	}
	return all
}

// TestFailReleasesPartsOnce: parts of a device that fails go to the other devices or, where the join has ended
// meanwhile, are released, each once.
func TestFailReleasesPartsOnce(t *testing.T) {
	devicetest.HostTest(t)
	errEnd := errors.New("end of the test")
	for _, ended := range []bool{false, true} {
		flow := exec.NewFlow(t.Context())
		pipe := exec.NewPipe[*query.Part](flow, 2)
		parts := []*counted{{owners: 1}, {owners: 1}}
		_, err := query.Start(flow, queries(t), func(lanes []*query.Lane) query.Team {
			team := newApart(flow, lanes, pipe)
			return &during{team, func(ctx context.Context, lanes []*query.Lane) error {
				for _, table := range parts {
					table.Table = array.NewTable(arrow.NewSchema(nil, nil), nil, 0)
					part := &query.Part{Table: table, Trees: func(*query.Engine) []query.Join { return make([]query.Join, 1) }}
					require.NoError(t, pipe.Put(ctx, part))
					p, err := team.take(ctx, lanes[1])
					require.NoError(t, err)
					p.Part.Release() // the lane has joined it, and not delivered yet
				}
				if ended {
					flow.Fail(context.Canceled)
				}
				err := team.fail(lanes[1], backend.ErrDeviceLost)
				require.Equal(t, ended, err != nil)
				return errEnd
			}}
		})
		if ended {
			require.ErrorIs(t, err, context.Canceled)
		} else {
			require.ErrorIs(t, err, errEnd)
		}
		for _, table := range parts {
			require.Zero(t, table.owners, "ended %t", ended)
		}
	}
}
