package tableio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// ManifestName is the name of the file that completes an output folder.
const ManifestName = "manifest.json"

// partPrefix begins the names of parts.
const partPrefix = "part-"

// Folder is an output of several files, its parts. Each part appears whole, and the manifest, which lists them, comes
// last: a folder without a manifest is not complete. It is used by one goroutine; end it with Commit or Abort
// ("defer f.Abort()" is harmless after Commit).
type Folder struct {
	path    string
	parts   []*Writer
	names   []string
	created bool // the folder did not exist before
	ended   bool
}

// Manifest is the content of the manifest.
type Manifest struct {
	Rows  int64          `json:"rows"`
	Parts []PartManifest `json:"parts"`
	About any            `json:"about,omitempty"` // what the parts are
}

// PartManifest is a part in a manifest.
type PartManifest struct {
	File string `json:"file"` // its name in the folder
	Rows int64  `json:"rows"`
}

// CreateFolder begins an output in the folder at path, of a part for each schema. It creates the folder if there is
// none. A folder that has files is refused, unless overwrite says to replace an earlier output: then it may have parts
// and a manifest alone. The earlier manifest is removed at once, parts with other names by Commit. The
// format, if opts has none, is Parquet.
//
// Errors wrap ErrOutput.
func CreateFolder(path string, schemas []*arrow.Schema, overwrite bool, opts WriteOptions) (*Folder, error) {
	f := &Folder{path: path}
	if opts.Format == Auto {
		opts.Format = Parquet
	}
	err := f.open(overwrite)
	for part, schema := range schemas {
		if err != nil {
			break
		}
		var w *Writer
		name := fmt.Sprintf("%s%05d-of-%05d%s", partPrefix, part, len(schemas), opts.Format.extension())
		if w, err = Create(filepath.Join(path, name), schema, opts); err == nil {
			f.parts, f.names = append(f.parts, w), append(f.names, name)
		}
	}
	if err != nil {
		return nil, core.JoinFaults(fail(ErrOutput, "create", path, err), f.Abort())
	}
	return f, nil
}

// open makes the folder, or checks what it has.
func (f *Folder) open(overwrite bool) error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, os.ErrNotExist) {
		f.created = true
		return os.Mkdir(f.path, 0o777)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case !overwrite:
			return errors.New("the folder has files already; choose another one, or set overwrite")
		case !isOutput(e):
			return fmt.Errorf("%q is no part of an earlier output, so the folder is not overwritten", e.Name())
		}
	}
	if err := os.Remove(filepath.Join(f.path, ManifestName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// isOutput reports whether a file is a part or a manifest.
func isOutput(e os.DirEntry) bool {
	return e.Type().IsRegular() && (e.Name() == ManifestName || strings.HasPrefix(e.Name(), partPrefix))
}

// Part returns the writer of a part. The caller neither commits nor aborts it.
func (f *Folder) Part(number int) *Writer { return f.parts[number] }

// Commit lets all parts appear, removes parts of an earlier output, and writes the manifest. about is what it says of
// the parts, as JSON; nil: nothing. On an error the folder is aborted. Errors wrap ErrOutput.
func (f *Folder) Commit(ctx context.Context, about any) error {
	err := f.commit(ctx, about)
	if err != nil {
		return core.JoinFaults(fail(ErrOutput, "commit", f.path, err), f.Abort())
	}
	f.ended = true
	return nil
}

func (f *Folder) commit(ctx context.Context, about any) error {
	m := Manifest{Parts: []PartManifest{}, About: about}
	current := map[string]bool{}
	for i, w := range f.parts {
		if err := w.Commit(ctx); err != nil {
			return err
		}
		current[f.names[i]] = true
		m.Rows, m.Parts = m.Rows+w.Rows(), append(m.Parts, PartManifest{File: f.names[i], Rows: w.Rows()})
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isOutput(e) && !current[e.Name()] {
			if err := os.Remove(filepath.Join(f.path, e.Name())); err != nil {
				return err
			}
		}
	}
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	manifest, err := createFile(filepath.Join(f.path, ManifestName))
	if err != nil {
		return err
	}
	if _, err := manifest.file.Write(append(content, '\n')); err != nil {
		return core.JoinFaults(err, manifest.abort())
	}
	return manifest.commit()
}

// Abort removes all parts, also parts that have appeared, and the folder if it is new. It may be called again, and does
// nothing after Commit. Errors wrap ErrOutput.
func (f *Folder) Abort() error {
	if f.ended {
		return nil
	}
	f.ended = true
	var err error
	for i, w := range f.parts {
		err = core.JoinFaults(err, w.Abort())
		if w.state == committed {
			err = core.JoinFaults(err, os.Remove(filepath.Join(f.path, f.names[i])))
		}
	}
	if f.created {
		_ = os.Remove(f.path) // not empty if somebody else put a file there
	}
	return fail(ErrOutput, "abort", f.path, err)
}
