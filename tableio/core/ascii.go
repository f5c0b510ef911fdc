package core

import "encoding/binary"

// IsASCII tells whether a text has no byte outside ASCII. It looks at four words at once.
func IsASCII(text []byte) bool {
	all := uint64(0)
	for ; len(text) >= 32; text = text[32:] {
		all |= binary.LittleEndian.Uint64(text) | binary.LittleEndian.Uint64(text[8:]) |
			binary.LittleEndian.Uint64(text[16:]) | binary.LittleEndian.Uint64(text[24:])
	}
	for _, c := range text {
		all |= uint64(c)
	}
	return all&0x8080808080808080 == 0
}
