package spirjoin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// checker type-checks Go text that uses this module.
type checker struct {
	files    *token.FileSet
	importer types.Importer
}

// newChecker knows the packages and what they import, from the cache of the compiler.
func newChecker(t *testing.T, packages ...string) *checker {
	devicetest.SkipRace(t) // which has a cache of its own
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, packages...)
	out, err := exec.Command("go", args...).Output()
	require.NoError(t, err)
	compiled := make(map[string]string)
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err = decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		compiled[p.ImportPath] = p.Export
	}
	c := &checker{files: token.NewFileSet()}
	c.importer = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(compiled[path])
	})
	return c
}

// check returns the errors of a file, but for variables and imports that it does not use.
func (c *checker) check(text string) (faults []error) {
	file, err := parser.ParseFile(c.files, "page.go", text, 0)
	if err != nil {
		return []error{err}
	}
	config := types.Config{Importer: c.importer, Error: func(err error) {
		if fault, ok := err.(types.Error); !ok || !fault.Soft {
			faults = append(faults, err)
		}
	}}
	_, _ = config.Check("page", c.files, []*ast.File{file}, nil)
	return faults
}

// What the Go text of the pages finds: packages, and variables whose making a page leaves out.
const ofPages = `package page

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

var (
	ctx                                   context.Context
	engine                                *spirjoin.Engine
	orders, lineitem, customer, customers arrow.Table
	ordersByDay                           []arrow.Table
	ordersReader                          array.RecordReader
	schema                                *arrow.Schema
)

%s
`

// fileOf completes a Go text of a page: declarations stand as they are, statements in a function.
func fileOf(code string) string {
	if !strings.HasPrefix(code, "func ") {
		code = "func page() {\n" + code + "}\n"
	}
	return fmt.Sprintf(ofPages, code)
}

// The Go text of the pages is formatted, and compiles.
func TestPagesCompile(t *testing.T) {
	c := newChecker(t, ".", "./primitive", "./backend", "fmt")
	require.NotEmpty(t, c.check(fileOf("engine.Jion()\n")))
	block, left := regexp.MustCompile("(?ms)^```go\n(.*?)^```$"), regexp.MustCompile(`(?m)^\t*\.\.\.\n`)
	for _, name := range []string{"README.md", "docs/groupby.md", "docs/tuning.md"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		blocks := block.FindAllSubmatch(text, -1)
		require.NotEmpty(t, blocks, name)
		for _, found := range blocks {
			code := left.ReplaceAllString(string(found[1]), "")
			formatted, err := format.Source([]byte(code))
			require.NoError(t, err, name)
			require.Equal(t, string(formatted), code, name)
			require.Empty(t, c.check(fileOf(code)), "%s:\n%s", name, code)
		}
	}
}

// The comments of the types that this package has of others name those types, and methods that they have.
func TestCommentsOfTypes(t *testing.T) {
	c := newChecker(t, ".")
	file, err := parser.ParseFile(c.files, "spirjoin.go", nil, parser.ParseComments)
	require.NoError(t, err)
	here, err := c.importer.Import("github.com/spirjoin/spirjoin")
	require.NoError(t, err)
	link, method := regexp.MustCompile(`\[([a-z]\w*)\.(\w+)\]`), regexp.MustCompile(`(?m)^\t(\w+)\(`)
	linked, listed := 0, 0
	for _, declared := range file.Decls {
		of, ok := declared.(*ast.GenDecl)
		if !ok || of.Tok != token.TYPE || of.Doc == nil || len(of.Specs) != 1 {
			continue
		}
		name := of.Specs[0].(*ast.TypeSpec).Name.Name
		named := types.Unalias(here.Scope().Lookup(name).Type()).(*types.Named)
		for _, found := range link.FindAllStringSubmatch(of.Doc.Text(), -1) {
			linked++
			require.Equal(t, path.Base(named.Obj().Pkg().Path())+"."+named.Obj().Name(), found[1]+"."+found[2], name)
		}
		for _, found := range method.FindAllStringSubmatch(of.Doc.Text(), -1) {
			listed++
			object, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, nil, found[1])
			require.NotNil(t, object, "%s.%s", name, found[1])
		}
	}
	require.GreaterOrEqual(t, linked, 4)
	require.GreaterOrEqual(t, listed, 9)
}
