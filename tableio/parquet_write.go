package tableio

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// rowGroupRows is the size of a row group: large enough for readers to scan
// fast, small enough to be held encoded in memory and to be read in parallel.
const rowGroupRows = 1 << 20

// parquetEncoder collects batches of any size into row groups of rowGroupRows.
type parquetEncoder struct{ *pqarrow.FileWriter }

func newParquetEncoder(out io.Writer, schema *arrow.Schema, compression string) (encoder, error) {
	codec, err := parquetCodec(compression)
	if err != nil {
		return nil, err
	}
	if schema.NumFields() == 0 {
		return nil, errors.New("Parquet cannot hold a table without columns")
	}
	properties := parquet.NewWriterProperties(
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCompression(codec),
		parquet.WithMaxRowGroupLength(rowGroupRows),
		parquet.WithCreatedBy("spirjoin"),
	)
	writer, err := pqarrow.NewFileWriter(schema, out, properties, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	return parquetEncoder{writer}, nil
}

func parquetCodec(compression string) (compress.Compression, error) {
	switch compression {
	case "", "snappy":
		return compress.Codecs.Snappy, nil
	case "zstd":
		return compress.Codecs.Zstd, nil
	case "none":
		return compress.Codecs.Uncompressed, nil
	}
	return 0, fmt.Errorf("compression %q is unknown for Parquet: choose zstd, snappy or none", compression)
}

func (e parquetEncoder) write(batch arrow.RecordBatch) error { return e.WriteBuffered(batch) }
func (e parquetEncoder) close() error                        { return e.Close() }
