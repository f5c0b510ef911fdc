package keys

import (
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin/relation"
)

// String returns a description for people, with one line per key column and the packed range, or all columns in one
// hash:
//
//	o_orderkey int64 = l_orderkey int32: 1..6000000, 23 bits
//
//	name utf8 = person utf8
//	born date32 = birthday date32
//	hash of name, born (64 bits), verified
func (p *Plan) String() string {
	if len(p.keys) == 0 {
		return "no keys: every row meets every row"
	}
	var b strings.Builder
	var names []string
	for k, key := range p.keys {
		l, r := key.sides[relation.Left], key.sides[relation.Right]
		codes := "no values"
		if key.extent.some {
			codes = l.coding.text(key.extent.min) + ".." + l.coding.text(key.extent.max)
		}
		if key.extent.null {
			codes += " and NULL"
		}
		if k > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s %s = %s %s", l.name, l.dtype, r.name, r.dtype)
		if names = append(names, l.name); !p.hashed {
			fmt.Fprintf(&b, ": %s, %d bits", codes, key.bits)
			if p.Guessed() {
				b.WriteString(", by a sample")
			}
		}
	}
	if p.hashed {
		how := "verified"
		if p.proved {
			how = "proved"
		}
		fmt.Fprintf(&b, "\nhash of %s (64 bits), %s", strings.Join(names, ", "), how)
	}
	return b.String()
}

// Text returns the key of one row of a side's table, for messages: o_orderkey=42, or (a=1, b=2024-01-02).
func (p *Plan) Text(side relation.Side, row int) string {
	var parts []string
	for k, column := range p.sides[side].columns {
		for part := range column.segments(row, row+1) {
			parts = append(parts, p.keys[k].sides[side].name+"="+relation.ValueText(part.values, part.from))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Range describes the range of the packed codes of key k, as in ": 1..100 and NULL"; "" for hashes.
func (p *Plan) Range(k int) string {
	switch e := &p.keys[k].extent; {
	case p.hashed:
		return ""
	case !e.some:
		return ": no values"
	case e.null:
		return ": " + p.keys[k].rangeText() + " and NULL"
	}
	if p.guessed[relation.Left] {
		return ": " + p.keys[k].rangeText() + ", by a sample"
	}
	return ": " + p.keys[k].rangeText()
}

// rangeText is the range of the values of a key, of which there are some.
func (k *key) rangeText() string {
	coding := k.sides[relation.Left].coding
	if coding.method == methodNumber {
		return fmt.Sprintf("%d values", k.extent.max+1)
	}
	return coding.text(k.extent.min) + ".." + coding.text(k.extent.max)
}
