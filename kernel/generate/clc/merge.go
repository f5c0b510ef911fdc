package clc

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// piece is a part of one or more variants.
type piece struct {
	Part
	in     []bool // by variant
	after  map[*piece]bool
	placed bool
}

// merge writes what all variants of a kernel have in common once and the rest under #if. Equal texts are one piece; a
// piece follows the pieces that it names.
func merge(axes []backend.Axis, variants []translated) (string, error) {
	pieces, err := order(collect(variants))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	open := ""
	for _, p := range pieces {
		guard := condition(axes, variants, p.in)
		if guard != open && open != "" {
			b.WriteString("#endif\n\n")
		}
		if guard != open && guard != "" {
			b.WriteString("#if " + guard + "\n")
		}
		open = guard
		b.WriteString(p.Text + "\n")
	}
	if open != "" {
		b.WriteString("#endif\n")
	}
	return strings.ReplaceAll(b.String(), "\n\n#endif", "\n#endif"), nil
}

func collect(variants []translated) (pieces []*piece) {
	byText := map[string]*piece{}
	for i, v := range variants {
		named := map[string]*piece{}
		for _, part := range v.Parts {
			p := byText[part.Text]
			if p == nil {
				p = &piece{Part: part, in: make([]bool, len(variants)), after: map[*piece]bool{}}
				byText[part.Text] = p
				pieces = append(pieces, p)
			}
			p.in[i] = true
			for _, word := range words(part.Text) {
				if earlier := named[word]; earlier != nil && earlier != p {
					p.after[earlier] = true
				}
			}
			named[part.Name] = p
		}
	}
	return pieces
}

var identifier = regexp.MustCompile(`(->|\.)?\b[A-Za-z_][A-Za-z0-9_]*`)

// words are the names in a text that are not those of members.
func words(text string) []string {
	return slices.DeleteFunc(identifier.FindAllString(text, -1), func(word string) bool {
		return word[0] == '.' || word[0] == '-'
	})
}

// order puts pieces behind those that they use, and those of the same variants side by side where possible.
func order(pieces []*piece) ([]*piece, error) {
	var ordered []*piece
	ready := func(p *piece) bool {
		if p.placed {
			return false
		}
		for q := range p.after {
			if !q.placed {
				return false
			}
		}
		return true
	}
	for len(ordered) < len(pieces) {
		var next *piece
		for _, p := range pieces {
			if !ready(p) {
				continue
			}
			if next == nil {
				next = p
			}
			if len(ordered) > 0 && slices.Equal(p.in, ordered[len(ordered)-1].in) {
				next = p
				break
			}
		}
		if next == nil {
			return nil, fmt.Errorf("variants use each other's parts in a circle")
		}
		next.placed = true
		ordered = append(ordered, next)
	}
	return ordered, nil
}

// condition is what the preprocessor tests for some of the variants of a kernel; empty for all of them. It is a list of
// terms, each a range of values for every axis that matters, which takes in as many of these variants as it can and no
// others.
func condition(axes []backend.Axis, variants []translated, in []bool) string {
	var terms []string
	covered := make([]bool, len(variants))
	for i, v := range variants {
		if !in[i] || covered[i] {
			continue
		}
		allowed := make([][]uint32, len(axes))
		for a := range axes {
			allowed[a] = []uint32{v.values[a]}
		}
		matches := func(w translated) bool {
			for a := range axes {
				if !slices.Contains(allowed[a], w.values[a]) {
					return false
				}
			}
			return true
		}
		for a, axis := range axes {
			for _, value := range axis.Values {
				if slices.Contains(allowed[a], value) {
					continue
				}
				narrower := allowed[a]
				allowed[a] = append(slices.Clone(narrower), value)
				for j, w := range variants {
					if !in[j] && matches(w) {
						allowed[a] = narrower
						break
					}
				}
			}
		}
		var tests []string
		for a, axis := range axes {
			if test := oneOf(axis, allowed[a]); test != "" {
				tests = append(tests, test)
			}
		}
		for j, w := range variants {
			covered[j] = covered[j] || matches(w)
		}
		if len(tests) == 0 {
			return ""
		}
		terms = append(terms, strings.Join(tests, " && "))
	}
	if len(terms) > 1 {
		for i, term := range terms {
			if strings.Contains(term, "&&") {
				terms[i] = "(" + term + ")"
			}
		}
	}
	return strings.Join(terms, " || ")
}

// oneOf tests whether an axis has one of some values; empty if it always does.
func oneOf(axis backend.Axis, values []uint32) string {
	name, all := strings.ToUpper(axis.Name), slices.Sorted(slices.Values(axis.Values))
	slices.Sort(values)
	switch n := len(values); {
	case n == len(all):
		return ""
	case n == 1:
		return fmt.Sprintf("%s == %d", name, values[0])
	case slices.Equal(values, all[:n]):
		return fmt.Sprintf("%s <= %d", name, values[n-1])
	case slices.Equal(values, all[len(all)-n:]):
		return fmt.Sprintf("%s >= %d", name, values[0])
	}
	var tests []string
	for _, value := range values {
		tests = append(tests, fmt.Sprintf("%s == %d", name, value))
	}
	return "(" + strings.Join(tests, " || ") + ")"
}
