package join_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
)

// FuzzJoin joins tables whose shape comes from the input on the host, in shuffled order, and compares with the oracle.
func FuzzJoin(f *testing.F) {
	f.Add(uint64(1), uint16(40), uint16(300), uint8(0), uint8(0), uint8(0), uint8(24))
	f.Add(uint64(2), uint16(0), uint16(1), uint8(3), uint8(4), uint8(6), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, leftRows, rightRows uint16, kindIndex, matchingIndex, outputIndex, items uint8) {
		kind := &keyKinds[int(kindIndex)%len(keyKinds)]
		matching := matchings[int(matchingIndex)%len(matchings)]
		out := outputs[int(outputIndex)%len(outputs)]
		most := 1200
		if matching.maxRows > 0 {
			most = matching.maxRows
		}
		driver, err := host.New(host.Options{Shuffle: seed | 1, Poison: true}).Open("host:cpu")
		require.NoError(t, err)
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		c := backend.Config{"serial": uint32(seed >> 1 & 1), "workgroup": 8, "items": uint32(items%32) + 1}
		ops, err := primitive.New(device, primitive.Override(c, "radix_sort", "range_search", "range_expand").With(primitive.Override(with2(c), "scan")))
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(seed, 0))
		left := randomTable(random, int(leftRows)%most, kind.left, kind, matching.left, "k")
		defer left.Release()
		right := randomTable(random, int(rightRows)%most, kind.right, kind, matching.right, "r")
		defer right.Release()
		spec := join.Spec{Output: out.output, Materialize: out.materialize, Columns: out.columns, BatchRows: 1 << 10}
		for k := range kind.left {
			spec.LeftOn = append(spec.LeftOn, left.Schema().Field(k).Name)
			spec.RightOn = append(spec.RightOn, right.Schema().Field(k).Name)
		}
		check(t, ops, left, right, spec)
		require.NoError(t, device.Close())
	})
}

// with2 gives a scan tiles of at least two rows, so that its levels shrink.
func with2(c backend.Config) backend.Config {
	return backend.Config{"serial": c["serial"], "workgroup": c["workgroup"], "items": max(2, c["items"])}
}
