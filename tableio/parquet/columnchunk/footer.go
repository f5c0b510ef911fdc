package columnchunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/thrift/lib/go/thrift"
)

// RepairFooter reads a footer that arrow-go 18.8 refuses as a whole because of annotations of single fields:
//
//   - An annotation of a kind that is not known here, from a newer version of the format, does not count: the column is
//     read as what it is stored as. Nor does UNKNOWN for a group.
//   - A field whose annotations do not suit its columns, or that lacks a length, cannot be read. It loses its annotations
//     and types, and its error is in faults, by the number of the field.
//
// Other faults are errors.
func RepairFooter(footer []byte) (meta *metadata.FileMetaData, faults map[int]error, err error) {
	first, err := emptyFooter("")
	if err != nil {
		return nil, nil, err
	}
	bounded := &thrift.TConfiguration{MaxMessageSize: int32(len(footer)) + 1} // also of lists
	protocol := thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(footer)}, bounded)
	if err := first.FileMetaData.Read(context.Background(), protocol); err != nil {
		return nil, nil, err
	}
	if meta, err = emptyFooter(first.GetCreatedBy()); err != nil { // that of its writer, whose version counts
		return nil, nil, err
	}
	meta.FileMetaData = first.FileMetaData
	elements := meta.GetSchema()
	starts, err := fieldStarts(elements)
	if err != nil {
		return nil, nil, err
	}
	faults = map[int]error{}
	for i := range len(starts) - 1 {
		_, err := fieldNode(meta, starts[i], starts[i+1])
		if err == nil {
			continue
		}
		own := elements[starts[i]:starts[i+1]]
		for _, e := range own {
			if logical := e.GetLogicalType(); logical != nil &&
				(logical.CountSetFieldsLogicalType() != 1 || e.GetNumChildren() > 0 && logical.IsSetUNKNOWN()) {
				e.LogicalType = nil
			}
		}
		if _, again := fieldNode(meta, starts[i], starts[i+1]); again == nil {
			continue
		}
		for _, e := range own {
			e.LogicalType, e.ConvertedType = nil, nil
			if e.Type != nil {
				*e.Type = byteArray // which needs no length
			}
		}
		if _, again := fieldNode(meta, starts[i], starts[i+1]); again != nil {
			return nil, nil, again
		}
		faults[i] = err
	}
	err = caught(func() error {
		root, err := schema.FromParquet(elements)
		if err == nil {
			meta.Schema = schema.NewSchema(root.(*schema.GroupNode))
		}
		return err
	})
	return meta, faults, err
}

const byteArray = 6 // in parquet.thrift

// emptyFooter makes the metadata of a file of a writer. arrow-go exports no other way to its type.
func emptyFooter(createdBy string) (*metadata.FileMetaData, error) {
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nil, -1)
	if err != nil {
		return nil, err
	}
	properties := parquet.NewWriterProperties(parquet.WithCreatedBy(createdBy))
	return metadata.NewFileMetadataBuilder(schema.NewSchema(root), properties, nil).Finish()
}

// fieldStarts returns where the elements of each top-level field begin in a schema, and behind them where the last ends.
func fieldStarts[E interface{ GetNumChildren() int32 }](elements []E) ([]int, error) {
	if len(elements) == 0 {
		return nil, errors.New("the schema is empty")
	}
	starts, at := []int{1}, 1
	for range elements[0].GetNumChildren() {
		for open := 1; open > 0; at++ {
			if at >= len(elements) {
				return nil, errors.New("the schema ends early")
			}
			open += max(0, int(elements[at].GetNumChildren())) - 1
		}
		starts = append(starts, at)
	}
	return starts, nil
}

// fieldNode makes the node of the top-level field whose elements are [start, end).
func fieldNode(meta *metadata.FileMetaData, start, end int) (node schema.Node, err error) {
	elements := meta.GetSchema()
	root, one := *elements[0], int32(1)
	root.NumChildren, root.LogicalType, root.ConvertedType = &one, nil, nil
	err = caught(func() error {
		parent, err := schema.FromParquet(append(append(elements[:0:0], &root), elements[start:end]...))
		if err == nil {
			node = parent.(*schema.GroupNode).Field(0)
		}
		return err
	})
	return node, err
}

// caught runs f and makes a panic of the library an error.
func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}
