package groupby

import "cmp"

// Knobs force what group-bys otherwise choose, for measurements and tests. Zero values are the defaults.
type Knobs struct {
	GranuleRows int   // maximum rows on the device at a time; default as many as memory allows
	PartRows    int64 // rows of a part of a stream; default 2^22
	MergeRows   int   // rows of partials that wait at least for a merge; default 2^20
	// GuessedRows is the number of rows from which on the host guesses the range of a key; default 2^20. It then checks
	// the guess while it groups, rather than in a pass before.
	GuessedRows int64

	merging   func() error           // fails a merge of groups, or a count of different values; nil: none
	gathering func(groups int) error // may fail a table with this number of groups; nil: none fails
}

func (k *Knobs) partRows() int64 { return cmp.Or(k.PartRows, 1<<22) }

func (k *Knobs) mergeRows() int { return cmp.Or(k.MergeRows, 1<<20) }

func (k *Knobs) guessedRows() int64 { return cmp.Or(k.GuessedRows, 1<<20) }
