package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/kernel"
)

func TestSelect(t *testing.T) {
	const rle, delta, pack = kernel.CascadeRLE, kernel.CascadeDelta, kernel.CascadePack
	orders := codec.Sample(columnOf("runs", 8, 100_000), []uint32{0, 100_000})
	steps := codec.Sample(columnOf("distinct", 8, 100_000), []uint32{0, 100_000})
	few := codec.Sample(columnOf("few", 8, 100_000), []uint32{0, 100_000})
	random := codec.Sample(columnOf("random", 8, 100_000), []uint32{0, 100_000})
	slowRLE := codec.Uniform(400e9, 1000e9, 25e9)
	for scheme := range slowRLE.Encode {
		if kernel.CascadeScheme(scheme)&rle != 0 {
			slowRLE.Encode[scheme] = 10e9
		}
	}
	for name, c := range map[string]struct {
		sizes codec.Sizes
		rates codec.Rates
		want  kernel.CascadeScheme // 0: not encoded
	}{
		"runs of ascending values":           {orders, codec.Uniform(400e9, 1000e9, 25e9), rle | delta | pack},
		"the same, where runs cost too much": {orders, slowRLE, delta | pack},
		"steps of one":                       {steps, codec.Uniform(400e9, 1000e9, 25e9), delta | pack},
		"values of three bits":               {few, codec.Uniform(400e9, 1000e9, 25e9), pack},
		"nothing is smaller":                 {random, codec.Uniform(400e9, 1000e9, 25e9), 0},
		"the link is faster":                 {orders, codec.Uniform(400e9, 1000e9, 300e9), 0},
		"the link is a little slower":        {orders, codec.Uniform(400e9, 1000e9, 200e9), rle | delta | pack},
		"too little is gained for that":      {few, codec.Uniform(20e9, 20e9, 11e9), 0},
		"no codec":                           {orders, codec.Rates{Link: 1e9}, 0},
		"no rows":                            {codec.Sizes{}, codec.Uniform(400e9, 1000e9, 25e9), 0},
	} {
		choice := codec.Select(c.sizes, c.rates)
		require.Equal(t, c.want, choice.Scheme, name)
		require.Equal(t, c.want != 0, choice.Coded, name)
		require.LessOrEqual(t, choice.Seconds, 1/c.rates.Link, name)
	}
}
