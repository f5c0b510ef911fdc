package backendtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

var transferChecks = []check{
	{"fill at odd offsets", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		for _, role := range r.roles() {
			want := randomWords(1, 1000)
			b := r.local(want)
			var steps []backend.Step
			// disjoint, so without barriers
			for i, at := range [][2]int{{1, 1}, {3, 5}, {63, 2}, {127, 300}, {999, 1}} {
				for w := at[0]; w < at[0]+at[1]; w++ {
					want[w] = uint32(i) * 0x01010101
				}
				steps = append(steps, step(fillCommand(words(b, at[0], at[1]), uint32(i)*0x01010101)))
			}
			r.wait(r.submit(role, nil, steps...))
			require.Equal(t, want, r.get(b), "%v queue", role)
		}
	}},
	{"copy at odd offsets", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		for _, role := range r.roles() {
			source, want := randomWords(1, 1000), randomWords(2, 1000)
			from, to := r.local(source), r.local(want)
			var steps []backend.Step
			for _, c := range [][3]int{{1, 0, 1}, {3, 501, 7}, {64, 65, 63}, {201, 2, 499}, {999, 999, 1}} {
				copy(want[c[0]:c[0]+c[2]], source[c[1]:])
				steps = append(steps, step(copyCommand(words(to, c[0], c[2]), words(from, c[1], c[2]))))
			}
			r.wait(r.submit(role, nil, steps...))
			require.Equal(t, want, r.get(to), "%v queue", role)
			require.Equal(t, source, r.get(from))
		}
	}},
	{"copy within a block", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		want := randomWords(1, 1000)
		b := r.local(want)
		r.run(step(copyCommand(words(b, 500, 499), words(b, 1, 499))),
			after(copyCommand(words(b, 0, 250), words(b, 600, 250))))
		copy(want[500:999], want[1:500])
		copy(want[:250], want[600:850])
		require.Equal(t, want, r.get(b))
	}},
	{"between kinds of memory", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		data := randomWords(3, 5000)
		kinds := []backend.Memory{backend.DeviceLocal, backend.HostVisible}
		for _, from := range kinds {
			for _, to := range kinds {
				a, b := r.buffer(from, len(data)), r.buffer(to, len(data))
				r.put(a, data)
				r.run(step(copyCommand(b.All(), a.All())))
				require.Equal(t, data, r.get(b), "%v to %v", from, to)
			}
		}
	}},
	{"large", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		n := s.pick(16<<20, 1<<20) + 1
		data := randomWords(4, n)
		a, b := r.local(data), r.buffer(backend.DeviceLocal, n)
		r.run(step(fillCommand(b.All(), 9)), after(copyCommand(words(b, 1, n-1), words(a, 0, n-1))))
		got := r.get(b)
		require.Equal(t, uint32(9), got[0])
		requireWords(t, data[:n-1], got[1:], "copy of %d words", n-1)
	}},
	{"random sequence", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		random := rand.New(rand.NewPCG(5, 5))
		const n = 777
		want := [3][]uint32{randomWords(6, n), randomWords(7, n), randomWords(8, n)}
		var buffers [3]*backend.Buffer
		for i := range buffers {
			buffers[i] = r.local(want[i])
		}
		var steps []backend.Step
		for range s.pick(300, 100) {
			dst, src := random.IntN(3), random.IntN(3)
			size := 1 + random.IntN(n)
			to, from := random.IntN(n-size+1), random.IntN(n-size+1)
			if dst == src {
				value := random.Uint32()
				for i := to; i < to+size; i++ {
					want[dst][i] = value
				}
				steps = append(steps, after(fillCommand(words(buffers[dst], to, size), value)))
				continue
			}
			copy(want[dst][to:to+size], want[src][from:])
			steps = append(steps, after(copyCommand(words(buffers[dst], to, size), words(buffers[src], from, size))))
		}
		r.run(steps...)
		for i := range buffers {
			requireWords(t, want[i], r.get(buffers[i]), "buffer %d", i)
		}
	}},
}

// words is a range of n words of a buffer.
func words(b *backend.Buffer, at, n int) backend.Range { return b.Range(uint64(at)*4, uint64(n)*4) }

// requireWords is require.Equal for large slices: it reports the first difference alone.
func requireWords(t *testing.T, want, got []uint32, format string, a ...any) {
	t.Helper()
	if difference := firstDifference(want, got); difference != "" {
		require.Fail(t, difference, append([]any{format}, a...)...)
	}
}

func firstDifference(want, got []uint32) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d words, want %d", len(got), len(want))
	}
	if bytes.Equal(backend.AsBytes(want), backend.AsBytes(got)) {
		return ""
	}
	for i := range want {
		if want[i] != got[i] {
			return fmt.Sprintf("word %d of %d is %#x, want %#x", i, len(want), got[i], want[i])
		}
	}
	return ""
}
