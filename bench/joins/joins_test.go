package joins

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
)

func TestMeasure(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t)
		for n, change := range []func(*workload.PKFKSpec){
			func(s *workload.PKFKSpec) {},
			func(s *workload.PKFKSpec) { s.KeyBytes, s.PayloadBytes, s.RPayloads, s.MatchRatio = 8, 8, 2, 0.3 },
			func(s *workload.PKFKSpec) { s.Zipf, s.SPayloads = 1.5, 3 },
		} {
			if tuning != nil && n != 1 {
				continue // instrumented pipelines take seconds to compile
			}
			spec := workload.DefaultPKFK(4000, 9000)
			change(&spec)
			bed, err := NewBed(context.Background(), device, tuning, spec)
			require.NoError(t, err)
			func() {
				defer bed.Release()
				for _, a := range Algorithms() {
					r, err := bed.Measure(context.Background(), a, 1, 0)
					require.NoError(t, err, "%v", spec)
					require.Positive(t, r.Rows)
					require.NotZero(t, r.PeakBytes)
				}
			}()
		}
	})
}

// The check must see each kind of fault.
func TestCheckSeesFaults(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		bed, err := NewBed(context.Background(), device, jointest.Tuning(t), workload.DefaultPKFK(100, 300))
		require.NoError(t, err)
		defer bed.Release()
		faults := map[string]func(*resident.Result) *backend.Buffer{
			"key": func(r *resident.Result) *backend.Buffer { return r.Keys },
			"R":   func(r *resident.Result) *backend.Buffer { return r.Payload[0][0] },
			"S":   func(r *resident.Result) *backend.Buffer { return r.Payload[1][0] },
		}
		for name, column := range faults {
			a := Algorithms()[0]
			right := a.join
			a.join = func(ctx context.Context, ops *primitive.Ops, left, other resident.Relation, profile *backend.Profile) (*resident.Result, error) {
				r, err := right(ctx, ops, left, other, profile)
				if err == nil {
					var list backend.List
					list.Fill(column(r).Range(40, 4), 12345)
					err = device.Run(ctx, &list)
				}
				return r, err
			}
			_, err := bed.Measure(context.Background(), a, 1, 0)
			require.ErrorIs(t, err, benchmark.ErrWrong, name)
		}
		short := Algorithms()[0]
		right := short.join
		short.join = func(ctx context.Context, ops *primitive.Ops, left, other resident.Relation, profile *backend.Profile) (*resident.Result, error) {
			r, err := right(ctx, ops, left, other, profile)
			if err == nil {
				r.Rows--
			}
			return r, err
		}
		_, err = bed.Measure(context.Background(), short, 1, 0)
		require.ErrorIs(t, err, benchmark.ErrWrong)
	})
}
