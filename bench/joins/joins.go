// Package joins measures joins of relations that are on a device: the workloads of GFTR 5.1 and 5.2 by every algorithm.
// Each answer is verified before it is timed.
package joins

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/auto"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
)

// Algorithm is a way to join two relations that are on a device.
type Algorithm struct {
	Name string
	join func(ctx context.Context, lane *exec.Lane, left, right resident.Relation) (*resident.Result, error)
}

// unique says that the side with fewer rows must not have a key twice.
func (a Algorithm) unique() bool { return strings.HasSuffix(a.Name, "-unique") }

// Algorithms are all there are; the names of materialising ones are those of GFTR 5.1.
func Algorithms() []Algorithm {
	hashed := func(name string, o hash.Options) Algorithm {
		return Algorithm{name,
			func(ctx context.Context, lane *exec.Lane, left, right resident.Relation) (*resident.Result, error) {
				return hash.Join(ctx, lane, left, right, o)
			}}
	}
	sorted := func(name string, o sortmerge.Options) Algorithm {
		return Algorithm{name,
			func(ctx context.Context, lane *exec.Lane, left, right resident.Relation) (*resident.Result, error) {
				return sortmerge.Join(ctx, lane, left, right, o)
			}}
	}
	return []Algorithm{
		hashed("phj-om", hash.Options{}),
		hashed("phj-om-unique", hash.Options{Unique: true}),
		hashed("phj-om-single", hash.Options{OneByOne: true}),
		hashed("phj-om-count", hash.Options{CountFirst: true}),
		hashed("phj-om-pages-1", hash.Options{PageRows: 1}),
		hashed("phj-om-pages-2", hash.Options{PageRows: 2}),
		hashed("phj-om-pages-4", hash.Options{PageRows: 4}),
		hashed("phj-om-pages-8", hash.Options{PageRows: 8}),
		hashed("phj-um", hash.Options{Untransformed: true}),
		hashed("hj", hash.Options{Unpartitioned: true}),
		hashed("hj-unique", hash.Options{Unpartitioned: true, Unique: true}),
		sorted("smj-om", sortmerge.Options{}),
		sorted("smj-om-single", sortmerge.Options{OneByOne: true}),
		sorted("smj-om-count", sortmerge.Options{CountFirst: true}),
		sorted("smj-om-merge", sortmerge.Options{MergeSort: true}),
		sorted("smj-um", sortmerge.Options{Untransformed: true}),
		sorted("smj-um-merge", sortmerge.Options{Untransformed: true, MergeSort: true}),
		{"auto", func(ctx context.Context, lane *exec.Lane, left, right resident.Relation) (*resident.Result, error) {
			result, _, err := auto.Join(ctx, lane, left, right)
			return result, err
		}},
	}
}

// Names returns the names of all algorithms.
func Names() (names []string) {
	for _, a := range Algorithms() {
		names = append(names, a.Name)
	}
	return names
}

// Find returns algorithms by name, all for none and for "all".
func Find(names []string) (found []Algorithm, err error) {
	if len(names) == 0 || slices.Equal(names, []string{"all"}) {
		return Algorithms(), nil
	}
	known := Names()
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("%w: no join %q; there are %s", backend.ErrInvalidInput, name,
				strings.Join(known, ", "))
		}
		found = append(found, Algorithms()[i])
	}
	return found, nil
}
