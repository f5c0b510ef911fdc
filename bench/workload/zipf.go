package workload

import (
	"fmt"
	"math"
)

// Zipf draws ranks from [0, n) with P(rank = k) proportional to 1/(k+1)^theta,
// exactly (to the precision of float64), in constant time for every n and theta.
//
// It samples by rejection-inversion (W. Hörmann and G. Derflinger, Rejection-
// inversion to generate variates from monotone discrete distributions, ACM
// TOMACS 6(3), 1996): the bars of the histogram of h(x) = x^-theta are covered
// by the area under h shifted by one half; a point under the curve is found by
// inverting the integral H, and rejected where it lies above the bar of the
// nearest integer, which happens rarely. At theta 0 ranks are uniform.
type Zipf struct {
	n     int64
	theta float64

	areaStart, areaEnd float64 // H at the left end of the first bar and the right end of the last
	sure               float64 // a point so little left of its bar's middle is under the bar
}

// MaxZipfTheta is the largest skew offered: beyond it nearly all rows have one key.
const MaxZipfTheta = 2

// NewZipf prepares the distribution over n ranks, n > 0, theta in [0, MaxZipfTheta].
func NewZipf(n int64, theta float64) (*Zipf, error) {
	if n <= 0 || !(theta >= 0 && theta <= MaxZipfTheta) {
		return nil, fmt.Errorf("zipf: n is %d and theta %v, must be n > 0 and theta in [0, %d]", n, theta, MaxZipfTheta)
	}
	z := &Zipf{n: n, theta: theta}
	z.areaStart = z.integral(1.5) - 1 // the first bar has area h(1) = 1
	z.areaEnd = z.integral(float64(n) + 0.5)
	z.sure = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z, nil
}

// draw is one rank.
func (z *Zipf) draw(random *stream) int64 {
	if z.theta == 0 {
		return int64(random.below(uint64(z.n)))
	}
	for {
		area := z.areaEnd + random.float64()*(z.areaStart-z.areaEnd)
		x := z.inverse(area)
		k := min(max(math.Round(x), 1), float64(z.n))
		if k-x <= z.sure || area >= z.integral(k+0.5)-z.density(k) {
			return min(int64(k), z.n) - 1
		}
	}
}

func (z *Zipf) density(x float64) float64 { return math.Exp(-z.theta * math.Log(x)) }

// integral is an antiderivative of the density: (x^(1-theta) - 1) / (1-theta),
// which is log x at theta 1.
func (z *Zipf) integral(x float64) float64 {
	log := math.Log(x)
	return log * expm1Over((1-z.theta)*log)
}

func (z *Zipf) inverse(area float64) float64 {
	t := max(area*(1-z.theta), -1)
	return math.Exp(log1pOver(t) * area)
}

// expm1Over is (e^x - 1) / x, and log1pOver log(1+x) / x, also near 0.
func expm1Over(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Expm1(x) / x
	}
	return 1 + x/2
}

func log1pOver(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Log1p(x) / x
	}
	return 1 - x/2
}
