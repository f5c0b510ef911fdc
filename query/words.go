package query

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// loader loads columns onto a device as words. Values of 4 and 8 bytes are uploaded to their place. Wider and narrower
// values are uploaded in Arrow's format, some rows at a time, and a kernel converts them to words.
type loader struct {
	lane    *exec.Lane
	words   relation.Words
	columns []*arrow.Chunked
	stage   string // name of the stage of the kernels
}

// wordPart is a set of words that are loaded together: the words of one column, or a shared word.
type wordPart struct {
	*loader
	first, words int // index of the first word, and number of words
	column       int // index of the column; negative for a shared word
	shared       int // index of the shared word
}

// parts returns all words, in order.
func (l *loader) parts() (parts []wordPart) {
	for i, c := range l.words.Columns {
		if c.Count > 0 {
			parts = append(parts, wordPart{loader: l, first: c.First, words: c.Count, column: i})
		}
	}
	for n := range l.words.Shared {
		parts = append(parts, wordPart{loader: l, first: l.words.SharedFrom() + n, words: 1, column: -1, shared: n})
	}
	return parts
}

// load fills words from the rows [from, to) of the columns. The device and the host may still be at work when it
// returns.
func (p *wordPart) load(ctx context.Context, from, to int, words []backend.Range) error {
	switch {
	case from == to:
		return nil
	case p.column < 0:
		return p.pack(ctx, from, to, words[0])
	case p.words == 1:
		return p.bring(ctx, from, to, words[0])
	}
	return p.split(ctx, from, to, words)
}

// bring copies values in Arrow's format to a range. Copy commands bring them from imported memory too: beside kernels
// of a join they take less of the device than kernels that fetch.
func (p *wordPart) bring(ctx context.Context, from, to int, into backend.Range) error {
	transfers, err := relation.Transfers(p.columns[p.column], from, to, into)
	if err == nil {
		_, err = p.lane.Device().UploadAll(ctx, transfers)
	}
	return err
}

// pack fills a shared word.
func (p *wordPart) pack(ctx context.Context, from, to int, word backend.Range) error {
	shared := &p.loader.words.Shared[p.shared]
	host := make([]byte, shared.SourceBytes(uint64(min(to-from, relation.StageRows))))
	pack := func(list *backend.List, staged *backend.Buffer, at, end int) error {
		if err := shared.Stage(p.columns, at, end, host); err != nil {
			return err
		}
		rows := uint64(end - at)
		sizeBytes := shared.SourceBytes(rows)
		if _, err := p.lane.Device().Upload(ctx, staged.Range(0, sizeBytes), host[:sizeBytes]); err != nil {
			return err
		}
		return p.lane.PackWords(list, shared.Fields, staged.Range(relation.OriginBytes, sizeBytes-relation.OriginBytes),
			staged.Range(0, relation.OriginBytes), word.Part(uint64(at-from)*4, rows*4), rows)
	}
	return p.staged(ctx, from, to, uint64(len(host)), pack)
}

// split divides values of several words.
func (p *wordPart) split(ctx context.Context, from, to int, words []backend.Range) error {
	rowBytes := uint64(8 * len(words))
	return p.staged(ctx, from, to, uint64(min(to-from, relation.StageRows))*rowBytes,
		func(list *backend.List, staged *backend.Buffer, at, end int) error {
			rows := uint64(end - at)
			values := staged.Range(0, rows*rowBytes)
			if err := p.bring(ctx, at, end, values); err != nil {
				return err
			}
			for i, word := range words {
				if err := p.lane.CopyStrided(list,
					primitive.Strided{Words: word.Part(uint64(at-from)*8, rows*8), Stride: 1},
					primitive.Strided{Words: values, First: uint32(i), Stride: uint32(len(words))}, rows); err != nil {
					return err
				}
			}
			return nil
		})
}

// staged processes the rows [from, to) some at a time: it calls do, with a buffer for their upload, and submits the
// commands that do records.
func (p *wordPart) staged(ctx context.Context, from, to int, sizeBytes uint64,
	do func(list *backend.List, staged *backend.Buffer, at, end int) error) error {
	temporary := p.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	staged := temporary.New(sizeBytes, "staged columns")
	if err := temporary.Err(); err != nil {
		return err
	}
	for at := from; at < to; at += relation.StageRows {
		list := p.lane.List(p.stage)
		if err := do(list, staged, at, min(to, at+relation.StageRows)); err != nil {
			return err
		}
		if err := p.lane.Submit(ctx, list); err != nil {
			return err
		}
	}
	return nil
}
