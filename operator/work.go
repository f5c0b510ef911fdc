package operator

// Unit is a kind of work. Its rate is the time in nanoseconds that one unit of it takes.
type Unit uint8

const (
	Launch Unit = iota // kernel started
	Stream             // byte read or written sequentially, outside of passes

	SortRow      // row in one pass of a sort
	PartitionRow // row in one pass of a partition
	PassByte     // byte that such a pass reads or writes
	PassColumn   // row of each payload column after the first in a pass

	MatchBuild // build row put into a table in shared memory
	MatchProbe // probe row looked up there, or a further match of it
	MatchRow   // output row that a match writes
	MatchMet   // row with a partner, for which a match switches from lookup to output

	BuildNear // row put into a table in device memory that fits the caches
	BuildFar  // row put into a table that does not fit them
	ProbeNear // row looked up in a table that fits, including the key that the slot refers to
	ProbeFar  // row looked up in a table that does not fit

	MergeRow  // row of either side in the merge of sorted sides
	SearchRow // row of either side in the search for the ranges of matches
	ScanRow   // row of the searching side, in the scan of its counts
	ExpandRow // output row, as a pair of row numbers

	GatherNear // value gathered near the previous ones, or from a column that fits the caches
	GatherFar  // value gathered by a random access that misses the cache

	DrawVertex // vertex whose point is not drawn, including a texel that it fetches
	DrawPoint  // vertex whose point is drawn

	EncodeRow    // row whose key the host encodes and uploads
	UploadByte   // byte of a payload column
	RepackByte   // byte that kernels read or write to convert columns from Arrow's format to words, or back
	DownloadByte // byte of output
	TakeNear     // the same as GatherNear, by the host
	TakeFar      // the same as GatherFar, by the host

	NumUnits // number of units
)

var unitNames = [NumUnits]string{"launch", "stream_byte", "sort_row", "partition_row", "pass_byte", "pass_column",
	"match_build", "match_probe", "match_row", "match_met",
	"build_near", "build_far", "probe_near", "probe_far", "merge_row", "search_row", "scan_row", "expand_row",
	"gather_near", "gather_far",
	"draw_vertex", "draw_point",
	"encode_row", "upload_byte", "repack_byte", "download_byte", "take_near", "take_far"}

func (u Unit) String() string { return unitNames[u] }

// Work is an amount for each unit. A prediction is linear in the rates, so rates can be fitted to measured joins.
type Work [NumUnits]float64
