// Package arch holds no code, only tests of the module's structure: imports point downward.
package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/spirjoin/spirjoin"

// room is a folder of the module with its sub-folders. A package belongs to the room with the longest matching name. A
// name that ends in "/*" matches only sub-folders; "." is the root package alone.
type room struct {
	name    string
	imports string // the other rooms that its packages may import
	outside string // roots of allowed imports from outside the module and the standard library
}

// The rooms from top to bottom. Test files are exempt.
var rooms = []room{
	{"internal/arch", "", ""},
	{"internal/cache", "", ""},
	{"internal/cputime", "", ""},
	{"internal/hugepages", "", ""},
	{"internal/offheap", "internal/hugepages", ""},
	{"internal/leak", "internal/offheap", ""},
	{"internal/golden", "", "github.com/stretchr/testify"},
	{"internal/text", "", ""},
	{"internal/selftest", ". join backend", "github.com/apache/arrow-go"},
	{"internal/devicetest", "internal/leak host vulkan vulkan/vulkantest opencl/opencltest backend",
		"github.com/stretchr/testify"},
	{"internal/recorded", "host backend", "github.com/stretchr/testify"},
	{"internal/jointest", "internal/devicetest operator relation exec primitive vulkan vulkan/vulkantest backend",
		"github.com/stretchr/testify"},
	{"internal/machines", "exchange/topology", ""},
	{"groupjoin", "engine source join query deliver groupby relation exec backend", "github.com/apache/arrow-go"},
	{"internal/jointest/oracle", "join groupby relation", "github.com/stretchr/testify github.com/apache/arrow-go"},
	{"cmd/spirjoin", "files . cluster cluster/mpi bench/primitive bench/workload tableio tableio/csv join relation exec primitive " +
		"vulkan opencl kernel backend backend/link internal/command internal/selftest internal/text",
		"github.com/urfave/cli github.com/apache/arrow-go"},
	{"cmd/spirjoin-bench", ". bench bench/primitive bench/workload bench/measure tableio join primitive vulkan " +
		"backend internal/command internal/text",
		"github.com/urfave/cli"},
	{"internal/command", ". cluster cluster/mpi bench/workload bench/measure tableio exec primitive backend internal/text",
		"github.com/urfave/cli golang.org/x"},
	{"internal/command/commandtest", "internal/command", "github.com/stretchr/testify"},
	// What spirjoin links must not import what only spirjoin-bench does, such as the plotting library.
	{"bench", "engine task source ranks cluster exchange/codec bench/primitive bench/workload bench/measure " +
		"tableio tableio/csv join query planner " +
		"join/graphics join/hash join/sortmerge groupby operator relation exec primitive host kernel backend " +
		"internal/cputime internal/offheap internal/text",
		"github.com/apache/arrow-go gonum.org/v1/plot golang.org/x"},
	{"bench/primitive", ". exchange/codec bench/workload bench/measure primitive kernel backend internal/text", "golang.org/x"},
	{"bench/workload", "tableio", "github.com/pingcap/go-tpc github.com/apache/arrow-go golang.org/x"},
	{"bench/measure", "tableio backend internal/text", "github.com/apache/arrow-go"},
	{"ranks", "engine join source query deliver task exchange exchange/shuffle exchange/codec cluster relation relation/keys " +
		"exec backend internal/text",
		"github.com/apache/arrow-go"},
	{"files", ". tableio tableio/csv exchange join relation relation/keys exec backend internal/offheap internal/text",
		"github.com/apache/arrow-go"},
	{".", "engine source groupjoin ranks cluster join query groupby relation exec primitive host vulkan opencl backend " +
		"internal/cache internal/offheap",
		"github.com/apache/arrow-go"},
	{"tableio", "tableio/dataset tableio/csv tableio/ipc tableio/parquet tableio/core relation",
		"github.com/apache/arrow-go golang.org/x"},
	{"tableio/dataset", "tableio/csv tableio/core relation relation/take", "github.com/apache/arrow-go github.com/bmatcuk/doublestar golang.org/x"},
	{"tableio/tabletest", "", "github.com/stretchr/testify pgregory.net/rapid github.com/apache/arrow-go"},
	{"tableio/csv", "tableio/core relation internal/text", "github.com/apache/arrow-go"},
	{"tableio/parquet", "tableio/parquet/columnchunk tableio/ipc tableio/core relation relation/take internal/offheap",
		"github.com/apache/arrow-go github.com/apache/thrift golang.org/x"},
	{"tableio/parquet/columnchunk", "",
		"github.com/apache/arrow-go github.com/apache/thrift github.com/klauspost/compress github.com/pierrec/lz4"},
	{"tableio/ipc", "tableio/core relation relation/take", "github.com/apache/arrow-go"},
	{"tableio/core", "backend internal/text", "github.com/apache/arrow-go"},
	{"engine", "task team join source query planner deliver exchange/topology operator relation relation/keys exec " +
		"primitive backend internal/text",
		"github.com/apache/arrow-go golang.org/x"},
	{"team", "query deliver exchange/peers primitive planner operator relation relation/keys exec backend", ""},
	{"task", "join join/hmg source query exchange exchange/peers deliver relation relation/keys relation/take exec " +
		"backend internal/text",
		"github.com/apache/arrow-go"},
	{"join", "join/graphics join/hash join/sortmerge operator relation relation/keys exec backend internal/text",
		"github.com/apache/arrow-go"},
	{"source", "relation exec backend internal/text", "github.com/apache/arrow-go"},
	{"query", "planner deliver exchange/peers operator ranges relation relation/keys relation/take exec " +
		"primitive backend backend/link internal/text",
		"github.com/apache/arrow-go"},
	{"deliver", "operator relation relation/keys relation/take exec primitive backend", "github.com/apache/arrow-go"},
	{"exchange", "relation relation/keys relation/take exec kernel backend", "github.com/apache/arrow-go golang.org/x"},
	{"exchange/peers", "operator relation exec primitive backend backend/link", ""},
	{"exchange/shuffle", "cluster source exchange exchange/codec relation exec primitive kernel backend", "github.com/apache/arrow-go"},
	{"exchange/codec", "relation exec primitive kernel backend", ""},
	{"exchange/topology", "", ""},
	{"cluster", "backend", ""},
	{"cluster/mpi", "cluster backend", "github.com/ebitengine/purego golang.org/x"},
	{"cluster/clustertest", "cluster exec backend", ""},
	{"join/hmg", "exchange exchange/peers operator relation exec primitive backend", ""},
	{"join/graphics", "operator relation exec primitive kernel backend", ""},
	{"join/hash", "ranges operator relation exec primitive kernel backend", ""},
	{"join/sortmerge", "ranges operator relation exec primitive kernel backend", ""},
	{"groupby", "groupby/* query deliver operator exchange internal/text relation relation/keys relation/take exec " +
		"primitive backend",
		"github.com/apache/arrow-go golang.org/x"},
	{"groupby/*", "operator relation exec primitive kernel backend", ""},
	{"planner", "exchange/topology operator relation exec primitive backend internal/text", ""},
	{"operator", "relation exec primitive kernel backend", ""},
	{"ranges", "operator relation exec primitive backend", ""},
	{"relation/keys", "relation relation/take primitive kernel backend", "github.com/apache/arrow-go"},
	{"relation/take", "relation primitive backend", "github.com/apache/arrow-go"},
	{"relation/relationtest", "", "github.com/apache/arrow-go"},
	{"relation", "primitive kernel backend internal/offheap internal/text", "github.com/apache/arrow-go golang.org/x"},
	{"exec", "primitive backend", ""},
	{"primitive", "kernel backend", ""},
	{"host", "backend internal/hugepages", ""},
	{"vulkan", "kernel shaders backend internal/cache internal/hugepages",
		"github.com/vulkan-go/vulkan github.com/ebitengine/purego"},
	{"vulkan/vulkantest", "vulkan backend", ""},
	{"opencl", "opencl/kernels backend internal/cache internal/offheap", "github.com/jgillich/go-opencl"},
	{"opencl/opencltest", "opencl backend", ""},
	{"opencl/kernels", "", ""},
	{"shaders", "", ""},
	{"backend/backendtest", "kernel kernel/kerneltest backend backend/link", "github.com/stretchr/testify pgregory.net/rapid"},
	{"kernel/kerneltest", "kernel shaders backend", ""},
	{"kernel", "backend", ""},
	{"backend/link", "backend internal/offheap", ""},
	{"backend", "", ""},
}

// goPackage is the output of `go list -json` for a package: its path and the imports of its files and its test files.
type goPackage struct {
	ImportPath                string
	Imports                   []string
	TestImports, XTestImports []string
}

func TestImportsPointDownward(t *testing.T) {
	var all []goPackage
	for _, tags := range []string{"", "opencl"} {
		t.Run("tags="+tags, func(t *testing.T) {
			packages := list(t, tags)
			require.True(t, slices.ContainsFunc(packages,
				func(p goPackage) bool { return p.ImportPath == module+"/backend" }), "go list does not see the module")
			require.Empty(t, violations(packages),
				"DESIGN: imports point downward; the table is in internal/arch/imports_test.go")
			all = append(all, packages...)
		})
	}
	require.Empty(t, unused(rooms, all), "delete them from the table")
}

func TestUnusedRowsAreFound(t *testing.T) {
	table := []room{{"backend", "internal/text", "golang.org/x"}, {"internal/text", "", ""}, {"tools", "backend", ""}}
	used := []goPackage{{ImportPath: module + "/backend", Imports: []string{module + "/internal/text", "fmt"}},
		{ImportPath: module + "/internal/text"}}
	require.Equal(t, []string{"backend imports nothing of golang.org/x", "tools has no package"}, unused(table, used))
	used[0].Imports = []string{module + "/relation", "golang.org/x/sync/errgroup"}
	require.Equal(t, []string{"backend imports nothing of internal/text", "tools has no package"}, unused(table, used))
}

func TestViolationsAreFound(t *testing.T) {
	planted := func(path string, imports ...string) []string {
		return violations([]goPackage{{ImportPath: module + path, Imports: imports}})
	}
	in := func(path string) string { return module + path }

	require.Empty(t, planted("/backend", "fmt", "unsafe", "C", "net/http"))
	require.Empty(t, planted("/engine", in("/query"), in("/relation")))
	require.Empty(t, planted("/join/hash/table", in("/join/hash"), in("/primitive/scan")), "a room imports itself")
	require.Empty(t, planted("/cmd/spirjoin", module, in("/bench/workload"), "github.com/urfave/cli/v2"))

	require.Equal(t, []string{"primitive must not import relation (rooms primitive and relation)"},
		planted("/primitive", in("/relation")), "upward")
	require.Equal(t, []string{"join/sortmerge must not import join (rooms join/sortmerge and join)"},
		planted("/join/sortmerge", in("/join")))
	require.Equal(t, []string{"join/hash must not import join/sortmerge (rooms join/hash and join/sortmerge)"},
		planted("/join/hash", in("/join/sortmerge")), "algorithms do not know one another")
	require.Equal(t, []string{"cmd/spirjoin must not import bench/graphics (rooms cmd/spirjoin and bench)"},
		planted("/cmd/spirjoin", in("/bench/graphics")))
	require.Equal(t, []string{"host must not import vulkan/shim (rooms host and vulkan)"},
		planted("/host", in("/vulkan/shim")), "sideways")
	require.Equal(t, []string{"shaders must not import kernel (rooms shaders and kernel)"},
		planted("/shaders", in("/kernel")))
	require.Equal(t, []string{"join must not import the root package (rooms join and .)"}, planted("/join", module))
	require.Equal(t, []string{"backend must not import golang.org/x/sync/errgroup (from outside)"},
		planted("/backend", "golang.org/x/sync/errgroup"))
	require.Equal(t, []string{"vulkan must not import github.com/vulkan-go/vulkanx (from outside)"},
		planted("/vulkan", "github.com/vulkan-go/vulkanx"))
	require.Equal(t, []string{"util belongs to no room"}, planted("/util", in("/backend")))
	require.Equal(t, []string{"joiner belongs to no room"}, planted("/joiner"), "a common prefix is not a folder")
	require.Equal(t, []string{"cmd/spirjoin must not import util, which belongs to no room"},
		planted("/cmd/spirjoin", in("/util")))
}

// leakFree are the rooms whose tests neither start goroutines nor open devices, or cannot import internal/leak.
const leakFree = "internal/arch internal/cache internal/hugepages internal/offheap internal/text " +
	"kernel/generate shaders"

func TestEveryPackageLooksForLeaks(t *testing.T) {
	packages := list(t, "")
	require.Empty(t, unguarded(packages), "their tests need a TestMain that calls leak.Main")
	require.Equal(t, []string{"join"}, unguarded([]goPackage{
		{ImportPath: module + "/join", XTestImports: []string{"testing"}},
		{ImportPath: module + "/exec", TestImports: []string{"testing", module + "/internal/leak"}},
		{ImportPath: module + "/shaders", TestImports: []string{"testing"}},
		{ImportPath: module + "/operator"},
	}))
}

// unguarded lists the packages with tests that do not use internal/leak.
func unguarded(packages []goPackage) (names []string) {
	for _, p := range packages {
		imports := slices.Concat(p.TestImports, p.XTestImports)
		name := inModule(p.ImportPath)
		if len(imports) > 0 && !slices.Contains(imports, module+"/internal/leak") && name != "internal/leak" &&
			!slices.Contains(strings.Fields(leakFree), name) {
			names = append(names, name)
		}
	}
	return names
}

// violations lists every import that the table does not allow, and every package outside its rooms.
func violations(packages []goPackage) []string {
	var found []string
	for _, p := range packages {
		name := inModule(p.ImportPath)
		home, known := roomOf(name)
		if !known {
			found = append(found, name+" belongs to no room")
			continue
		}
		for _, path := range p.Imports {
			target := inModule(path)
			switch other, known := roomOf(target); {
			case target == "":
				if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") &&
					!slices.ContainsFunc(strings.Fields(home.outside),
						func(root string) bool { return within(path, root) }) {
					found = append(found, fmt.Sprintf("%s must not import %s (from outside)", title(name), path))
				}
			case !known:
				found = append(found,
					fmt.Sprintf("%s must not import %s, which belongs to no room", title(name), target))
			case other != home && !slices.Contains(strings.Fields(home.imports), other.name):
				found = append(found, fmt.Sprintf("%s must not import %s (rooms %s and %s)", title(name), title(target),
					home.name, other.name))
			}
		}
	}
	return found
}

// unused lists the rooms of a table without a package, and the imports that it allows and no package of a room has.
func unused(table []room, packages []goPackage) (found []string) {
	for _, r := range table {
		occupied, imported := false, make(map[string]bool)
		for _, p := range packages {
			if home, _ := roomOf(inModule(p.ImportPath)); home.name != r.name {
				continue
			}
			occupied = true
			for _, path := range p.Imports {
				if other, ok := roomOf(inModule(path)); ok {
					imported[other.name] = true
				}
				for _, root := range strings.Fields(r.outside) {
					imported[root] = imported[root] || within(path, root)
				}
			}
		}
		if !occupied {
			found = append(found, r.name+" has no package")
			continue
		}
		for _, allowed := range strings.Fields(r.imports + " " + r.outside) {
			if !imported[allowed] {
				found = append(found, r.name+" imports nothing of "+allowed)
			}
		}
	}
	return found
}

// inModule returns the folder of a package of this module, "." for the root and "" for other packages.
func inModule(path string) string {
	if path == module {
		return "."
	}
	folder, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	return folder
}

func roomOf(folder string) (room, bool) {
	var best room
	for _, r := range rooms {
		parent, below := strings.CutSuffix(r.name, "/*")
		if within(folder, parent) && !(below && folder == parent) && len(r.name) > len(best.name) {
			best = r
		}
	}
	return best, best.name != ""
}

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func title(folder string) string {
	if folder == "." {
		return "the root package"
	}
	return folder
}

// list runs go list over the module. It does not include nested modules such as bench/duckdb.
func list(t *testing.T, tags string) []goPackage {
	command := exec.Command("go", "list", "-e", "-tags="+tags, "-json=ImportPath,Imports,TestImports,XTestImports",
		"./...")
	command.Dir = "../.."
	output, err := command.Output()
	require.NoError(t, err)
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			require.NoError(t, err)
		}
		packages = append(packages, p)
	}
}
