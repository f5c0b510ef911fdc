package planner

import "github.com/spirjoin/spirjoin/operator"

// Transfer is what a join of tables adds to that of chunks: keys and payload are encoded and go to the device, rows of
// output come back, and what is no payload of chunks is fetched by row number, batch by batch. Sides are those of the
// operator.
type Transfer struct {
	// RowNumbers says that the last payload column of a side is row numbers, which are made on the device.
	RowNumbers [2]bool
	Numbered   [2][]int // bytes of the columns that the device fetches by row number, from where they are
	Host       [2]int   // how many columns the host fetches by row number
	Compared   int      // how many key columns of each side it compares, pair by pair
}

// Predict adds the stages of a transfer to a plan, and the times of all stages where there are rates.
func (t *Transfer) Predict(p *operator.Plan, rates *Rates) {
	const hostBytes = 8 // of a value that the host fetches, more or less
	f, cache, pairs := &p.Facts, 0.0, 0.0
	if rates != nil {
		cache = rates.HostCacheBytes
	}
	if p.Want.Pairs && !p.Want.Count {
		pairs = float64(f.OutputRows)
	}
	p.Add(operator.Load, operator.Launch, 2)
	keys := pairs
	for side := range f.Rows {
		rows, alone := float64(f.Rows[side]), p.Alone(side)
		if p.Want.Count {
			alone = 0
		}
		keys += alone
		uploaded, downloaded := sum(t.Numbered[side]), sum(t.Numbered[side])+sum(f.Payload[side])
		uploaded += sum(f.Payload[side])
		if t.RowNumbers[side] {
			uploaded -= 4
		}
		p.Add(operator.Load, operator.EncodeRow, rows)
		p.Add(operator.Load, operator.UploadByte, rows*float64(uploaded))
		fetch := func(stage string, near operator.Unit, bytes int, cacheBytes float64) {
			far := min(p.Met[side], pairs) * max(0, 1-cacheBytes/max(1, rows*float64(bytes)))
			p.Add(stage, near, pairs+alone-far)
			p.Add(stage, near+1, far)
		}
		for _, bytes := range t.Numbered[side] {
			p.Add(operator.Gather, operator.Launch, 1)
			p.Add(operator.Gather, operator.Stream, (pairs+alone)*float64(4+2*bytes))
			fetch(operator.Gather, operator.GatherNear, bytes, f.CacheBytes)
		}
		p.Add(operator.Deliver, operator.DownloadByte, (pairs+alone)*float64(downloaded))
		for range t.Host[side] + t.Compared {
			fetch(operator.Deliver, operator.TakeNear, hostBytes, cache)
		}
	}
	if p.Want.Keys {
		p.Add(operator.Deliver, operator.DownloadByte, keys*float64(f.KeyBytes))
	}
	p.SortStages()
	rates.Predict(p)
}

func sum(bytes []int) (total int) {
	for _, b := range bytes {
		total += b
	}
	return total
}
