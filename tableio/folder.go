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
//
// Several processes can write one folder. One of them begins it by MakeFolder, then the others by ShareFolder. Each
// adds its parts and lets them appear by CommitParts. When all have done so, the first one writes the manifest by List,
// and then all call Keep. If any of them fails, all call Abort. The caller has them wait for one another.
type Folder struct {
	path    string
	parts   []*Writer
	names   []string
	created bool // the folder did not exist before
	listed  bool // the manifest has appeared
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
	f, err := MakeFolder(path, overwrite)
	if err != nil {
		return nil, err
	}
	for part, schema := range schemas {
		if _, err := f.Add(part, len(schemas), schema, opts); err != nil {
			return nil, core.JoinFaults(err, f.Abort())
		}
	}
	return f, nil
}

// MakeFolder is CreateFolder without parts, which Add begins.
func MakeFolder(path string, overwrite bool) (*Folder, error) {
	f := &Folder{path: path}
	if err := f.open(overwrite); err != nil {
		return nil, core.JoinFaults(fail(ErrOutput, "create", path, err), f.Abort())
	}
	return f, nil
}

// ShareFolder begins the parts of this process in a folder that another one has begun; created says whether it is new.
// Errors wrap ErrOutput.
func ShareFolder(path string, created bool) (*Folder, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, fail(ErrOutput, "create", path, errors.New("another process has made this folder, and this one "+
			"does not see it; choose a folder in a file system that all share"))
	}
	return &Folder{path: path, created: created}, nil
}

// Created reports whether the folder is new.
func (f *Folder) Created() bool { return f.created }

// Add begins part number of all parts. The format, if opts has none, is Parquet. The caller neither commits nor aborts
// the writer. Errors wrap ErrOutput.
func (f *Folder) Add(number, all int, schema *arrow.Schema, opts WriteOptions) (*Writer, error) {
	if opts.Format == Auto {
		opts.Format = Parquet
	}
	name := fmt.Sprintf("%s%05d-of-%05d%s", partPrefix, number, all, opts.Format.extension())
	w, err := Create(filepath.Join(f.path, name), schema, opts)
	if err != nil {
		return nil, fail(ErrOutput, "create", f.path, err)
	}
	f.parts, f.names = append(f.parts, w), append(f.names, name)
	return w, nil
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
	parts, err := f.CommitParts(ctx)
	if err == nil {
		err = f.List(parts, about)
	}
	if err != nil {
		return core.JoinFaults(err, f.Abort())
	}
	f.Keep()
	return nil
}

// CommitParts lets the parts appear, and returns what the manifest says of them. Errors wrap ErrOutput.
func (f *Folder) CommitParts(ctx context.Context) (parts []PartManifest, err error) {
	for i, w := range f.parts {
		if err := w.Commit(ctx); err != nil {
			return nil, fail(ErrOutput, "commit", f.path, err)
		}
		parts = append(parts, PartManifest{File: f.names[i], Rows: w.Rows()})
	}
	return parts, nil
}

// List removes parts of an earlier output, and writes the manifest: these are all parts. Errors wrap ErrOutput.
func (f *Folder) List(parts []PartManifest, about any) error {
	return fail(ErrOutput, "commit", f.path, f.list(Manifest{Parts: append([]PartManifest{}, parts...), About: about}))
}

func (f *Folder) list(m Manifest) error {
	current := map[string]bool{}
	for _, p := range m.Parts {
		if _, err := os.Stat(filepath.Join(f.path, p.File)); err != nil {
			return fmt.Errorf("part %s is not there; choose a folder in a file system that all processes share", p.File)
		}
		m.Rows, current[p.File] = m.Rows+p.Rows, true
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
	err = manifest.commit()
	f.listed = err == nil
	return err
}

// Keep ends the output: Abort does nothing any more.
func (f *Folder) Keep() { f.ended = true }

// Abort removes all parts, also parts that have appeared, the manifest, and the folder if it is new and
// empty. It may be called again, and does nothing after Commit. Errors wrap ErrOutput.
func (f *Folder) Abort() error {
	if f.ended {
		return nil
	}
	f.ended = true
	var err error
	if f.listed {
		err = os.Remove(filepath.Join(f.path, ManifestName))
	}
	for i, w := range f.parts {
		err = core.JoinFaults(err, w.Abort())
		if w.state == committed {
			err = core.JoinFaults(err, os.Remove(filepath.Join(f.path, f.names[i])))
		}
	}
	if f.created {
		_ = os.Remove(f.path) // not empty while other processes have parts, or if somebody else put a file there
	}
	return fail(ErrOutput, "abort", f.path, err)
}
