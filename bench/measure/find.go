package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// Find returns what has these names, in their order. ErrInvalidInput for a name that nothing has; what is the word for
// a thing.
func Find[T any](what string, all []T, name func(T) string, names []string) (found []T, err error) {
	var known []string
	for _, one := range all {
		known = append(known, name(one))
	}
	for _, wanted := range names {
		i := slices.Index(known, wanted)
		if i < 0 {
			return nil, fmt.Errorf("%w: no %s %q; there are %s", backend.ErrInvalidInput, what, wanted,
				strings.Join(known, ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}
