package operator

// Unit is what work is counted in; a rate is the time of one.
type Unit uint8

const (
	Launch Unit = iota // of a kernel
	Stream             // byte that is read or written in order, outside of passes

	SortRow      // row in a pass of a sort
	PartitionRow // row in a pass of a partition
	PassByte     // byte that either reads or writes
	PassColumn   // row of a payload column behind the first in a pass

	MatchBuild // build row put into a table in shared memory
	MatchProbe // probe row looked up there, or further match that it meets
	MatchRow   // row of output that a match writes
	MatchMet   // row with a partner, for which a match turns from looking to writing

	BuildNear // row put into a table in device memory that caches hold
	BuildFar  // row put into one that they do not hold
	ProbeNear // row looked up in such tables, with the key that it leads to
	ProbeFar

	MergeRow  // row of either side in the merge of sorted sides
	SearchRow // row of either side in the search for the ranges of matches
	ScanRow   // row of the side that is searched for
	ExpandRow // row of output as a pair of rows

	GatherNear // value that is gathered from where its neighbours were just gathered, or from a column that caches hold
	GatherFar  // value that is gathered from anywhere

	EncodeRow    // row whose key the host encodes and uploads
	UploadByte   // byte of a payload column
	DownloadByte // byte of output
	TakeNear     // value that the host fetches by row number, as gatherNear
	TakeFar

	NumUnits
)

var unitNames = [NumUnits]string{"launch", "stream_byte", "sort_row", "partition_row", "pass_byte", "pass_column",
	"match_build", "match_probe", "match_row", "match_met",
	"build_near", "build_far", "probe_near", "probe_far", "merge_row", "search_row", "scan_row", "expand_row",
	"gather_near", "gather_far",
	"encode_row", "upload_byte", "download_byte", "take_near", "take_far"}

func (u Unit) String() string { return unitNames[u] }

// Work is amounts by unit: a prediction is linear in the rates, so that rates can be fitted to measured joins.
type Work [NumUnits]float64
