package ranks

import "slices"

// Ranks whose devices join at different speeds own shares of the hashes in proportion, so that all end together. The
// hashes are cut into equal slots, slotsPerRank of them for each rank, and a rank gets a run of slots.
//
//	speeds 30 10 10, 15 slots     0 0 0 0 0 0 0 0 0 1 1 1 2 2 2

const (
	slotsPerRank = 64
	// unequal is the ratio of the fastest to the slowest rank from which shares differ. Predictions are no better.
	unequal = 1.5
	// movedRowsPerSecond is how many rows of 16 bytes a rank divides, sends and receives a second, whatever its device:
	// see docs/ranks.md, "The wire".
	movedRowsPerSecond = 1.3e8
)

// weigh returns the owner of each slot of the hashes; nil for equal shares: if speeds are about the same, or one is
// unknown.
func weigh(speeds []float64) (owners []uint16) {
	weights, all := make([]float64, len(speeds)), 0.0
	for rank, speed := range speeds {
		if speed <= 0 {
			return nil
		}
		weights[rank] = 1 / (1/speed + 1/movedRowsPerSecond)
		all += weights[rank]
	}
	if slices.Max(weights) < unequal*slices.Min(weights) {
		return nil
	}
	slots, before := float64(slotsPerRank*len(speeds)), 0.0
	for rank, weight := range weights {
		before += weight
		for end := int(before/all*slots + 0.5); len(owners) < end; {
			owners = append(owners, uint16(rank))
		}
	}
	return owners
}
