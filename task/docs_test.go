package task

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

// The lines around the listings of docs/extending.md.
const (
	exampleHead = `package task

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

`
	exampleTest = `package task

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

func TestDealt(t *testing.T) {
	left, right := numbers(t, 0, 10, 1), numbers(t, 5, 8, 1)
	layout, err := join.NewLayout(left.Schema(), right.Schema(),
		join.Spec{How: join.Semi, On: []string{"k"}, Output: join.Count})
	require.NoError(t, err)
	whole := Whole(layout, source.FromTable(left), source.FromTable(right), nil)
	read := make(map[string][2][]int64)
`
	exampleReads = `		var rows [2][]int64
		for side, s := range of.Sources {
			var err error
			if rows[side], err = keysOf(ctx, s.Batches); err != nil {
				return nil, err
			}
		}
		read[of.name] = rows
`
)

// TestExampleOfTheDocs overlays the policy of docs/extending.md on the package. Its test passes there, and fails with a
// fault in the policy.
func TestExampleOfTheDocs(t *testing.T) {
	devicetest.HostTest(t)
	page, err := os.ReadFile("../docs/extending.md")
	require.NoError(t, err)
	var listings []string
	for _, l := range regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		listings = append(listings, l[1])
	}
	require.Len(t, listings, 3, "the policy, its case of Divide, and its test")
	replace := func(text, old, by string) string {
		require.Equal(t, 1, strings.Count(text, old), old)
		return strings.Replace(text, old, by, 1)
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	const choice = `	var policy Policy = &blocks{sides: both, run: run}
	if byKey {
		policy = &parts{sides: both}
	}
`
	files := map[string]string{
		"dealt.go":  exampleHead + listings[0],
		"divide.go": replace(read("divide.go"), choice, listings[1]),
		"policy.go": replace(read("policy.go"), "type Knobs struct {\n", "type Knobs struct {\n\tDeal int\n"),
		"dealt_test.go": exampleTest + replace(listings[2],
			"\t\t// ... reads of.Sources into read[of.name]\n", exampleReads) + "}\n",
	}
	formatted, err := format.Source([]byte(files["dealt.go"]))
	require.NoError(t, err)
	require.Equal(t, string(formatted), files["dealt.go"])

	folder, overlay := t.TempDir(), make(map[string]string)
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	for name, text := range files {
		overlay[filepath.Join(here, name)] = filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	overlaid := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlaid, list, 0o644))
	run := func() (string, error) {
		output, err := exec.Command("go", "test", "-vet=off", "-overlay", overlaid, "-run", "^TestDealt$", "-v", ".").
			CombinedOutput()
		return string(output), err
	}
	output, err := run()
	require.NoError(t, err, output)
	require.Contains(t, output, "--- PASS: TestDealt")
	if testing.Short() {
		return
	}
	broken := replace(files["dealt.go"], "i += d.tasks", "i++")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "dealt.go"), []byte(broken), 0o644))
	output, err = run()
	require.Error(t, err)
	require.Contains(t, output, "--- FAIL: TestDealt")
}
