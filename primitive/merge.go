package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// KeyedColumns are rows on the device: keys and the payload that moves with them, absent if there is none.
type KeyedColumns struct{ Keys, Payload backend.Range }

// MergePlan is a stable merge of two sorted columns by merge path (RT 3.3.1): the output is cut into tiles; a binary
// search along the diagonal of each tile's first row finds how many rows of each side come before it, and then every
// tile is merged independently, whatever the keys. Each row is read and written once.
//
// Example with tiles of 3: left 1 2 7 and right 2 3 5 split after 2 rows of the left and 1 of the right into 1 2 2' and
// 3' 5' 7.
type MergePlan struct {
	LeftRows, RightRows uint64
	KeyBytes            int
	PayloadBits         int
	ScratchBytes        uint64 // of the splits

	config kernel.MergeTilesConfig
}

// PlanMerge plans the merge of leftRows and rightRows rows with keys of keyBytes (4 or 8) and a payload of payloadBits
// (0, 32 or 64).
func PlanMerge(t Tuning, leftRows, rightRows uint64, keyBytes, payloadBits int) (MergePlan, error) {
	p := MergePlan{LeftRows: leftRows, RightRows: rightRows, KeyBytes: keyBytes, PayloadBits: payloadBits,
		config: mergeConfig(t, keyBytes*8, payloadBits)}
	if err := checkKeyed("merge", keyBytes, payloadBits); err != nil {
		return p, err
	}
	for _, rows := range []uint64{leftRows, rightRows, leftRows + rightRows} {
		if err := CheckRows("merge", rows); err != nil {
			return p, err
		}
	}
	p.ScratchBytes = uint64(kernel.Tiles(p.config, leftRows+rightRows)) * 4
	return p, nil
}

// Merge records a plan: out receives LeftRows + RightRows rows, left rows before equal right ones. It must not overlap
// either side.
func (o *Ops) Merge(list *backend.List, p MergePlan, left, right, out KeyedColumns, scratch backend.Range) error {
	return o.mergeRuns(list, p.config, p.LeftRows, p.RightRows, 0, left, right, out, scratch)
}

// mergeConfig is the tuned configuration for merges of such rows.
func mergeConfig(t Tuning, keyBits, payloadBits int) kernel.MergeTilesConfig {
	widths := backend.Config{"key_bits": uint32(keyBits), "payload_bits": uint32(payloadBits)}
	config := kernel.MergeTiles.With(t.Config("merge", widths))
	config.KeyBits, config.PayloadBits = uint32(keyBits), uint32(payloadBits)
	return config
}

// mergeRuns records a merge of both sides or, if run is not 0, the merges of all pairs of runs of the left columns.
func (o *Ops) mergeRuns(list *backend.List, config kernel.MergeTilesConfig, leftRows, rightRows, run uint64,
	left, right, out KeyedColumns, scratch backend.Range) error {
	partitionConfig := kernel.MergePartition.With(nil)
	partitionConfig.KeyBits, partitionConfig.Workgroup = config.KeyBits, config.Workgroup
	partition, err := kernel.MergePartition.On(o.device, partitionConfig)
	if err != nil {
		return err
	}
	tiles, err := kernel.MergeTiles.On(o.device, config)
	if err != nil {
		return err
	}
	rows, tileRows := leftRows+rightRows, kernel.TileRows(config)
	if run > 0 {
		rows = leftRows
	}
	tileCount := kernel.Tiles(config, rows)
	splits := scratch.Part(0, uint64(tileCount)*4)
	if config.Serial == 1 && run > 0 && 2*run <= uint64(tileRows) { // a tile has whole merges
		splits = backend.Range{}
	} else {
		partition.Dispatch(list, kernel.Groups(partitionConfig, uint64(tileCount)), kernel.MergePartitionArgs{
			LeftKeys: left.Keys, RightKeys: right.Keys, Splits: splits,
			LeftRows: uint32(leftRows), RightRows: uint32(rightRows), Run: uint32(run), Tiles: tileCount,
			TileRows: tileRows,
		})
	}
	tiles.Dispatch(list, kernel.Groups(config, rows), kernel.MergeTilesArgs{
		LeftKeys: left.Keys, RightKeys: right.Keys, LeftPayload: left.Payload, RightPayload: right.Payload,
		Splits:  splits,
		KeysOut: out.Keys, PayloadOut: out.Payload,
		LeftRows: uint32(leftRows), RightRows: uint32(rightRows), Run: uint32(run), Tiles: tileCount,
	})
	return nil
}

// checkKeyed refuses widths that no kernel has.
func checkKeyed(op string, keyBytes, payloadBits int) error {
	if keyBytes != 4 && keyBytes != 8 || payloadBits != 0 && payloadBits != 32 && payloadBits != 64 {
		return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("keys of %d bytes with a payload of %d bits", keyBytes, payloadBits)}
	}
	return nil
}
