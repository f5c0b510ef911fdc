package graphics

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
)

// Forced overrides choices of a plan: at least bits bits decide the partition, images have at most side pixels a side,
// units at most unitRows rows a side, and stacks are flattened from flattenFrom images on. 0 keeps a choice.
func Forced(bits int, side, unitRows uint64, flattenFrom uint32) Algorithm {
	return Algorithm{force: force{bits, side, unitRows, flattenFrom}}
}

// BuildFirst is the first pass of a build for keys of keyBytes bytes.
func BuildFirst(keyBytes int) *backend.DrawSpec { return drawsOf[keyBytes].build[0].spec }

// Unlooped is the algorithm without loops in vertex shaders.
func (a Algorithm) Unlooped() Algorithm {
	a.ByImage, a.force.flattenFrom = true, 1<<20
	return a
}

// Images are the images of a plan.
func Images(p *operator.Plan) [4]backend.ImageSpec {
	s := p.Detail.(shape)
	return s.specs(p.Facts.KeyBytes, &p.Want)
}
