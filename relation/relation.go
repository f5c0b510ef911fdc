// Package relation has what all code knows about relations: Arrow columns on the host, and chunks of rows on a device.
//
// [Chunk] is a set of rows on a device, with key codes and payload columns. [PlanWords] lays payload columns out as
// words of 4 and 8 bytes, and [Transfers] and [SharedWord.Stage] bring them there. [PinnedAllocator] allocates host
// memory that a device reads in place. [TraitOf] tells what the values of a type mean, [CommonType] is the type of a
// key column of both sides, [IsNull] finds NULL wherever a type keeps it, and [Nulls] makes the rows that an outer join
// lacks. [Blocks] samples rows. [CheckBuffers], [SpansOf] and others check arrays that come from outside, [Locator]
// finds rows in chunks, and [ForBlocks] runs over rows on all cores.
//
// relation/keys makes codes of key columns, relation/take gathers rows by number.
//
// The package expects a little-endian machine, as Arrow's buffers and the devices do.
package relation

// Side names one of the two inputs of a join.
type Side uint8

const (
	Left Side = iota
	Right
)

func (s Side) String() string {
	if s == Left {
		return "left"
	}
	return "right"
}
