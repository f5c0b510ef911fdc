package clc

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
)

func TestCatalogue(t *testing.T) {
	cl := pocl(t)
	for _, spec := range kernel.Catalogue() {
		source, err := os.ReadFile("/tmp/clc/cl/" + spec.Name + ".cl")
		require.NoError(t, err)
		for _, variant := range kernel.Variants(spec) {
			name := strings.TrimSuffix(kernel.SPIRVName(spec, variant), ".spv")
			t.Run(name, func(t *testing.T) {
				shape := backend.Config{}
				for k, v := range variant {
					shape[k] = v
				}
				code, _ := os.ReadFile("/tmp/clc/spv/" + name + ".spv")
				tr, err := Translate(code, spec)
				require.NoError(t, err)
				if tr.Subgroups {
					if spec.Name == "radix_scatter" && variant["serial"] == 1 {
					} else if spec.Name == "partition_walk" || spec.Name == "merge_walk" {
						shape["workgroup"] = 1
					} else {
						t.Skip("subgroups")
					}
				}
				config, err := kernel.Defaults(spec, shape)
				require.NoError(t, err)
				if tr.Subgroups && config["subgroup"] != 0 {
					config["subgroup"] = 1
				}
				tile := int(kernel.TileRows(kernel.Named(config)))
				for i, rows := range []int{1, tile, tile + 1, 3*tile + 5, rand.IntN(5 * tile)} {
					seed := rand.Uint64()
					distribution := kerneltest.Distributions[i%len(kerneltest.Distributions)]
					c := kerneltest.NewCase(spec, config, kerneltest.Options{Rows: max(rows, 1), Distribution: distribution, Seed: seed})
					k := cl.compile(t, spec, c.Config, string(source))
					after := c.Args
					middle := (c.FirstGroup + c.EndGroup) / 2
					for _, part := range [][2]uint32{{middle, c.EndGroup}, {c.FirstGroup, middle}} {
						if part[0] < part[1] {
							after = k.run(t, after, c.Params, part[0], part[1])
						}
					}
					require.NoError(t, c.Check(after), "rows %d %s %v", rows, distribution, config)
				}
			})
		}
	}
}
