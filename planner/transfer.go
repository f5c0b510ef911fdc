package planner

import "github.com/spirjoin/spirjoin/operator"

// Transfer is the work that a join of tables adds to a join of chunks: keys and payload are encoded and uploaded,
// output rows are downloaded, and columns that are not payload of chunks are fetched by row number. Its sides are sides
// of the operator.
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
	// Stays says that output rows stay on the device.
	Stays bool
	// Scattered says that loaded rows are divided by hashes of their keys, so that equal keys meet on one of several
	// devices. There the pieces of the build side are then copied to one place.
	Scattered bool
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
	if t.Scattered {
		t.divide(p)
	}
	keys := pairs
	for side := range f.Rows {
		rows, alone := float64(f.Rows[side]), p.Alone(side)
		if p.Want.Count {
			alone = 0
		}
		keys += alone
		repacked, downloaded := float64(t.Repacked[side])/8, float64(t.ArrowBits[side])/8
		if t.RowNumbers[side] {
			downloaded += 4
		}
		unpacked := repacked
		if t.Stays {
			downloaded, unpacked = 0, 0
		}
		load := t.Load(&p.Facts, side)
		p.AddWork(operator.Load, &load)
		if texts := float64(t.TextBytes[side]); texts > 0 {
			far := min(p.Met[side], pairs) * max(0, 1-f.CacheBytes/texts)
			p.Add(operator.Gather, operator.GatherFar, 2*far) // where a text starts, and the text
			p.Add(operator.Gather, operator.GatherNear, 2*(pairs-far))
			p.Add(operator.Deliver, operator.DownloadByte, pairs/16)
		}
		if t.Compared > 0 {
			p.Add(operator.Deliver, operator.DownloadByte, 4*pairs)
		}
		if unpacked > 0 {
			p.Add(operator.Gather, operator.Launch, 1)
			p.Add(operator.Gather, operator.RepackByte, (pairs+alone)*unpacked)
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

// Load is the work to load the rows of a side.
func (t *Transfer) Load(f *operator.Facts, side int) (w operator.Work) {
	rows, uploaded := float64(f.Rows[side]), float64(t.ArrowBits[side]-t.InPlace[side])/8
	if texts := float64(t.TextBytes[side]); texts > 0 {
		w[operator.UploadByte], w[operator.Stream] = texts, texts
	} else if keys := &t.Keys[side]; keys.OnDevice {
		uploaded += float64(keys.UploadedBits) / 8
		w[operator.Stream] = rows * float64(keys.MovedBits) / 8
	} else {
		w[operator.EncodeRow] = rows
	}
	w[operator.UploadByte] += rows * uploaded
	w[operator.RepackByte] = rows * float64(t.Repacked[side]) / 8
	return w
}

// divide adds the work to divide the rows of both sides: one pass over the mixed keys, which are then unmixed. It also
// adds the copy of build rows, which come in pieces, to one place.
func (t *Transfer) divide(p *operator.Plan) {
	f := &p.Facts
	for side := range f.Rows {
		rows, width := float64(f.Rows[side]), float64(f.RowBytes(side))
		p.Add(operator.Transform, operator.Launch, 4)
		p.Add(operator.Transform, operator.PartitionRow, rows)
		p.Add(operator.Transform, operator.PassByte, 2*rows*width)
		p.Add(operator.Transform, operator.PassColumn, rows*float64(max(0, len(f.Payload[side])-1)))
		p.Add(operator.Transform, operator.Stream, 5*rows*float64(f.KeyBytes)) // counts, and keys mixed and back
	}
	p.Add(operator.Transform, operator.Stream, 2*float64(f.Rows[operator.Build]*f.RowBytes(operator.Build)))
}
