package distributed

import (
	"math"

	"github.com/spirjoin/spirjoin/kernel"
)

// Skew is a join of unique keys with foreign keys that follow Zipf's law: the key of rank k has a share proportional to
// 1/k^Exponent of them.
type Skew struct {
	Ranks    int
	Keys     int // of each rank
	Rows     int // with foreign keys, of each rank
	Exponent float64
	// HotShare is the inverse of the share of the rows of a rank that a hot key has at least, as in package ranks.
	HotShare int
}

// Balance is how rows spread.
type Balance struct {
	// Rows of the fullest rank over the mean: if all rows go to the owners of their keys, and if rows of hot keys stay
	// on the ranks that have them, with a copy of their partners.
	Plain, Kept float64
	HotKeys     int
	StayShare   float64 // share of the foreign keys that are hot
	SentShare   float64 // rows that leave their rank over all rows if hot keys stay
}

// Balance computes the balance with the expected number of rows of each key; nothing is drawn. Rows of a key are spread
// over all ranks alike before the join, so every rank is a holder of each hot key that has at least as many rows as
// there are ranks.
func (s Skew) Balance() (b Balance) {
	keys, rows := s.Keys*s.Ranks, float64(s.Rows)*float64(s.Ranks)
	sum := 0.0
	for k := range keys {
		sum += s.weight(k)
	}
	plain, kept := make([]float64, s.Ranks), make([]float64, s.Ranks)
	mean := float64(s.Keys + s.Rows)
	stay, copies, moved := 0.0, 0.0, 0.0
	for k := range keys {
		of := s.weight(k) / sum * rows
		owner := kernel.Mix(uint64(k), 3) % uint64(s.Ranks)
		plain[owner] += of + 1
		if of < mean/float64(s.HotShare) || of < float64(s.Ranks) {
			kept[owner] += of + 1
			moved += of + 1
			continue
		}
		b.HotKeys++
		stay += of
		copies++ // one on each rank
	}
	n := float64(s.Ranks)
	for rank := range plain {
		b.Plain = max(b.Plain, plain[rank]/mean)
		b.Kept = max(b.Kept, (kept[rank]+stay/n+copies)/mean)
	}
	b.StayShare = stay / rows
	b.SentShare = (moved*(n-1)/n + copies*(n-1)) / (mean * n)
	return b
}

func (s Skew) weight(k int) float64 {
	if s.Exponent == 1 {
		return 1 / float64(k+1)
	}
	return math.Pow(float64(k+1), -s.Exponent)
}
