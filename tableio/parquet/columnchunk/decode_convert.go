package columnchunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
)

// eachValue makes a converter of a loop over values that are stored in a fixed number of bytes.
func eachValue(width int, loop func(dst, src []byte) error) converter {
	return func(dst, plain []byte, n int) (int, error) {
		if n > len(plain)/width {
			return 0, errShort
		}
		return n * width, loop(dst, plain[:n*width])
	}
}

func narrowInPlace[T uint8 | uint16](dst, src []byte) error {
	in := view[uint32](src)
	out := view[T](dst)[:len(in)]
	for i, v := range in {
		out[i] = T(v)
	}
	return nil
}

func daysToMillis(dst, src []byte) error {
	in := view[int32](src)
	out := view[int64](dst)[:len(in)]
	for i, v := range in {
		out[i] = int64(v) * (24 * 60 * 60 * 1000)
	}
	return nil
}

func millisToSeconds[T int32 | int64](dst, src []byte) error {
	in := view[T](src)
	out := view[T](dst)[:len(in)]
	for i, v := range in {
		if out[i] = v / 1000; out[i]*1000 != v {
			return fmt.Errorf("%d milliseconds in a column of seconds", v)
		}
	}
	return nil
}

func int96ToNanos(dst, src []byte) error {
	out := view[int64](dst)
	for i := range out {
		nanos, err := parquet.Int96(src[12*i : 12*i+12]).ToTimestamp()
		if err != nil {
			return err
		}
		out[i] = int64(nanos)
	}
	return nil
}

// ErrFiner says that a timestamp has digits below the microseconds that it is read in.
var ErrFiner = errors.New("a timestamp is finer than a microsecond")

// int96ToMicros converts timestamps of a Julian day and nanoseconds of it. Spark adds the day of the epoch to microseconds,
// which wraps around to a negative day for the last 6,600 years that these hold; the subtraction here wraps back.
func int96ToMicros(dst, src []byte) error {
	const (
		epoch     = 2440588 // the Julian day of 1970-01-01
		dayMicros = 24 * 60 * 60 * 1_000_000
		mostDays  = math.MaxInt64/dayMicros - 1
	)
	out := view[int64](dst)
	for i := range out {
		nanos := int64(binary.LittleEndian.Uint64(src[12*i:]))
		day := int64(int32(binary.LittleEndian.Uint32(src[12*i+8:])))
		micros := nanos / 1000
		switch {
		case day > mostDays || day < -mostDays || micros >= dayMicros || nanos < 0 && (day > 0 || micros <= -dayMicros):
			return fmt.Errorf("an INT96 timestamp of day %d and nanosecond %d", day, nanos)
		case nanos != 1000*micros:
			return ErrFiner
		}
		out[i] = day*dayMicros + micros - epoch*dayMicros
	}
	return nil
}

var errDecimalWidth = errors.New("a decimal number with more digits than its type has")

// widen extends the signs of integers to values of a width of 4, 8, 16 or 32 bytes.
func widenInto[T int32 | int64](dst []byte, in []T, width int) error {
	switch width {
	case 4:
		out := view[int32](dst)[:len(in)]
		for i, v := range in {
			if out[i] = int32(v); T(out[i]) != v {
				return errDecimalWidth
			}
		}
	case 8:
		out := view[int64](dst)[:len(in)]
		for i, v := range in {
			out[i] = int64(v)
		}
	case 16:
		out := view[[2]int64](dst)[:len(in)]
		for i, v := range in {
			out[i] = [2]int64{int64(v), int64(v) >> 63}
		}
	default:
		out := view[[4]int64](dst)[:len(in)]
		for i, v := range in {
			sign := int64(v) >> 63
			out[i] = [4]int64{int64(v), sign, sign, sign}
		}
	}
	return nil
}

// reverse writes a big-endian integer of any length above 0 as a little-endian one of the length of dst: 4, 8, 16 or
// 32.
func reverse(dst, src []byte) error {
	sign := uint64(int64(int8(src[0])) >> 63)
	for ; len(src) > 32; src = src[1:] {
		if src[0] != byte(sign) {
			return errDecimalWidth
		}
	}
	var big [32]byte
	for i := 0; i < 32; i += 8 {
		binary.LittleEndian.PutUint64(big[i:], sign)
	}
	copy(big[32-len(src):], src)
	var words [4]uint64 // the lowest first
	for i := range words {
		words[i] = binary.BigEndian.Uint64(big[24-8*i:])
	}
	used := (len(dst) + 7) / 8
	for _, word := range words[used:] {
		if word != sign {
			return errDecimalWidth
		}
	}
	if used < 4 && words[used-1]>>63 != sign>>63 {
		return errDecimalWidth
	}
	switch len(dst) {
	case 4:
		if int64(words[0]) != int64(int32(words[0])) {
			return errDecimalWidth
		}
		binary.LittleEndian.PutUint32(dst, uint32(words[0]))
	default:
		for i := 0; i < len(dst); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], words[i/8])
		}
	}
	return nil
}

func reverseAll(dst, src []byte, from, width int) error {
	if width == 16 && from <= 16 {
		return reverseShort(dst, src, from)
	}
	for ; len(dst) > 0; dst, src = dst[width:], src[from:] {
		if err := reverse(dst[:width], src[:from]); err != nil {
			return err
		}
	}
	return nil
}

// reverseShort is reverseAll for values of at most 16 bytes, which become 16. It loads the words that end with a value,
// and shifts out what is of the values before; the first values have too little before them.
func reverseShort(dst, src []byte, from int) error {
	end := from
	for ; len(dst) > 0 && end < 16; end += from {
		if err := reverse(dst[:16], src[end-from:end]); err != nil {
			return err
		}
		dst = dst[16:]
	}
	out := cast[[2]uint64](dst)
	shift := (64 - 8*from) & 63
	if from > 8 {
		shift = 128 - 8*from
	}
	for i := range out {
		word := src[end-16 : end]
		low := binary.BigEndian.Uint64(word[8:])
		var high int64
		if from > 8 {
			high = int64(binary.BigEndian.Uint64(word)) << shift >> shift
		} else {
			low = uint64(int64(low) << shift >> shift)
			high = int64(low) >> 63
		}
		out[i] = [2]uint64{low, uint64(high)}
		end += from
	}
	return nil
}

// reverseEach converts values that are stored with their lengths.
func reverseEach(dst, plain []byte, n, width int) (usedBytes int, err error) {
	at := 0
	for i := range n {
		value, rest, err := cutPrefixed(plain[at:])
		if err != nil {
			return 0, err
		}
		if len(value) == 0 {
			return 0, errors.New("a decimal number without bytes")
		}
		if err := reverse(dst[i*width:(i+1)*width], value); err != nil {
			return 0, err
		}
		at = len(plain) - len(rest)
	}
	return at, nil
}
