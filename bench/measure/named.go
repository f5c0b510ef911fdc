package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// FindFigures returns figures by name, all for "all". ErrInvalidInput for a name that none has.
func FindFigures[F any](all []F, nameOf func(*F) string, names []string) (found []F, err error) {
	if slices.Equal(names, []string{"all"}) {
		return all, nil
	}
	var known []string
	for i := range all {
		known = append(known, nameOf(&all[i]))
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("%w: no figure %q; there are %s, and all", backend.ErrInvalidInput, name,
				strings.Join(known, ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}

// TitleLine is the line above the table of a figure, whose title has the sizes before they were scaled.
func TitleLine(name, title string, scale int) string {
	if scale > 0 {
		title += fmt.Sprintf("; rows divided by 2^%d", scale)
	}
	return name + ": " + title
}

// CheckCell returns ErrInvalidInput if the text is part of none of these places of cells on their axes.
func CheckCell(cell string, places []string) error {
	if slices.ContainsFunc(places, func(place string) bool { return strings.Contains(place, cell) }) {
		return nil
	}
	const shown = 12
	var known []string
	for _, place := range places {
		if !slices.Contains(known, place) {
			known = append(known, place)
		}
	}
	more := ""
	if n := len(known) - shown; n > 0 {
		known, more = known[:shown], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w: no cell contains %q; there are %s%s", backend.ErrInvalidInput, cell,
		strings.Join(known, ", "), more)
}
