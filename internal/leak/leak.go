// Package leak fails tests that leave goroutines of this module, or blocks of the shared allocator, behind. For tests
// only; [backend.Device.Close] reports leaked device buffers.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spirjoin/spirjoin/internal/offheap"
)

const module = "github.com/spirjoin/spirjoin"

// unbegun is in the stack of a goroutine of [sync.WaitGroup.Go] that has not run yet, which does not name the function
// that it will call.
const unbegun = "[runnable]:\nsync.(*WaitGroup).Go."

// Patience is the time that a goroutine has to end after the test.
var Patience = 5 * time.Second

// Check fails the test if, after it and after cleanups registered later, goroutines of this module run that did not run
// before. Not for tests that run in parallel with others.
func Check(t testing.TB) {
	t.Helper()
	before := running()
	t.Cleanup(func() {
		for _, stack := range left(before, Patience) {
			t.Errorf("a goroutine was left:\n%s", stack)
		}
	})
}

// Main runs the tests of a package, for its TestMain, and exits with an error if goroutines of this module or blocks of
// [offheap.Shared] are left after them.
func Main(m *testing.M) {
	code := m.Run()
	if problems := found(Patience); len(problems) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: left after all tests of the package:\n%s\n", strings.Join(problems, "\n"))
		code = max(code, 1)
	}
	os.Exit(code)
}

func found(wait time.Duration) []string {
	problems := left(nil, wait)
	if blockBytes, _ := offheap.Shared.Use(); blockBytes > 0 {
		problems = append(problems, fmt.Sprintf("%d bytes of blocks of offheap.Shared", blockBytes))
	}
	return problems
}

// left returns the stacks of goroutines that are not in before and do not end in time.
func left(before map[string]string, wait time.Duration) (stacks []string) {
	pause := time.Millisecond
	for end := time.Now().Add(wait); ; {
		stacks = nil
		for id, stack := range running() {
			if _, old := before[id]; !old {
				stacks = append(stacks, stack)
			}
		}
		if len(stacks) == 0 || time.Now().After(end) {
			return stacks
		}
		time.Sleep(pause)
		pause = min(2*pause, 100*time.Millisecond)
	}
}

// running returns the stacks of the goroutines of this module by id, those that may become one included, except for
// those that run tests.
func running() map[string]string {
	all := make([]byte, 1<<20)
	for {
		n := runtime.Stack(all, true)
		if n < len(all) {
			all = all[:n]
			break
		}
		all = make([]byte, 2*len(all))
	}
	stacks := make(map[string]string)
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		ours := strings.Contains(stack, module) || strings.Contains(stack, unbegun)
		if !ours || runsTests(stack) {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		stacks[id] = stack
	}
	return stacks
}

// runsTests recognizes goroutines of package testing, and the main one, by their first function.
func runsTests(stack string) bool {
	for _, entry := range []string{"\nmain.main()", "\ntesting.tRunner(", "\ntesting.(*B).", "\ntesting.(*F)."} {
		if strings.Contains(stack, entry) {
			return true
		}
	}
	return false
}
