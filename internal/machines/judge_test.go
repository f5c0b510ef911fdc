package machines

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Judgement is what traffic takes on a topology.
type Judgement struct {
	Movements []Schedule    // of the movements, each of which begins when the one before has ended
	Time      time.Duration // of all
	Bound     time.Duration // that the fullest segments need in all
	Segment   string        // the one that bounds movements for the longest time; "" if nothing moves
}

// Contention is how many times longer movements take than their fullest segments need; 1 if nothing moves.
func (j *Judgement) Contention() float64 { return contention(j.Time, j.Bound) }

// Judge schedules traffic on the wires of the machine. The puts between two ranks are one flow, as they follow one
// another; the flows of a movement begin at once.
//
// Not modelled: rounds, which move a few bytes, and kernels; also not that a radix partition goes on while its first
// rows move.
func (m *Machine) Judge(t *Traffic) *Judgement {
	j, bounds := &Judgement{}, make([]time.Duration, len(m.Wires.Segments))
	flows := make([][]Flow, t.Movements)
	for i, p := range t.Puts {
		of := &flows[p.Movement]
		if same := i > 0 && samePair(p, t.Puts[i-1]); !same {
			*of = append(*of, Flow{Path: m.Wires.Peer[p.From][p.To]})
		}
		flow := &(*of)[len(*of)-1]
		flow.Bytes += p.Bytes
		flow.Messages++
	}
	for _, of := range flows {
		s := m.Wires.Move(of)
		j.Movements = append(j.Movements, s)
		j.Time += s.Time
		if j.Bound += s.Bound; s.Bound > 0 {
			bounds[s.Bounds] += s.Bound
		}
	}
	longest := time.Duration(0)
	for segment, bound := range bounds {
		if bound > longest {
			longest, j.Segment = bound, m.Wires.Segments[segment].Name
		}
	}
	return j
}

func samePair(a, b Put) bool { return a.Movement == b.Movement && a.From == b.From && a.To == b.To }

// TestJudge: puts of a pair are one flow, movements follow one another, and the wire that bounds longest is named.
func TestJudge(t *testing.T) {
	m := Of(Switch(3, Wires{Host: 1, Slot: 1, Peer: 10, Latency: time.Second}))
	j := m.Judge(&Traffic{Movements: 3, Puts: []Put{{0, 0, 1, 10}, {0, 0, 1, 20}, {0, 2, 1, 10}, {2, 0, 2, 20}}})
	require.Len(t, j.Movements, 3)
	require.Equal(t, 4*time.Second, j.Movements[0].Bound)
	require.Equal(t, 8*time.Second, j.Movements[0].Time, "2 s together, 2 s alone, and two messages over two segments")
	require.Zero(t, j.Movements[1].Time)
	require.Equal(t, 12*time.Second, j.Time)
	require.Equal(t, 6*time.Second, j.Bound)
	require.Equal(t, 2.0, j.Contention())
	require.Equal(t, "in 1", j.Segment)
	require.Equal(t, 1.0, m.Judge(&Traffic{}).Contention())
}

// TestMachines prints what each method would take on machines of 16 and 64 devices with 128 Mi rows each.
// docs/notes/2026-11-peers.md has the table.
func TestMachines(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	const rows, times = 2048, 1 << 16
	for _, n := range []int{16, 64} {
		if n > 16 && testing.Short() {
			t.Skip("64 devices take half a minute")
		}
		var b strings.Builder
		in := keyed(n, rows, uniform())
		results := []struct {
			name string
			moved
		}{
			{"hash", exchange(t, machine(n, false), in,
				func(r *peers.Rank) (peers.Partitioner, error) { return r.Hash(1), nil })},
			{"radix partition", sorted(t, machine(n, false), in, peers.RadixPartition)},
			{"merge once", sorted(t, machine(n, false), in, peers.MergeOnce)},
			{"merge in stages", sorted(t, machine(n, false), in, peers.MergeStages)},
		}
		table := [][]string{{"MACHINE", "METHOD", "ROUNDS", "MOVEMENTS", "CROSSINGS", "TIME", "BOUND", "CONTENTION", "BY"}}
		for _, wires := range []Topology{Switch(n, wires), Tree(n, wires),
			Ring(n, wires), Network(n/8, 8, wires)} {
			require.NoError(t, Validate(&wires.Topology))
			for _, of := range results {
				j := Of(wires).Judge(of.Times(times))
				require.GreaterOrEqual(t, j.Contention(), 1-1e-9)
				table = append(table, []string{wires.Name, of.name, fmt.Sprint(of.Rounds), fmt.Sprint(of.Movements),
					fmt.Sprintf("%.2f", float64(of.MovedBytes())/rowBytes/float64(in.count())), milliseconds(j.Time),
					milliseconds(j.Bound), fmt.Sprintf("%.2f", j.Contention()), j.Segment})
			}
		}
		text.WriteTable(&b, []text.Align{text.Left, text.Left, text.Right, text.Right, text.Right, text.Right, text.Right,
			text.Right, text.Left}, table)
		golden.Require(t, fmt.Sprintf("machines-%d.txt", n), b.String())
	}
}

// milliseconds is a time of a movement, as a table has it.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1000) }
