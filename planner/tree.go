package planner

import "github.com/spirjoin/spirjoin/operator"

// Below lowMatch of the probe rows with a match few rows are materialized, and moving all payload before does not pay
// (GFTR 5.2.3, figure 13).
const lowMatch = 0.25

// hotKey is the share of one key in the rows of a side from which on it counts as skewed (GFTR 5.2.4: Zipf factors of 1
// and more).
const hotKey = 0.01

// Tree is the decision tree of GFTR, figure 18, as described in section 5.4: it returns the names of all algorithms,
// best first. It uses no rates and serves devices for which none were measured. The unpartitioned hash table is not in
// the figure; in figure 10 it is last.
//
//	narrow (at most one payload column a side) or few matches?
//	├─ yes ─ skewed? ─ yes ─ phj-om    partitioning by counts is robust, that by chains of buckets is not
//	│               └─ no ── phj-um    few matches: few rows to gather
//	│                        phj-om    narrow: nothing to gather, the two are alike
//	└─ no ── phj-om, whatever the skew and the types; then
//	         skewed, or values of 8 bytes? ─ yes ─ smj-um    sorting wide payload costs more than gathering it
//	                                       └─ no ── smj-om
func Tree(f *operator.Facts) []string {
	narrow := len(f.Payload[0]) <= 1 && len(f.Payload[1]) <= 1
	fewMatches := f.MatchRatio < lowMatch
	skewed := max(f.Hottest[0], f.Hottest[1]) > hotKey
	wide := f.KeyBytes == 8
	for _, side := range f.Payload {
		for _, bytes := range side {
			wide = wide || bytes == 8
		}
	}
	sorts := [2]string{"smj-om", "smj-um"}
	if !narrow && (fewMatches || skewed || wide) { // figure 18b
		sorts = [2]string{"smj-um", "smj-om"}
	}
	switch {
	case fewMatches && !skewed:
		return []string{"phj-um", "phj-om", sorts[0], sorts[1], "hj"}
	case narrow || fewMatches:
		return []string{"phj-om", "phj-um", sorts[0], sorts[1], "hj"}
	case skewed || wide:
		return []string{"phj-om", sorts[0], "phj-um", sorts[1], "hj"}
	}
	return []string{"phj-om", sorts[0], sorts[1], "phj-um", "hj"}
}
