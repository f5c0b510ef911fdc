package engine_test

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
	f.Add(uint64(1), uint16(40), uint16(300), []byte{0, 0, 0, 24, 0, 0, 0})
	f.Add(uint64(2), uint16(0), uint16(1), []byte{3, 4, 6, 1, 9, 1, 1})
	f.Add(uint64(3), uint16(700), uint16(600), []byte{2, 1, 4, 9, 3, 4, 2})
	f.Fuzz(func(t *testing.T, seed uint64, leftRows, rightRows uint16, choices []byte) {
		choose := func(n int) int { // one of n, from the next byte
			if len(choices) == 0 {
				return 0
			}
			choice := int(choices[0])
			choices = choices[1:]
			return choice % n
		}
		kind, matching, out := &keyKinds[choose(len(keyKinds))], matchings[choose(len(matchings))],
			outputs[choose(len(outputs))]
		items, how, form, part := choose(32)+1, kinds[choose(len(kinds))], forms[choose(len(forms))],
			parts[choose(len(parts))]
		most := 900
		if matching.maxRows > 0 {
			most = matching.maxRows
		}
		if how == join.Cross {
			most = 100
		}
		driver, err := host.New(host.Options{Shuffle: seed | 1, Poison: true}).Open("host:cpu")
		require.NoError(t, err)
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		c := backend.Config{"serial": uint32(seed >> 1 & 1), "workgroup": 8, "items": uint32(items)}
		tuning := primitive.Override(c, "radix_sort", "range_search", "range_expand")
		c["items"] = max(2, c["items"]) // tiles of a scan have two rows at least, so that its levels shrink
		ops, err := primitive.New(device, tuning.With(primitive.Override(c, "scan")))
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(seed, 0))
		left := randomTable(random, int(leftRows)%most, kind.left, kind, matching.left, "k")
		defer left.Release()
		right := randomTable(random, int(rightRows)%most, kind.right, kind, matching.right, "r")
		defer right.Release()
		spec := join.Spec{How: how, Output: out.output, Materialize: out.materialize, Columns: out.columns,
			BatchRows: 1 << 10}
		if complete(&spec, kind, form) {
			check(t, ops, left, right, spec, part)
		}
		require.NoError(t, device.Close())
	})
}
