package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"golang.org/x/sync/semaphore"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/parquet/columnchunk"
)

const magic = "PAR1"

// Options says how to write a file. The zero value compresses by Snappy and cuts row groups of 131072 rows.
type Options struct {
	Compression  string // none, lz4, zstd or snappy; empty = snappy
	RowGroupRows int64  // maximum rows of a row group; 0 = 131072
	// RowGroupBytes is the maximum of Arrow data in a row group of more than a row, and bounds what is in flight.
	// 0 = 256 MiB, and any number of row groups in flight.
	RowGroupBytes int64
	Busy          *core.Busy // measures the work of encoding and writing; may be nil
}

// NewEncoder makes an encoder of a file, which it writes to out: flat columns on all cores, schemas with nested columns
// on one. Errors name the first column whose type Parquet lacks, or wrap [core.ErrCompression].
func NewEncoder(out io.Writer, schema *arrow.Schema, opts Options) (core.Encoder, error) {
	codec, err := codecOf(opts.Compression)
	if err != nil {
		return nil, err
	}
	if schema.NumFields() == 0 {
		return nil, errors.New("a Parquet file cannot hold a table without columns")
	}
	for _, field := range schema.Fields() {
		if !columnchunk.Encodes(field.Type) {
			return newNestedEncoder(out, schema, codec, opts)
		}
	}
	fileSchema, columns, keyValue, err := columnchunk.WriteSchema(schema)
	if err != nil {
		return nil, err
	}
	e := &flatEncoder{out: out, columns: columns, codec: codec, rows: newRowGroups(opts),
		memoryBytes: opts.RowGroupBytes, memory: semaphore.NewWeighted(opts.RowGroupBytes),
		jobs: make(chan chunkJob), ended: make(chan struct{}),
		encoders: make(chan *columnchunk.Encoder, runtime.GOMAXPROCS(0))}
	e.footer = metadata.NewFileMetadataBuilder(fileSchema, columnchunk.WriterProperties(codec), keyValue)
	for range cap(e.encoders) {
		e.encoders <- new(columnchunk.Encoder)
	}
	e.ctx, e.stop = context.WithCancelCause(opts.Busy.With(context.Background()))
	if err := e.put([]byte(magic)); err != nil {
		return nil, err
	}
	go e.writeChunks()
	return e, nil
}

func codecOf(compression string) (compress.Compression, error) {
	switch compression {
	case "", "snappy":
		return compress.Codecs.Snappy, nil
	case "zstd":
		return compress.Codecs.Zstd, nil
	case "lz4":
		return compress.Codecs.Lz4Raw, nil
	case "none":
		return compress.Codecs.Uncompressed, nil
	}
	return 0, fmt.Errorf("%w %q is unknown for Parquet: choose snappy, zstd, lz4 or none", core.ErrCompression,
		compression)
}

// flatEncoder writes tables of flat columns. Batches of any size are cut into row groups; the column chunks of these
// are encoded on all cores, while one goroutine writes those that are ready, in the order of the file. So the chunks of
// a few row groups are in flight, and batches are held no longer than until their rows are encoded.
type flatEncoder struct {
	out     io.Writer
	columns []columnchunk.Column
	codec   compress.Compression
	footer  *metadata.FileMetaDataBuilder
	groups  int   // begun in the footer
	offset  int64 // of the end of what was written

	rows        rowGroups
	memoryBytes int64               // of row groups in flight; 0: any number
	memory      *semaphore.Weighted // these bytes

	jobs     chan chunkJob
	encoders chan *columnchunk.Encoder // that are free
	free     sync.Pool                 // of *encodedChunk
	ctx      context.Context           // of the work in flight
	stop     context.CancelCauseFunc
	ended    chan struct{} // closed when nothing is in flight any more
}

// chunkJob is a column chunk to be encoded.
type chunkJob struct {
	group  *rowGroup
	column int
}

// encodedChunk is a column chunk to be written.
type encodedChunk struct {
	chunkJob
	chunk columnchunk.Chunk
}

// Write implements [core.Encoder].
func (e *flatEncoder) Write(ctx context.Context, batch arrow.RecordBatch) error {
	err := e.rows.add(batch, func(group *rowGroup) error { return e.handOver(ctx, group) })
	if err != nil {
		return err
	}
	return context.Cause(e.ctx)
}

// handOver gives the row group to the encoders and returns as soon as they took its last column. If memory is limited,
// it first waits until the row groups in flight take no more than a row group may.
func (e *flatEncoder) handOver(ctx context.Context, group *rowGroup) error {
	group.left.Store(int64(len(e.columns)))
	stop := context.AfterFunc(ctx, func() { e.stop(ctx.Err()) })
	err := e.memory.Acquire(e.ctx, group.weight(e.memoryBytes))
	stop()
	if err != nil {
		group.done(int64(len(e.columns)))
		return context.Cause(e.ctx)
	}
	for column := range e.columns {
		select {
		case e.jobs <- chunkJob{group, column}:
			continue
		case <-ctx.Done():
			e.stop(ctx.Err())
		case <-e.ctx.Done():
		}
		group.done(int64(len(e.columns) - column))
		return context.Cause(e.ctx)
	}
	return nil
}

// writeChunks writes the chunks in the order of their jobs, until these end or something fails.
func (e *flatEncoder) writeChunks() {
	defer close(e.ended)
	inFlight := max(len(e.columns)+cap(e.encoders), 2*cap(e.encoders))
	var group *metadata.RowGroupMetaDataBuilder
	for encoded, err := range core.InOrder(e.ctx, inFlight, e.incoming(), e.encode, e.reuse) {
		if err == nil {
			if encoded.column == 0 {
				group = e.footer.AppendRowGroup()
				e.groups++
			}
			err = e.writeChunk(group, encoded)
			if encoded.column == len(e.columns)-1 {
				e.memory.Release(encoded.group.weight(e.memoryBytes))
			}
			e.reuse(encoded)
		}
		if err != nil {
			e.stop(err)
			break
		}
	}
}

// incoming are the jobs, until there are no more.
func (e *flatEncoder) incoming() iter.Seq2[chunkJob, error] {
	return func(yield func(chunkJob, error) bool) {
		for {
			select {
			case job, more := <-e.jobs:
				if !more || !yield(job, nil) {
					return
				}
			case <-e.ctx.Done():
				return
			}
		}
	}
}

func (e *flatEncoder) encode(ctx context.Context, job chunkJob) (*encodedChunk, error) {
	defer job.group.done(1)
	encoder := <-e.encoders
	defer func() { e.encoders <- encoder }()
	parts := make([]arrow.Array, len(job.group.parts))
	for i, part := range job.group.parts {
		parts[i] = part.Column(job.column)
	}
	encoded, _ := e.free.Get().(*encodedChunk)
	if encoded == nil {
		encoded = new(encodedChunk)
	}
	encoded.chunkJob = job
	return encoded, encoder.Encode(ctx, e.columns[job.column], e.codec, parts, &encoded.chunk)
}

func (e *flatEncoder) reuse(encoded *encodedChunk) { e.free.Put(encoded) }

func (e *flatEncoder) writeChunk(group *metadata.RowGroupMetaDataBuilder, encoded *encodedChunk) error {
	if err := encoded.chunk.Describe(group.NextColumnChunk(), e.offset); err != nil {
		return err
	}
	if err := e.put(encoded.chunk.Bytes()); err != nil {
		return err
	}
	if encoded.column < len(e.columns)-1 {
		return nil
	}
	group.SetNumRows(int(encoded.group.rows))
	return group.Finish(0, int16(min(e.groups-1, math.MaxInt16)))
}

func (e *flatEncoder) put(content []byte) error {
	n, err := e.out.Write(content)
	e.offset += int64(n)
	return err
}

// Close encodes what is left and writes the footer. After ctx ends it only waits until nothing is in flight.
func (e *flatEncoder) Close(ctx context.Context) error {
	if ctx.Err() != nil {
		e.stop(ctx.Err())
	}
	// A failure is the cause of e.ctx, see below.
	_ = e.rows.end(func(group *rowGroup) error { return e.handOver(ctx, group) })
	close(e.jobs)
	stopEarly := context.AfterFunc(ctx, func() { e.stop(ctx.Err()) })
	<-e.ended
	stopEarly()
	if err := context.Cause(e.ctx); err != nil {
		return err
	}
	return e.writeFooter()
}

func (e *flatEncoder) writeFooter() error {
	footer, err := e.footer.Finish()
	if err != nil {
		return err
	}
	start := e.offset
	sizeBytes, err := footer.WriteTo(e.out, nil)
	if err != nil {
		return err
	}
	e.offset = start + sizeBytes
	return e.put(append(binary.LittleEndian.AppendUint32(nil, uint32(sizeBytes)), magic...))
}
