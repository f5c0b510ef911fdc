package dataset

// KeepNoSources lets datasets keep no footers, until restore.
func KeepNoSources() (restore func()) {
	before, limited := mostCells, mostCellsLimited
	mostCells, mostCellsLimited = 0, 0
	return func() { mostCells, mostCellsLimited = before, limited }
}
