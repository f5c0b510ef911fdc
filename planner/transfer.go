package planner

import "github.com/spirjoin/spirjoin/operator"

// Transfer is the work that a join of tables adds to a join of chunks: keys and payload are encoded and uploaded,
// output rows are downloaded, and columns that are not payload of chunks are fetched by row number. Sides are those of
// the operator.
type Transfer struct {
	// RowNumbers says that the last payload column of a side is row numbers, which are generated on the device.
	RowNumbers [2]bool
	ArrowBits  [2]int // bits per row of the payload columns, in Arrow's buffers ([relation.Words])
	InPlace    [2]int // the part of ArrowBits that the device reads where the table has it
	Repacked   [2]int // bits per row that kernels read and write to pack them into words, or unpack them
	Keys       [2]Encoding
	Host       [2]int // number of columns that the host fetches by row number
	Compared   int    // number of key columns of each side that the host compares, pair by pair
	// TextBytes are the bytes of the keys of each side that the device hashes and compares instead; 0 if the host does.
	TextBytes [2]uint64
}

// Encoding says where the codes of keys are made and, if on the device, what that takes per row.
type Encoding struct {
	OnDevice     bool
	UploadedBits int // of values that are not payload
	MovedBits    int // that kernels read and write
}

// Predict adds the stages of a transfer to a plan, and the predicted times of all stages if rates is not nil.
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
		uploaded, repacked := float64(t.ArrowBits[side])/8, float64(t.Repacked[side])/8
		downloaded := uploaded
		if t.RowNumbers[side] {
			downloaded += 4
		}
		uploaded -= float64(t.InPlace[side]) / 8
		if texts := float64(t.TextBytes[side]); texts > 0 {
			p.Add(operator.Load, operator.UploadByte, texts)
			p.Add(operator.Load, operator.Stream, texts)
			far := min(p.Met[side], pairs) * max(0, 1-f.CacheBytes/texts)
			p.Add(operator.Gather, operator.GatherFar, 2*far) // where a text starts, and the text
			p.Add(operator.Gather, operator.GatherNear, 2*(pairs-far))
			p.Add(operator.Deliver, operator.DownloadByte, pairs/16)
		} else if keys := &t.Keys[side]; keys.OnDevice {
			uploaded += float64(keys.UploadedBits) / 8
			p.Add(operator.Load, operator.Stream, rows*float64(keys.MovedBits)/8)
		} else {
			p.Add(operator.Load, operator.EncodeRow, rows)
		}
		if t.Compared > 0 {
			p.Add(operator.Deliver, operator.DownloadByte, 4*pairs)
		}
		p.Add(operator.Load, operator.UploadByte, rows*uploaded)
		if repacked > 0 {
			p.Add(operator.Load, operator.RepackByte, rows*repacked)
			p.Add(operator.Gather, operator.Launch, 1)
			p.Add(operator.Gather, operator.RepackByte, (pairs+alone)*repacked)
		}
		p.Add(operator.Deliver, operator.DownloadByte, (pairs+alone)*downloaded)
		for range t.Host[side] + t.Compared {
			far := min(p.Met[side], pairs) * max(0, 1-cache/max(1, rows*hostBytes))
			p.Add(operator.Deliver, operator.TakeNear, pairs+alone-far)
			p.Add(operator.Deliver, operator.TakeFar, far)
		}
	}
	if p.Want.Keys {
		p.Add(operator.Deliver, operator.DownloadByte, keys*float64(f.KeyBytes))
	}
	p.SortStages()
	rates.Predict(p)
}
