// Package distributed predicts joins on clusters of GPUs, and repeats figures 6 to 9 and table 1 of "Scaling Joins to a
// Thousand GPUs" (DIST) by that model. It also runs joins on ranks of this process and compares what they send with
// what package ranks forecasts.
//
//	model.go    bytes, messages and time of a join on a cluster      rates.go   rates of clusters, with their sources
//	skew.go     how evenly keys of Zipf's law spread over ranks       table1.go  ratios of schemes on columns of TPC-H
//	figures.go  the points of the figures                             local.go   joins on ranks of this process
//	sweep.go, report.go: what the command prints
package distributed

import "fmt"

// Cluster is a machine of equal nodes, each with the same number of GPUs. The model is a closed form: all GPUs do the
// same at the same time, so one GPU's time is the time of all. A phase begins when the last one has ended on all GPUs.
type Cluster struct {
	Nodes, GPUs int // GPUs of a node

	// Bytes a second of one GPU, in each direction, while all GPUs send to all others.
	Network float64 // between nodes
	Node    float64 // within a node

	// Seconds that one more message costs a GPU that sends and receives as many.
	NetworkMessage, NodeMessage float64

	Partition float64 // bytes a second that a GPU reads and scatters
	Join      float64 // rows of both sides a second that a GPU joins once they have met
}

// All is the number of GPUs.
func (c *Cluster) All() int { return c.Nodes * c.GPUs }

// Codec is how well and how fast a column is compressed. The zero value sends a column as it is.
type Codec struct {
	Ratio          float64 // raw bytes for each encoded one
	Encode, Decode float64 // raw bytes a second
}

// Column is a column that moves.
type Column struct {
	Name  string
	Bytes int // of a value
	Codec
}

// Table is one side of a join.
type Table struct {
	Rows    float64 // of each GPU
	Columns []Column
}

// RowBytes is the raw size of a row.
func (t *Table) RowBytes() (sizeBytes int) {
	for _, c := range t.Columns {
		sizeBytes += c.Bytes
	}
	return sizeBytes
}

// Levels are the steps in which rows reach the GPU that joins them.
type Levels uint8

const (
	OneLevel  Levels = iota // from each GPU to each (DIST, algorithm 1)
	TwoLevels               // to the node over the network, then to the GPU within the node (DIST, algorithm 2)
)

func (l Levels) String() string { return [...]string{"one level", "two levels"}[l] }

// Phase is a step of a join.
type Phase uint8

// The phases, in their order. Columns are encoded for the network only, not within a node (DIST, section 5).
const (
	Partition Phase = iota
	Encode
	Network
	Decode
	NodePartition // of two levels: divides the rows of a node among its GPUs
	NodeExchange  // within a node; with one level, the time by which it outlasts the network
	LocalJoin
	phases
)

var phaseNames = [phases]string{"partition", "encode", "network", "decode", "node partition", "node", "join"}

func (p Phase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// Prediction is a join as the model has it.
type Prediction struct {
	Seconds [phases]float64
	// Of one GPU. A column for a destination is a message.
	NetworkBytes, NodeBytes       float64
	NetworkRawBytes               float64 // that NetworkBytes encode
	NetworkMessages, NodeMessages float64
	Rows                          float64 // of all GPUs and both sides
}

// Total is the time of the join in seconds.
func (p *Prediction) Total() (seconds float64) {
	for _, s := range p.Seconds {
		seconds += s
	}
	return seconds
}

// PerSecond is the number of input rows that all GPUs join in a second.
func (p *Prediction) PerSecond() float64 { return p.Rows / p.Total() }

// Predict predicts a join of two tables whose keys are spread evenly. Skew is a matter of [Balance].
func (c *Cluster) Predict(tables [2]Table, levels Levels) (p Prediction) {
	for i := range tables {
		t := &tables[i]
		p.Rows += t.Rows * float64(c.All())
		p.Seconds[LocalJoin] += t.Rows / c.Join
		c.shuffle(&p, t, levels)
	}
	if levels == OneLevel {
		p.Seconds[NodeExchange] = max(0, p.Seconds[NodeExchange]-p.Seconds[Network])
	}
	return p
}

// shuffle adds the bytes, messages and seconds of moving a table.
//
// Of n GPUs, m on a node, one level sends a share (n-m)/n of the bytes over the network, in n-m messages a column.
// Two levels send a share 1-m/n, which is the same, in n/m-1 messages, because GPU i of a node sends to GPU i of the
// others. Then all bytes are divided once more, and a share (m-1)/m moves within the node.
func (c *Cluster) shuffle(p *Prediction, t *Table, levels Levels) {
	n, m := float64(c.All()), float64(c.GPUs)
	raw := t.Rows * float64(t.RowBytes())
	netShare, nodeShare, columns := (n-m)/n, (m-1)/n, float64(len(t.Columns))
	netMessages := (n - m) * columns
	p.Seconds[Partition] += raw / c.Partition
	if levels == TwoLevels {
		nodeShare, netMessages = (m-1)/m, (n/m-1)*columns
		p.Seconds[NodePartition] += raw / c.Partition
	}
	netBytes := 0.0
	for _, column := range t.Columns {
		of := t.Rows * float64(column.Bytes) * netShare
		if column.Ratio > 0 {
			p.Seconds[Encode] += of / column.Encode
			p.Seconds[Decode] += of / column.Decode
			of /= column.Ratio
		}
		netBytes += of
		p.NetworkRawBytes += t.Rows * float64(column.Bytes) * netShare
	}
	nodeBytes, nodeMessages := raw*nodeShare, (m-1)*columns
	p.Seconds[Network] += netBytes/c.Network + netMessages*c.NetworkMessage
	p.Seconds[NodeExchange] += nodeBytes/c.Node + nodeMessages*c.NodeMessage
	p.NetworkBytes += netBytes
	p.NodeBytes += nodeBytes
	p.NetworkMessages += netMessages
	p.NodeMessages += nodeMessages
}

// Crossing returns the rows of each of two tables and GPU at which both levels take equally long, between low and high.
// With fewer rows two levels are faster, with more one level. It is low or high if one of them is always faster.
func (c *Cluster) Crossing(columns []Column, low, high float64) float64 {
	for range 60 {
		rows := (low + high) / 2
		tables := [2]Table{{rows, columns}, {rows, columns}}
		one, two := c.Predict(tables, OneLevel), c.Predict(tables, TwoLevels)
		if one.Total() > two.Total() {
			low = rows
		} else {
			high = rows
		}
	}
	return high
}
