package kernel

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Texts are hashed alike on host and device: a text is cut into blocks of 16 bytes, the last one with zeros behind its
// end, and each is folded into a state by one multiplication to 128 bits; its size in bytes comes last.
//
//	state = textSeed
//	for each block: state = Fold(low 8 bytes ^ textLow, high 8 bytes ^ state)
//	hash  = Fold(state, size ^ textSize)
//
// Bytes are little endian. There is no secret: texts that were made to collide do.
const (
	textBlock = 16 // bytes

	textSeed = 0x243f6a8885a308d3 // digits of pi
	textLow  = 0x13198a2e03707344
	textSize = 0xa4093822299f31d0
)

// Fold mixes two words into one: the halves of their product of 128 bits.
func Fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// FoldColumn folds the code or the hash of a column into the hash of the columns before it, 0 for the first.
func FoldColumn(hash, code uint64) uint64 {
	return Fold(hash^0x9e3779b97f4a7c15, code^0xd1342543de82ef95)
}

// HashText is the hash of a text. Calls of what it shares with hashPiece would take a third of the time for 16
// bytes.
func HashText(text string) uint64 {
	bytes, state, at := unsafe.Slice(unsafe.StringData(text), len(text)), uint64(textSeed), 0
	for ; at <= len(bytes)-textBlock; at += textBlock {
		block := bytes[at:][:textBlock:textBlock]
		state = Fold(binary.LittleEndian.Uint64(block)^textLow, binary.LittleEndian.Uint64(block[8:])^state)
	}
	if at < len(bytes) {
		low, high := shortBlock(bytes[at:])
		state = Fold(low^textLow, high^state)
	}
	return hashEnd(state, uint64(len(text)))
}

// hashPiece folds a piece of a text, which begins with a block, into a state.
func hashPiece(state uint64, piece []byte) uint64 {
	for ; len(piece) >= textBlock; piece = piece[textBlock:] {
		state = Fold(binary.LittleEndian.Uint64(piece)^textLow, binary.LittleEndian.Uint64(piece[8:])^state)
	}
	if len(piece) > 0 {
		low, high := shortBlock(piece)
		state = Fold(low^textLow, high^state)
	}
	return state
}

func hashEnd(state, sizeBytes uint64) uint64 { return Fold(state, sizeBytes^textSize) }

// shortBlock is a block of 1 to 15 bytes with zeros behind them. It reads words that overlap rather than byte by byte;
// a shift by all bits of a word leaves 0.
func shortBlock(bytes []byte) (low, high uint64) {
	switch n := len(bytes); {
	case n >= 8:
		return binary.LittleEndian.Uint64(bytes), binary.LittleEndian.Uint64(bytes[n-8:]) >> (8 * (16 - n))
	case n >= 4:
		rest := binary.LittleEndian.Uint32(bytes[n-4:]) >> (8 * (8 - n))
		return uint64(rest)<<32 | uint64(binary.LittleEndian.Uint32(bytes)), 0
	default:
		return uint64(bytes[n-1])<<(8*(n-1)) | uint64(bytes[n/2])<<(8*(n/2)) | uint64(bytes[0]), 0
	}
}
