package codec_test

import (
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/kernel"
)

// resealed gives a message the CRC of its bytes, as an attacker would.
func resealed(message []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	backend.Words(message)[4] = crc32.Update(crc32.Checksum(message[:16], table), table, message[20:])
	return message
}

func aligned(message []byte) []byte {
	copied := backend.AsBytes(make([]uint64, len(message)/8+1))[:len(message)]
	copy(copied, message)
	return copied
}

func TestDamageIsFound(t *testing.T) {
	message := encoded(t, columnOf("runs", 8, 5000), []uint32{0, 5000}, 7)[0]
	for bit := range 8 * len(message) {
		message[bit/8] ^= 1 << (bit % 8)
		_, err := codec.Open(message)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "bit %d", bit)
		message[bit/8] ^= 1 << (bit % 8)
	}
	for size := range len(message) {
		_, err := codec.Open(message[:size])
		require.ErrorIs(t, err, backend.ErrInvalidInput, "%d bytes", size)
	}
}

func TestDecodeRefuses(t *testing.T) {
	column := columnOf("runs", 8, 5000)
	message, err := codec.Open(encoded(t, column, []uint32{0, 5000}, 7)[0])
	require.NoError(t, err)
	for name, to := range map[string]codec.Column{
		"too many rows": {Values: column.Values[8:], ValueBytes: 8},
		"too few rows":  {Values: make([]byte, 8*5001), ValueBytes: 8},
		"other values":  {Values: column.Values[:4*5000], ValueBytes: 4},
	} {
		require.ErrorIs(t, codec.Decode(t.Context(), to, []codec.Message{message}), backend.ErrInvalidInput, name)
	}
}

// decodes opens a message and decodes it into guarded memory. It reports whether that worked.
func decodes(t testing.TB, message []byte) bool {
	m, err := codec.Open(message)
	if err != nil {
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		return false
	}
	const guard = 64
	marked := slices.Repeat([]byte{0xa5}, int(m.Rows)*m.ValueBytes+2*guard)
	end := len(marked) - guard
	err = codec.Decode(t.Context(), codec.Column{Values: marked[guard:end:end], ValueBytes: m.ValueBytes},
		[]codec.Message{m})
	if err != nil {
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
	for i := range guard {
		require.True(t, marked[i] == 0xa5 && marked[end+i] == 0xa5, "written behind the column")
	}
	return err == nil
}

// seeds are messages of all schemes.
func seeds(t testing.TB) (messages [][]byte) {
	for _, kind := range []string{"runs", "random", "descending", "few"} {
		for _, valueBytes := range []int{4, 8} {
			for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
				messages = append(messages, encoded(t, columnOf(kind, valueBytes, 2500), []uint32{0, 2500}, scheme)...)
			}
		}
	}
	return messages
}

func TestRandomCorruptions(t *testing.T) {
	r, refused := rand.New(rand.NewPCG(3, 4)), 0
	for _, seed := range seeds(t) {
		require.True(t, decodes(t, seed))
		for range 40 {
			message := aligned(seed)
			words := backend.Words(message)
			for range 1 + r.IntN(3) {
				switch r.IntN(4) {
				case 0: // a header of a block
					m, err := codec.Open(resealed(message))
					if err == nil {
						at := len(words) - len(m.Payload)
						words[at+int(append([]uint32{0}, m.Directory...)[r.IntN(len(m.Directory))])] ^= 1 << r.IntN(32)
					}
				case 1: // header or directory
					words[r.IntN(8)] ^= 1 << r.IntN(32)
				case 2:
					message = message[:4*(1+r.IntN(len(message)/4))]
					words = backend.Words(message)
				default:
					words[r.IntN(len(words))] = r.Uint32()
				}
				if len(message) < 40 {
					break
				}
			}
			if len(message) >= 40 {
				resealed(message)
			}
			if !decodes(t, message) {
				refused++
			}
		}
	}
	require.Greater(t, refused, 500)
}

func FuzzMessage(f *testing.F) {
	for _, message := range seeds(f) {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		message := aligned(bytes[:len(bytes)&^3])
		if len(message) >= 20 {
			resealed(message)
		}
		decodes(t, message)
	})
}
