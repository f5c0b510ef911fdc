package columnchunk

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

type FileColumn struct {
	Column
	Flat  bool
	Index int
	Err   error
}

func ReadSchema(f *file.Reader) (*arrow.Schema, []FileColumn, error) {
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, err
	}
	s, err := r.Schema()
	if err != nil {
		return nil, nil, err
	}
	cols := make([]FileColumn, s.NumFields())
	for i := range cols {
		if m := &r.Manifest.Fields[i]; m.IsLeaf() {
			leaf := f.MetaData().Schema.Column(m.ColIndex)
			cols[i] = FileColumn{Column: Column{Field: s.Field(i), Leaf: leaf}, Index: m.ColIndex, Flat: Decodes(s.Field(i).Type, leaf)}
		}
	}
	return s, cols, nil
}
