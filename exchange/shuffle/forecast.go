package shuffle

import (
	"context"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Forecast adds to sent, by rank, the messages and bytes that [Start] would send with these options. It reads the
// share, cuts and divides blocks as Start does, and computes the sizes of messages without making them; columns are not
// encoded. Nothing is sent: the options need no stream. Errors: those of the source and of [exchange.Divider.Divide];
// backend.ErrInvalidInput for corrupt buffers.
func Forecast(ctx context.Context, share source.Source, o Options, sent []cluster.Traffic) error {
	o.Coding = Coding{}
	s := &Side{Options: o, format: newFormat(o.Schema)}
	sizers := make([]*sizer, len(sent))
	for rank := range sizers {
		sizers[rank] = &sizer{newEncoder(s.format, s.Alloc)}
		defer sizers[rank].Release()
	}
	put := func(_ context.Context, rank int, rows *parcel) error {
		if rows.NumRows() == 0 || rank == s.Job.Rank() {
			return nil
		}
		n, err := sizers[rank].messageBytes(rows.RecordBatch)
		sent[rank].Messages++
		sent[rank].Bytes += int64(n)
		return err
	}
	to := &handOver{Side: s, put: put, compressor: compressor{Side: s}}
	return s.gather(ctx, share, func(b *source.Gathered) error {
		if s.Divider == nil {
			return to.toAll(ctx, s.table(b))
		}
		divided, err := s.divide(ctx, b)
		if err != nil {
			return err
		}
		defer divided.Release()
		return to.toOwners(ctx, divided.parts)
	})
}

// sizer computes the sizes of the messages to one rank, in their order, from the format alone: the lengths of columns,
// their NULLs and the bytes of their texts. Only nested columns are encoded: their Arrow IPC stream has no closed form.
type sizer struct{ *encoder }

// messageBytes is the size of a message: its head and its body.
func (s *sizer) messageBytes(rows arrow.RecordBatch) (sizeBytes int, err error) {
	sizeBytes = uvarintBytes(int(rows.NumRows()))
	for i, c := range s.columns {
		column := rows.Column(c.field)
		n, err := arrayBytes(c.array, column.Data(), column.NullN())
		if err != nil {
			return 0, err
		}
		sizeBytes += n
		if c.array.shape != shapeIndex {
			continue
		}
		if n, err = s.dictionaryBytes(i, column.Data().Dictionary()); err != nil {
			return 0, err
		}
		sizeBytes += n
	}
	if len(s.nested) == 0 {
		return sizeBytes, nil
	}
	m := new(message)
	defer m.Release()
	err = s.ipc(m, rows)
	return sizeBytes + len(m.head) + int(m.bodyBytes()), err
}

// dictionaryBytes is what a dictionary adds to a message, and remembers it as sent.
func (s *sizer) dictionaryBytes(column int, of arrow.ArrayData) (sizeBytes int, err error) {
	values, last := array.MakeFromData(of), s.last[column]
	if last != nil && array.Equal(last, values) {
		values.Release()
		return uvarintBytes(0), nil
	}
	if last != nil {
		last.Release()
	}
	s.last[column] = values
	sizeBytes, err = arrayBytes(s.columns[column].array.entries, of, values.NullN())
	return sizeBytes + uvarintBytes(values.Len()+1), err
}

// arrayBytes is what an array with some NULLs adds to a message, without its dictionary.
func arrayBytes(p *plainArray, data arrow.ArrayData, nulls int) (sizeBytes int, err error) {
	if p.shape == shapeNone {
		return 0, nil
	}
	n := data.Len()
	sizeBytes = uvarintBytes(nulls)
	if nulls > 0 {
		sizeBytes += bitmapBytes(n)
	}
	if p.words {
		sizeBytes += uvarintBytes(0) // not encoded
	}
	switch p.shape {
	case shapeBits:
		sizeBytes += bitmapBytes(n)
	case shapeFixed, shapeIndex:
		sizeBytes += n * p.sizeBytes
	case shapeOffsets:
		if n == 0 {
			return sizeBytes + uvarintBytes(0), nil
		}
		texts, err := textBytes(p, data)
		if err != nil {
			return 0, err
		}
		sizeBytes += uvarintBytes(texts) + (n+1)*p.sizeBytes + texts
	}
	return sizeBytes, nil
}

// textBytes is the size of all values of an array of texts.
func textBytes(p *plainArray, data arrow.ArrayData) (int, error) {
	if err := relation.CheckValidity(data); err != nil {
		return 0, err
	}
	var of [2]int64
	var err error
	if p.sizeBytes == 4 {
		of, err = span[int32](data)
	} else {
		of, err = span[int64](data)
	}
	return int(of[1] - of[0]), err
}

// uvarintBytes is the size of a number in a head: seven bits a byte.
func uvarintBytes(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }
