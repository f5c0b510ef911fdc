package planner

import (
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/operator"
)

// Sorted is a sort-merge join of several devices, in place: the host encodes the keys of both sides, each device loads
// an equal part of both, they sort these by common splitters and search their ranges, and the host expands what comes
// back to pairs and fetches columns by row number (docs/hmg.md).
type Sorted struct {
	Passes   int    // of the sort of the rows on a device
	Pairs    bool   // pairs are wanted, so that row numbers are sorted too; otherwise only their number
	Host     [2]int // number of columns that the host fetches, by side
	Compared int    // number of key columns of each side that the host compares, pair by pair
}

// Time predicts the time of such a join of all rows of f on devices with such rates, where the host works as fast as
// beside the first one. The links between the devices must be known ([Linked]).
func (s *Sorted) Time(f *operator.Facts, rates []*Rates, wires *topology.Topology) time.Duration {
	n := float64(len(rates))
	width, rows := float64(f.KeyBytes), float64(f.Rows[0]+f.Rows[1])
	few := float64(min(f.Rows[0], f.Rows[1]))
	var device operator.Plan
	device.Add(operator.Load, operator.Launch, 2)
	if s.Pairs {
		width += 4
		device.Add(operator.Deliver, operator.DownloadByte, (8*few+4*rows)/n) // begins and counts; row numbers
	}
	passes := float64(s.Passes)
	device.Add(operator.Transform, operator.Launch, 2*(4+2*passes))
	device.Add(operator.Transform, operator.Stream, 2*rows/n*float64(f.KeyBytes)) // to find splitters, and counts
	device.Add(operator.Transform, operator.PartitionRow, rows/n)
	device.Add(operator.Transform, operator.SortRow, passes*rows/n)
	device.Add(operator.Transform, operator.PassByte, (1+passes)*rows/n*2*width)
	device.Add(operator.Match, operator.Launch, 3)
	device.Add(operator.Match, operator.SearchRow, rows/n)
	device.Add(operator.Match, operator.ScanRow, few/n)
	var members []Member
	for i, r := range rates {
		r.Predict(&device)
		members = append(members, MemberOf(i, &device, &Transfer{}, r))
	}
	shares := slices.Repeat([]float64{1 / n}, len(rates))
	moves := Scatter(members, shares, uint64(rows*width), wires)
	return s.host(f, rates[0]) + slices.Max(Together(members, wires)) + moves
}

// host is the time of the work of the host.
func (s *Sorted) host(f *operator.Facts, rates *Rates) time.Duration {
	const hostBytes = 8 // of a value
	var w operator.Work
	w[operator.EncodeRow] = float64(f.Rows[0] + f.Rows[1])
	if s.Pairs {
		pairs := float64(f.OutputRows)
		w[operator.TakeNear] = 2 * pairs // row numbers, range by range
		for side, columns := range s.Host {
			rows := float64(f.Rows[side])
			far := min(rows, pairs) * max(0, 1-rates.HostCacheBytes/max(1, rows*hostBytes))
			w[operator.TakeNear] += float64(columns+s.Compared) * (pairs - far)
			w[operator.TakeFar] += float64(columns+s.Compared) * far
		}
	}
	return rates.Time(&w)
}
