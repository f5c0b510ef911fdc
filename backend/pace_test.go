package backend

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func testPacer(seconds map[string]float64) *pacer {
	return &pacer{bound: 50 * time.Millisecond, firstGuess: 1e9, seconds: seconds}
}

func groups(k *Kernel, n uint32) Command { return Command{Kind: Dispatch, Kernel: k, EndGroup: n} }

func TestPacerLeavesFastWorkWhole(t *testing.T) {
	k := &Kernel{Spec: &KernelSpec{Name: "k"}, key: "k"}
	pieces := testPacer(map[string]float64{"k": 1e-9}).split([]Command{groups(k, 1000), groups(k, 1<<20), {Kind: Mark, Label: "m"}})
	require.Len(t, pieces, 1)
	require.Len(t, pieces[0], 3)
}

// TestPacerFullPiece: a copy does not begin in a piece that has no room for it.
func TestPacerFullPiece(t *testing.T) {
	p := testPacer(map[string]float64{"full": 0.05, "fill": 1e-9, "copy": 1e-9})
	buffer := &Buffer{sizeBytes: 1 << 30}
	full := &Kernel{Spec: &KernelSpec{Name: "full"}, key: "full"}
	pieces := p.split([]Command{groups(full, 1), {Kind: Fill, Dst: buffer.Range(0, 1<<27)}, {Kind: Copy, Dst: buffer.Range(0, 1<<27), Src: buffer.Range(1<<28, 1<<27)}})
	require.Len(t, pieces[0], 1)
}

// TestPacerLargePieces: pieces of more than 4 GiB, as a fast device takes them at a time.
func TestPacerLargePieces(t *testing.T) {
	p := testPacer(map[string]float64{"copy": 1e-12, "fill": 1e-12})
	buffer := &Buffer{sizeBytes: 1 << 40}
	const sizeBytes, first = 120 << 30, 50_000_000_000 / 4096 * 4096 // in 50 ms
	for _, c := range []Command{{Kind: Fill, Dst: buffer.Range(0, sizeBytes)}, {Kind: Copy, Dst: buffer.Range(0, sizeBytes), Src: buffer.Range(1<<39, sizeBytes)}} {
		pieces := p.split([]Command{c})
		require.Len(t, pieces, 3)
		require.Equal(t, uint64(first), pieces[0][0].Dst.SizeBytes)
		require.Equal(t, buffer.Range(2*first, sizeBytes-2*first), pieces[2][0].Dst)
		if c.Kind == Copy {
			require.Equal(t, buffer.Range(1<<39+2*first, sizeBytes-2*first), pieces[2][0].Src)
		}
	}
}

// TestPacerProperty: whatever the rates, the pieces together are the list, and none is predicted to exceed the bound by more
// than one workgroup.
func TestPacerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slow := &Kernel{Spec: &KernelSpec{Name: "slow"}, key: "slow"}
		fast := &Kernel{Spec: &KernelSpec{Name: "fast"}, key: "fast"}
		p := testPacer(map[string]float64{"slow": rapid.Float64Range(1e-6, 0.2).Draw(t, "slow"), "fast": 1e-7, "copy": 1e-9})
		buffer := &Buffer{sizeBytes: 1 << 40}
		var commands []Command
		for range rapid.IntRange(1, 8).Draw(t, "commands") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				commands = append(commands, groups(slow, rapid.Uint32Range(1, 50).Draw(t, "groups")))
			case 1:
				commands = append(commands, groups(fast, rapid.Uint32Range(1, 3_000_000).Draw(t, "groups")))
			case 2:
				n := rapid.Uint64Range(1, 1<<26).Draw(t, "words") * 4
				commands = append(commands, Command{Kind: Copy, Dst: buffer.Range(0, n), Src: buffer.Range(0, n)})
			case 3:
				commands = append(commands, Command{Kind: Mark})
			}
		}
		var joined []Command
		for _, piece := range p.split(commands) {
			cost, most := 0.0, 0.0
			for _, c := range piece {
				cost += p.unit(&c) * c.units()
				most = max(most, p.unit(&c))
				if n := len(joined); n > 0 && joined[n-1].Kind == c.Kind && c.Kind != Mark && continues(joined[n-1], c) {
					joined[n-1].EndGroup = c.EndGroup
					joined[n-1].Dst.SizeBytes += c.Dst.SizeBytes
					joined[n-1].Src.SizeBytes += c.Src.SizeBytes
					continue
				}
				joined = append(joined, c)
			}
			require.LessOrEqual(t, cost, p.bound.Seconds()*1.001+most)
		}
		require.Equal(t, commands, joined)
	})
}

func continues(a, b Command) bool {
	if a.Kind == Dispatch {
		return a.Kernel == b.Kernel && b.FirstGroup == a.EndGroup && b.FirstGroup > 0
	}
	return b.Dst.OffsetBytes > 0 && b.Dst.OffsetBytes == a.Dst.OffsetBytes+a.Dst.SizeBytes
}

// TestPacerSmallParts: commands below the size of a cut, and single workgroups, stay whole however slow they are believed.
func TestPacerSmallParts(t *testing.T) {
	k := &Kernel{Spec: &KernelSpec{Name: "k"}, key: "k"}
	p := testPacer(map[string]float64{"k": 10, "fill": 1})
	buffer := &Buffer{sizeBytes: 1 << 20}
	for _, size := range []uint64{4, 256, 4096, 1 << 16} {
		require.Len(t, p.split([]Command{{Kind: Fill, Dst: buffer.Range(0, size)}}), 1, size)
	}
	require.Len(t, p.split([]Command{groups(k, 3)}), 3)
}

func TestPacerIgnoresOverhead(t *testing.T) {
	p := testPacer(map[string]float64{"fill": 1e-9})
	small := []Command{{Kind: Fill, Dst: (&Buffer{sizeBytes: 256}).All()}}
	p.measured(small, time.Millisecond)
	require.Equal(t, 1e-9, p.seconds["fill"])
	p.measured(small, 100*time.Millisecond)
	require.Greater(t, p.seconds["fill"], 1e-5)
}

func TestPacerLearns(t *testing.T) {
	k := &Kernel{Spec: &KernelSpec{Name: "k"}, key: "k"}
	p := testPacer(map[string]float64{"k": 1e-9})
	for range 20 {
		p.measured([]Command{groups(k, 1000)}, time.Second)
	}
	require.InDelta(t, 1e-3, p.seconds["k"], 1e-5)
	require.Greater(t, len(p.split([]Command{groups(k, 1000)})), 15)
}
