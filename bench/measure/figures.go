package measure

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Figure is a parameter sweep.
type Figure interface{ Heading() Heading }

// Heading describes a figure.
type Heading struct {
	Name  string // paper and number
	Title string
	Note  string // how it differs from the paper; may be empty
	Cells int
}

// FindFigures returns figures by name, all for "all". ErrInvalidInput for a name that none has.
func FindFigures[F Figure](all []F, names []string) (found []F, err error) {
	if slices.Equal(names, []string{"all"}) {
		return all, nil
	}
	found, err = Find("figure", all, func(f F) string { return f.Heading().Name }, names)
	if err != nil {
		return nil, fmt.Errorf("%w, and all", err)
	}
	return found, nil
}

// WriteFigures lists figures.
func WriteFigures[F Figure](w io.Writer, figures []F) {
	width := 0
	for _, f := range figures {
		width = max(width, len(f.Heading().Name))
	}
	for _, f := range figures {
		h := f.Heading()
		about := fmt.Sprintf("%s; %s", h.Title, text.Plural(h.Cells, "cell"))
		if h.Note != "" {
			about += ". " + h.Note + "."
		}
		fmt.Fprintf(w, "%-*s %s\n", width, h.Name,
			text.Fold(about, text.ReportColumns-width-1, "\n"+strings.Repeat(" ", width+1)))
	}
}

// ScaleOn is the power of 2 that divides rows on a device: the scale that is given, or if that is negative, onCPU on a
// CPU and otherwise 0.
func ScaleOn(info *backend.DeviceInfo, given, onCPU int) int {
	switch {
	case given >= 0:
		return given
	case info.CPULike():
		return onCPU
	}
	return 0
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
