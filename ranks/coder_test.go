package ranks_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/ranks"
)

// exchanged adds up what all ranks have sent.
func exchanged(found []outcome) (sum shuffle.Stats) {
	for _, sides := range found[0].totals.Exchanged {
		for _, s := range sides {
			sum.SentBytes += s.SentBytes
			sum.RawBytes += s.RawBytes
			sum.HostEncodedBytes += s.HostEncodedBytes
			sum.DeviceEncodedBytes += s.DeviceEncodedBytes
			sum.HostDecodedBytes += s.HostDecodedBytes
			sum.DeviceDecodedBytes += s.DeviceDecodedBytes
		}
	}
	return sum
}

// TestCompressed: every kind, with columns that are encoded and decoded on the host or on a device, if rows go to
// owners and if a side goes to all ranks, also under a memory limit.
func TestCompressed(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for n := range 2 * len(kinds) {
			how, at := kinds[n/2], []ranks.Codec{ranks.CodecHost, ranks.CodecDevice}[n%2]
			owners := (n+n/2)%2 == 0 && how != join.Cross
			left, right := table(t, 1, keyTypes[0][0], shape{700, 100, 0.1, 0.1}),
				table(t, 2, keyTypes[0][1], shape{400, 100, 0, 0.1})
			s := setup{size: 2 + n%2, knobs: ranks.Knobs{Owners: owners, Copies: !owners, BlockBytes: 20 << 10, Codec: at}}
			if n%4 == 0 {
				s.limitBytes = 256 << 20
			}
			spec := join.Spec{How: how, On: onK}
			if how == join.Cross {
				spec.On = nil
			}
			found := check(t, device, s, left, right, spec)
			if found[0].way == ranks.Stay {
				continue
			}
			sum, on, off := exchanged(found), [2]uint64{}, [2]uint64{}
			host, onDevice := [2]uint64{sum.HostEncodedBytes, sum.HostDecodedBytes},
				[2]uint64{sum.DeviceEncodedBytes, sum.DeviceDecodedBytes}
			if on, off = host, onDevice; at == ranks.CodecDevice {
				on, off = onDevice, host
			}
			require.Positive(t, on[0], "%s", how)
			require.Positive(t, on[1], "%s", how)
			require.Zero(t, off)
			require.Less(t, sum.SentBytes, sum.RawBytes, "%s", how)
		}
	})
}

// TestCodecAuto: ranks of one node send columns as they are. Over a link that is known to be slow they are encoded, and
// over one that is known to be fast they are not.
func TestCodecAuto(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := numbered(t, 1, 20_000, func(i int) int64 { return int64(i) }),
			numbered(t, 2, 20_000, func(i int) int64 { return int64(i) })
		for _, c := range []struct {
			knobs   ranks.Knobs
			encodes bool
		}{
			{ranks.Knobs{Owners: true}, false},
			{ranks.Knobs{Owners: true, LinkBytesPerSecond: 1e6}, true},
			{ranks.Knobs{Owners: true, LinkBytesPerSecond: 1e13}, false},
			{ranks.Knobs{Owners: true, LinkBytesPerSecond: 1e6, Codec: ranks.CodecOff}, false},
		} {
			sum := exchanged(check(t, device, setup{size: 3, knobs: c.knobs}, left, right, join.Spec{On: onK}))
			require.Equal(t, c.encodes, sum.HostEncodedBytes > 0, "%+v: %+v", c.knobs, sum)
			require.Equal(t, c.encodes, sum.SentBytes < sum.RawBytes)
			require.Equal(t, sum.HostEncodedBytes, sum.HostDecodedBytes)
			require.Zero(t, sum.DeviceEncodedBytes)
		}
	})
}

// TestCodecMemory: a device that was asked for and has no memory is an error, before rows move.
func TestCodecMemory(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		of := table(t, 1, arrow.PrimitiveTypes.Int64, shape{100, 60, 0, 0})
		s := setup{size: 2, knobs: ranks.Knobs{Owners: true, Codec: ranks.CodecDevice}, limitBytes: 4 << 20}
		for _, o := range run(t, device, s, of, of, join.Spec{On: onK}) {
			require.ErrorContains(t, o.err, "encode on the host")
		}
	})
}
