package distributed

// Rates of the machine of DIST, Selene: DGX A100 nodes of eight GPUs, a 25 GB/s adapter each. The paper prints
// throughputs and times of phases; the others are fitted to these, or assumed:
//
//   - Partition, encode and decode: figure 9 has 46 ms to encode and 20 ms to decode 6.445 GB. 140 GB/s are assumed for
//     a partition, too.
//   - Join: the 183 ms of figure 9 at 1,024 GPUs that are neither exchange nor codec, but for the partition.
//   - Network: fitted to the exchange of 648 ms in figure 9 (TPC-H), and to 667 G rows/s in figure 6 (random keys) at
//     1,024 GPUs. The two differ, and one rate does not give both: messages are smaller in figure 9.
//   - Messages: 4.5 us, which gives the crossing of figure 7. The paper gives no latency. 3 and 6 us move the crossing
//     from 20 to 14 and 27 M rows.
//   - NVLink: 180 GB/s of the 300 that an A100 has, assumed, with 2 us a message.
const (
	nodeGPUs = 8

	paperPartition = 140e9
	paperEncode    = 140e9
	paperDecode    = 322e9
	paperNode      = 180e9
	nodeMessage    = 2e-6

	// NetworkMessage is the default of [Sweep.NetworkMessage].
	NetworkMessage = 4.5e-6

	paperExchange = 0.648 // seconds, figure 9 at 1,024 GPUs
	paperLocal    = 0.183 // seconds of partition and join there
	paperRandom   = 667e9 // rows a second, figure 6 at 1,024 GPUs

	// paperRatio is the compression ratio of all columns together. The paper prints none. It follows from figure 9: 648
	// over 167 ms is 3.9, and a little more without the time of messages.
	paperRatio = 4.0
)

// Rows of a GPU in the paper's experiments.
const (
	orders, lines = 146.48e6, 585.94e6 // TPC-H, scale factor 100,000 in 1,024 parts (section 6.4)
	randomRows    = 500e6              // of each table (section 6.2)
)

// randomColumns are a key and a payload of 8 bytes (section 6.1), which are not compressed.
var randomColumns = []Column{{Name: "key", Bytes: 8}, {Name: "payload", Bytes: 8}}

// tpchColumns are the columns of both tables (section 6.4).
var tpchColumns = [2][]Column{
	{{Name: "o_orderkey", Bytes: 8}, {Name: "o_orderpriority", Bytes: 4}},
	{{Name: "l_orderkey", Bytes: 8}},
}

// ourRates are the rates of this project's codec on an H200, by column: kernels cascade_encode and cascade_decode on
// 1 GiB of raw bytes with 16 destinations (spirjoin bench codec, 2026-11-28). More destinations are assumed to change
// nothing, as in the paper (section 6.4).
var ourRates = map[string]Codec{
	"o_orderkey":      {Encode: 818e9, Decode: 721e9},
	"o_orderpriority": {Encode: 588e9, Decode: 844e9},
	"l_orderkey":      {Encode: 631e9, Decode: 1020e9},
}

// tpch returns the tables of TPC-H, each column with its codec; nil: none.
func tpch(codec func(column string) Codec) (tables [2]Table) {
	for i, rows := range [2]float64{orders, lines} {
		tables[i].Rows = rows
		for _, column := range tpchColumns[i] {
			if codec != nil {
				column.Codec = codec(column.Name)
			}
			tables[i].Columns = append(tables[i].Columns, column)
		}
	}
	return tables
}

func paperCodec(string) Codec { return Codec{paperRatio, paperEncode, paperDecode} }

// random returns two tables of random keys.
func random(rows float64) [2]Table { return [2]Table{{rows, randomColumns}, {rows, randomColumns}} }

// selene returns the paper's cluster with a number of GPUs, a multiple of eight, and fits the rate of its network with
// 1,024 GPUs to the time of the exchange of tables there.
func selene(gpus int, networkMessage float64, fit [2]Table, exchangeSeconds func(rest float64) float64) Cluster {
	c := Cluster{Nodes: 1024 / nodeGPUs, GPUs: nodeGPUs, Network: 1, Node: paperNode, NetworkMessage: networkMessage,
		NodeMessage: nodeMessage, Partition: paperPartition}
	t := tpch(nil)
	raw := orders*float64(t[0].RowBytes()) + lines*float64(t[1].RowBytes())
	c.Join = (orders + lines) / (paperLocal - raw/c.Partition)
	p := c.Predict(fit, OneLevel)
	seconds := exchangeSeconds(p.Seconds[Partition] + p.Seconds[LocalJoin])
	c.Network = p.NetworkBytes / (seconds - p.NetworkMessages*c.NetworkMessage)
	c.Nodes = gpus / nodeGPUs
	return c
}

// tpchCluster is the cluster of figures 8 and 9.
func tpchCluster(gpus int, networkMessage float64) Cluster {
	return selene(gpus, networkMessage, tpch(nil), func(float64) float64 { return paperExchange })
}

// randomCluster is the cluster of figures 6 and 7.
func randomCluster(gpus int, networkMessage float64) Cluster {
	return selene(gpus, networkMessage, random(randomRows), func(rest float64) float64 {
		return 1024*2*randomRows/paperRandom - rest
	})
}
