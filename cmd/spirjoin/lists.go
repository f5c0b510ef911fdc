package main

import (
	"fmt"
	"strings"
)

// splitList splits a text at the separator. Names between double quotes, with quotes in them doubled, may hold
// anything; elsewhere a backslash takes the character behind it literally. The parts keep both for unescape.
func splitList(text string, separator rune) []string {
	var parts []string
	var part strings.Builder
	escaped, quoted, begins := false, false, true
	for _, r := range text {
		if r == separator && !escaped && !quoted {
			parts = append(parts, part.String())
			part.Reset()
			begins = true
			continue
		}
		part.WriteRune(r)
		switch {
		case quoted:
			quoted, begins = r != '"', r == '"' // another quote behind this one goes on
		default:
			quoted = r == '"' && begins
			begins = !escaped && strings.ContainsRune(",=:", r)
			escaped = r == '\\' && !escaped
		}
	}
	return append(parts, part.String())
}

// listName writes a name as a part of a list, for which unescape returns it.
func listName(name string) string {
	if strings.ContainsAny(name, `,=:"\`) {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

// unescape is the name that a part of a list means.
func unescape(text string) string {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
	}
	var b strings.Builder
	escaped := false
	for _, r := range text {
		if r == '\\' && !escaped {
			escaped = true
			continue
		}
		b.WriteRune(r)
		escaped = false
	}
	return b.String()
}

// shellWord quotes a text for a shell where it needs quotes.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("/-_.,:+", r)
	}
	if strings.TrimFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// keysValue is a flag that names key columns, --flag=a,b, or without a value all of them.
type keysValue struct {
	all   bool
	names []string
}

// ValueIsOptional says that the flag needs no value.
func (v *keysValue) ValueIsOptional() {}

func (v *keysValue) Set(text string) error {
	v.all = v.all || text == ""
	for _, name := range splitList(text, ',') {
		if name != "" {
			v.names = append(v.names, unescape(name))
		} else if text != "" {
			return fmt.Errorf("a name is empty")
		}
	}
	return nil
}

func (v *keysValue) String() string { return "" }

// of are the names that are given, or all of the key columns.
func (v *keysValue) of(keys []string) []string {
	if v.all {
		return keys
	}
	return v.names
}
