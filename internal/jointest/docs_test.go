package jointest

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

const list = "join/algorithms.go"

// example returns the files of the example of docs/operators.md, by their paths in the module, and the list of
// algorithms with the lines that the page adds.
func example(t *testing.T) map[string]string {
	page, err := os.ReadFile("../../docs/operators.md")
	require.NoError(t, err)
	files := make(map[string]string)
	for _, name := range []string{"hostmap.go", "hostmap_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata/hostmap", name))
		require.NoError(t, err)
		files["join/hostmap/"+name] = string(text)
	}
	lines := regexp.MustCompile("(?m)^```go\n(\t.*\n)```$").FindAllSubmatch(page, -1)
	require.Len(t, lines, 2, "an import and a row of the list")
	algorithms, err := os.ReadFile(filepath.Join("../..", list))
	require.NoError(t, err)
	text := string(algorithms)
	for i, before := range []string{"\t\"github.com/spirjoin/spirjoin/join/sortmerge\"\n", "\t{sortmerge.OM, "} {
		require.Equal(t, 1, strings.Count(text, before))
		text = strings.Replace(text, before, string(lines[i][1])+before, 1)
	}
	files[list] = text
	for path, text := range files {
		formatted, err := format.Source([]byte(text))
		require.NoError(t, err, path)
		require.Equal(t, string(formatted), text, path)
	}
	return files
}

// TestExampleOfTheDocs overlays the example of docs/operators.md on the module. The example passes its own test and, by
// its entry in the list of algorithms, the tests of joins of tables. Broken on purpose, it fails.
func TestExampleOfTheDocs(t *testing.T) {
	devicetest.HostTest(t)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, folder, overlay := example(t), t.TempDir(), make(map[string]string)
	write := func(path, text string) {
		at := filepath.Join(folder, strings.ReplaceAll(path, "/", "_"))
		overlay[filepath.Join(root, path)] = at
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	for path, text := range files {
		write(path, text)
	}
	replaced, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	overlaid := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlaid, replaced, 0o644))
	command := func(name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		c.Dir, c.Env = root, append(os.Environ(), "SPIRJOIN_TEST_DEVICES=host")
		output, err := c.CombinedOutput()
		return string(output), err
	}
	test := func(of, tests string) (string, error) { // by a binary, because the folder of the example does not exist
		binary := filepath.Join(folder, "tests")
		output, err := command("go", "test", "-overlay", overlaid, "-vet=off", "-ldflags=-s -w", "-c", "-o", binary, of)
		require.NoError(t, err, output)
		return command(binary, "-test.short", "-test.run", tests)
	}
	output, err := test("./join/hostmap", "")
	require.NoError(t, err, output)
	require.Contains(t, output, "PASS")
	if testing.Short() {
		return
	}
	output, err = test("./engine", "TestKinds|TestPredictedMemory")
	require.NoError(t, err, output)
	require.Contains(t, output, "PASS")
	const path = "join/hostmap/hostmap.go"
	for _, broken := range [][2]string{
		{"found[row].met = true", "found[row].met = false"},
		{"total += uint64(len(found[row].rows))", "total++"},
		{"e.met = false", "e.met = e.met"},
	} {
		require.Contains(t, files[path], broken[0])
		write(path, strings.Replace(files[path], broken[0], broken[1], 1))
		of, tests := "./join/hostmap", ""
		if broken[0] == "e.met = false" { // only build sides of tables are probed again, with listed algorithms
			of, tests = "./engine", "TestBuilt"
		}
		output, err := test(of, tests)
		require.Error(t, err, "%s: %s", broken[1], output)
		require.Contains(t, output, "--- FAIL", broken[1])
	}
}
