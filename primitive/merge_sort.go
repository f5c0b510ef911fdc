package primitive

import (
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// MergeSortPlan is a stable merge sort of 32- or 64-bit keys with a payload (RT 3.3.1): every tile is sorted in shared memory,
// then runs are merged in pairs, all pairs of a pass at once, until one is left. A pass reads and writes each row once; there
// are log2(rows/tile) of them, so that a radix sort, whose passes depend on the bits of the keys instead, is faster where keys
// are short. Order costs nothing: keys that are sorted already, equal or skewed take the same time as any.
type MergeSortPlan struct {
	Rows         uint64
	KeyBytes     int
	PayloadBits  int
	Payload      Payload
	ScratchBytes uint64 // of the splits

	block, merge backend.Config
	runs         []uint64 // rows of a run before each pass of merges
}

// PlanMergeSort plans the sort of rows keys of keyBytes (4 or 8) with a payload of payloadBits: 0 with NoPayload, 32 with
// RowNumbers, 32 or 64 with Given.
// Blocks have the tiles of tuning merge_sort, merges those of tuning merge; where such tiles do not fit runs of whole blocks,
// merges take the tiles of blocks too.
func PlanMergeSort(t Tuning, rows uint64, keyBytes, payloadBits int, payload Payload) (MergeSortPlan, error) {
	v := variant("key_bits", keyBytes*8, "payload_bits", payloadBits)
	p := MergeSortPlan{Rows: rows, KeyBytes: keyBytes, PayloadBits: payloadBits, Payload: payload,
		block: t.Config("merge_sort", v), merge: t.Config("merge", v)}
	if (payload == NoPayload) != (payloadBits == 0) || payload == RowNumbers && payloadBits != 32 {
		payloadBits = -1
	}
	if err := checkKeyed("merge sort", keyBytes, payloadBits); err != nil {
		return p, err
	}
	if err := checkRows("merge sort", rows); err != nil {
		return p, err
	}
	blockRows := kernel.TileRows(p.block)
	if !fits(p.merge, blockRows) {
		p.merge = p.block
	}
	for run := uint64(blockRows); run < rows; run *= 2 {
		p.runs = append(p.runs, run)
	}
	if len(p.runs) > 0 {
		p.ScratchBytes = uint64(kernel.Tiles(p.merge, rows)) * 4
	}
	return p, nil
}

// fits says whether every tile of a merge of runs of blockRows, of twice as many, and so on, belongs to one merge, or, in the
// serial shape, to several whole ones.
func fits(merge backend.Config, blockRows uint32) bool {
	tileRows := kernel.TileRows(merge)
	if merge["serial"] == 1 && tileRows%blockRows == 0 {
		return bits.OnesCount32(tileRows/blockRows) == 1
	}
	return 2*uint64(blockRows)%uint64(tileRows) == 0
}

// Result is the index of the buffer pair in which the sorted rows end up.
func (p *MergeSortPlan) Result() int { return p.Passes() % 2 }

// Passes is the number of passes over the rows.
func (p *MergeSortPlan) Passes() int {
	if p.Rows < 2 {
		return 0
	}
	return 1 + len(p.runs)
}

// MergeSort records a plan, with the buffers of [Ops.Sort]: keys[0] holds the keys, and payload[0] the payload when it is Given;
// the passes alternate between the two buffers of each pair, and the sorted rows are in those of index Result. Where no pass is
// needed keys[1] and payload[1] may be absent.
func (o *Ops) MergeSort(list *backend.List, p MergeSortPlan, keys, payload [2]backend.Range, scratch backend.Range) error {
	if p.Passes() == 0 {
		if p.Payload == RowNumbers {
			return o.Iota(list, payload[0], p.Rows, 0)
		}
		return nil
	}
	if p.Payload == NoPayload {
		payload = [2]backend.Range{}
	}
	block, err := o.device.Kernel(kernel.BlockSort, with(p.block, "key_bits", p.KeyBytes*8, "payload_bits", p.PayloadBits))
	if err != nil {
		return err
	}
	payloadIn := payload[0]
	if p.Payload == RowNumbers {
		payloadIn = backend.Range{}
	}
	list.Dispatch(block, kernel.Groups(block.Config, p.Rows), []backend.Range{keys[0], payloadIn, keys[1], payload[1]},
		uint32(p.Rows), kernel.Tiles(block.Config, p.Rows))
	for i, run := range p.runs {
		from, to := KeyedColumns{keys[1-i%2], payload[1-i%2]}, KeyedColumns{keys[i%2], payload[i%2]}
		if err := o.mergeRuns(list, p.merge, p.KeyBytes, p.PayloadBits, p.Rows, 0, run, from, from, to, scratch); err != nil {
			return err
		}
	}
	return nil
}
