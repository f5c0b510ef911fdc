package keys

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// codeTable finds the group of a packed code: a hash table with linear probing, at most half of whose slots are taken.
type codeTable[K uint32 | uint64] struct {
	shift uint
	slots []uint32 // 1 + a group; 0 if free
	codes []K      // of the groups
}

// CodeTableBytes is the host memory that [Plan.RowGroups] and [Plan.VerifyGroups] take for a number of groups, beside
// their arguments.
func CodeTableBytes(groups int) uint64 { return 4 << slotBits(groups) }

func slotBits(groups int) int { return bits.Len(uint(max(groups, 1)*2 - 1)) }

// RowGroups writes the group of each row of the left side to groupOf, which has as many elements as the side has rows:
// the index of the row's code in codes, the packed codes of all groups, of KeyBytes each. It runs on all cores. Errors
// wrap backend.ErrCancelled or backend.ErrTimedOut.
func (p *Plan) RowGroups(ctx context.Context, codes []byte, groupOf []uint32) error {
	if p.KeyBytes() == 4 {
		return rowGroups(ctx, p, backend.Words(codes), groupOf, func(s *scratch) []uint32 { return s.packed32[:] })
	}
	return rowGroups(ctx, p, backend.Longs(codes), groupOf, func(s *scratch) []uint64 { return s.packed[:] })
}

func rowGroups[K uint32 | uint64](ctx context.Context, p *Plan, codes []K, groupOf []uint32,
	packed func(*scratch) []K) error {
	t, err := newCodeTable(ctx, codes)
	if err != nil {
		return err
	}
	return forBlocks(ctx, len(groupOf), func(s *scratch, from, to int) error {
		for ; from < to; from += StripRows {
			next := min(from+StripRows, to)
			strip := packed(s)[:next-from]
			encode(p, s, &p.sides[relation.Left], from, next, strip, nil, nil)
			for i, code := range strip {
				groupOf[from+i] = t.group(code)
			}
		}
		return nil
	})
}

func newCodeTable[K uint32 | uint64](ctx context.Context, codes []K) (*codeTable[K], error) {
	slots := slotBits(len(codes))
	t := &codeTable[K]{shift: uint(64 - slots), slots: make([]uint32, 1<<slots), codes: codes}
	for group, code := range codes {
		if group%relation.BlockRows == 0 && ctx.Err() != nil {
			return nil, backend.ContextError(ctx)
		}
		at := t.home(code)
		for t.slots[at] > 0 {
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = uint32(group) + 1
	}
	return t, nil
}

// home is the slot at which the search for a code begins.
func (t *codeTable[K]) home(code K) int {
	high, low := bits.Mul64(uint64(code)^spellMixHigh, spellMixLow)
	return int((high ^ low) >> (t.shift & 63))
}

// group returns the group of a code that is one of theirs.
func (t *codeTable[K]) group(code K) uint32 {
	at := t.home(code)
	for t.codes[t.slots[at]-1] != code {
		at = (at + 1) & (len(t.slots) - 1)
	}
	return t.slots[at] - 1
}
