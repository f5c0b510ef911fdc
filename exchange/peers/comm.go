package peers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// Comm connects a rank with the others of its group. All ranks call the same methods with the same rounds in the same
// order; a rank that does something else is ErrInvalidInput. When a rank fails, the calls of all others end promptly,
// with its error. Used by one goroutine of a rank at a time.
type Comm interface {
	Rank() int // from 0 to Size-1
	Size() int
	// Gather waits for all ranks and returns what they say, by rank. It must not be changed afterwards.
	Gather(ctx context.Context, round string, mine []byte) ([][]byte, error)
	// Offer waits for all ranks, each of which offers columns of its device that the others may then write to, until
	// the next round that all take part in. Ranks offer equal numbers of columns.
	Offer(ctx context.Context, round string, columns []backend.Range) (Offer, error)
	// Abort ends the calls of all ranks with an error of this one. A rank that fails calls it before it releases memory
	// that others may still write to.
	Abort(err error)
}

// Offer is the memory that all ranks offer for one movement. Safe for concurrent use.
type Offer interface {
	// Put copies src, of the device of this rank, to a column of another rank, offsetBytes from its begin on, and
	// returns when the copy is complete. Sizes and offsets are multiples of 4 bytes.
	Put(ctx context.Context, to, column int, offsetBytes uint64, src backend.Range) error
}

// Rank is one member of a group: its connection with the others, and the lane of its device.
type Rank struct {
	Comm
	Lane *exec.Lane
	// Weights are the shares of the ranks, alike on all of them: a device with twice the weight is to have twice the
	// rows.
	Weights []uint32
}

// Share returns the range of some rows that the rank has if they are shared out to the row.
func (r *Rank) Share(rows uint64) (from, to uint64) {
	ends := targets(rows, r.Weights)
	return ends[r.Rank()], ends[r.Rank()+1]
}

// Barrier waits until all ranks have come to the same round.
func Barrier(ctx context.Context, c Comm, round string) error {
	_, err := c.Gather(ctx, round, nil)
	return err
}

// gatherUnless is Gather for a step that takes memory: if it failed on one rank for lack of it, all return *TooLarge.
func (r *Rank) gatherUnless(ctx context.Context, round string, mine []byte, failed error) ([][]byte, error) {
	short := shortage(failed)
	switch mine = append([]byte{short}, mine...); {
	case short > 0:
		mine = append(mine[:1], failed.Error()...)
	case failed != nil:
		return nil, failed
	}
	said, err := r.Gather(ctx, round, mine)
	if err != nil {
		return nil, err
	}
	all := make([][]byte, len(said))
	for rank, s := range said {
		if len(s) == 0 {
			return nil, invalid("rank %d says nothing in round %q", rank, round)
		}
		if all[rank] = s[1:]; s[0] > 0 {
			return nil, &TooLarge{Rank: rank, Reason: string(all[rank]), Err: shortages[s[0]]}
		}
	}
	return all, nil
}

// shortages are the errors of a rank that has no room, by the number that it says; 0: it has.
var shortages = []error{nil, backend.ErrDeviceMemory, backend.ErrHostMemory, backend.ErrLimit}

func shortage(err error) byte {
	for number := 1; number < len(shortages); number++ {
		if errors.Is(err, shortages[number]) {
			return byte(number)
		}
	}
	return 0
}

// putNumbers returns numbers as bytes of a round.
func putNumbers(numbers ...uint64) []byte { return bytesOf(8, numbers) }

// bytesOf returns numbers of width bytes, 4 or 8, as they are in a column.
func bytesOf(width int, numbers []uint64) []byte {
	content := make([]byte, 0, width*len(numbers))
	for _, n := range numbers {
		if width == 4 {
			content = binary.LittleEndian.AppendUint32(content, uint32(n))
		} else {
			content = binary.LittleEndian.AppendUint64(content, n)
		}
	}
	return content
}

// numbersOf is the inverse of bytesOf.
func numbersOf(width int, content []byte) []uint64 {
	numbers := make([]uint64, len(content)/width)
	for i := range numbers {
		if width == 4 {
			numbers[i] = uint64(binary.LittleEndian.Uint32(content[4*i:]))
		} else {
			numbers[i] = binary.LittleEndian.Uint64(content[8*i:])
		}
	}
	return numbers
}

// allNumbers are the numbers of all ranks, of which each must say as many.
func allNumbers(said [][]byte, count int) ([][]uint64, error) {
	all := make([][]uint64, len(said))
	for rank, s := range said {
		if all[rank] = numbersOf(8, s); len(s) != 8*count {
			return nil, invalid("rank %d says %d bytes instead of %d numbers", rank, len(s), count)
		}
	}
	return all, nil
}

func invalid(format string, a ...any) error {
	return &backend.OpError{Op: "exchange", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(format, a...)}
}
