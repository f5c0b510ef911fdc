package dataset

import (
	"github.com/spirjoin/spirjoin/tableio/core"
)

// bounds are those of a column of the dataset in a file.
func (m *member) bounds(s *Source, column int) (b core.Bounds, ok bool) {
	field := s.fields.Field(column)
	at := m.at(s, column)
	switch {
	case column >= s.ofFiles:
		return m.partition(field.Name).bounds(field.Type)
	case at < 0:
		return core.Bounds{Type: field.Type, Min: 1, Nulls: m.rows != 0}, true
	case m.source != nil:
		b, ok = boundsOf(m.source, at)
	default:
		b, ok = m.facts.bounds[at], m.facts.bounded[at]
	}
	return b, ok && b.ComparesWith(field.Type)
}

// Bounds implements [core.Bounded]: bounds of the values of all files, if all have some.
func (s *Source) Bounds(column int) (b core.Bounds, ok bool) {
	b = core.Bounds{Type: s.fields.Field(column).Type, Min: 1}
	for _, m := range s.members {
		one, ok := m.bounds(s, column)
		if !ok {
			return core.Bounds{}, false
		}
		b = b.Union(one)
	}
	return b, len(s.members) > 0
}

// Nulls implements [core.Bounded].
func (s *Source) Nulls(column int) bool {
	for _, m := range s.members {
		at, null := m.at(s, column), false
		switch {
		case column >= s.ofFiles:
			null = m.partition(s.fields.Field(column).Name).Null
		case at < 0:
			null = true
		case m.source != nil:
			null = mayBeNull(m.source, at)
		default:
			null = m.facts.nulls[at]
		}
		if null {
			return true
		}
	}
	return false
}

// SkipOutside implements [core.Bounded]. Files are skipped whole, also for the value of a partition, or in part.
func (s *Source) SkipOutside(column int, b core.Bounds) {
	if !b.ComparesWith(s.fields.Field(column).Type) {
		return
	}
	s.skips = append(s.skips, skip{column, b})
	for _, m := range s.members {
		if one, ok := m.bounds(s, column); ok && !one.Meets(b) {
			m.skipped = true
		} else if m.source != nil {
			m.skip(s, m.source, s.skips[len(s.skips)-1:])
		}
	}
}

// skip skips parts of an open file.
func (m *member) skip(s *Source, source core.Source, skips []skip) {
	bounded, ok := source.(core.Bounded)
	for _, skip := range skips {
		if at := m.at(s, skip.column); ok && at >= 0 {
			bounded.SkipOutside(at, skip.bounds)
		}
	}
}
