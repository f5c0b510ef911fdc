package columnchunk

import (
	"encoding/binary"
	"unsafe"
)

// minRun is the least number of equal indices that become a run: two groups.
const minRun = 16

// appendHybrid encodes indices below 2^width, width at most 16, as runs of equal ones and bit-packed groups of 8.
func appendHybrid(out []byte, indices []uint16, width int) []byte {
	packed := 0 // where the groups begin that wait to be packed
	for i := 0; i+8 <= len(indices); {
		run := equalIndices(indices[i:])
		if run < minRun && i+run < len(indices) || run < 8 {
			i += 8
			continue
		}
		out = appendPacked(out, indices[packed:i], width)
		out = appendRun(out, run, indices[i], width)
		i += run
		packed = i
	}
	rest := indices[packed:]
	if len(rest) > 0 && len(rest) < 8 && equalIndices(rest) == len(rest) {
		return appendRun(out, len(rest), rest[0], width)
	}
	return appendPacked(out, rest, width)
}

// equalIndices counts the indices that equal the first one, from it on.
func equalIndices(indices []uint16) int {
	first := indices[0]
	four := uint64(first) * 0x0001_0001_0001_0001
	n := 0
	for ; n+8 <= len(indices); n += 8 {
		p := (*[2]uint64)(unsafe.Pointer(&indices[n]))
		if p[0] != four || p[1] != four {
			break
		}
	}
	for n < len(indices) && indices[n] == first {
		n++
	}
	return n
}

func appendRun(out []byte, n int, index uint16, width int) []byte {
	out = binary.AppendUvarint(out, uint64(n)<<1)
	for bit := 0; bit < width; bit += 8 {
		out = append(out, byte(index>>bit))
	}
	return out
}

// appendPacked appends one bit-packed run. Zeros fill its last group.
func appendPacked(out []byte, indices []uint16, width int) []byte {
	if len(indices) == 0 {
		return out
	}
	groups := (len(indices) + 7) / 8
	out = binary.AppendUvarint(out, uint64(groups)<<1|1)
	length := len(out) + groups*width
	out = reserve(out, groups*width+16)
	at := out[len(out):cap(out)]
	for ; len(indices) >= 8; indices = indices[8:] {
		packGroup(at, (*[8]uint16)(indices), uint(width))
		at = at[width:]
	}
	if len(indices) > 0 {
		var last [8]uint16
		copy(last[:], indices)
		packGroup(at, &last, uint(width))
	}
	return out[:length]
}

// packGroup writes width bytes, and up to 16 that the next group overwrites.
func packGroup(to []byte, v *[8]uint16, width uint) {
	width &= 31
	low := uint64(v[0]) | uint64(v[1])<<width | uint64(v[2])<<(2*width) | uint64(v[3])<<(3*width)
	high := uint64(v[4]) | uint64(v[5])<<width | uint64(v[6])<<(2*width) | uint64(v[7])<<(3*width)
	_ = to[15]
	binary.LittleEndian.PutUint64(to, low|high<<(4*width))
	if width > 8 {
		binary.LittleEndian.PutUint64(to[8:], high>>(64-4*width))
	}
}

// reserve makes room for n more bytes.
func reserve(out []byte, n int) []byte {
	if cap(out)-len(out) >= n {
		return out
	}
	return append(make([]byte, 0, 2*(len(out)+n)), out...)
}
