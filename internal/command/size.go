package command

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/spirjoin/spirjoin/internal/text"
)

// Size is a flag that holds a number of bytes: 512MiB, 1.5GB, 4096.
type Size uint64

// Set reads a value of the flag.
func (v *Size) Set(text string) (err error) {
	*v, err = parseScaled[Size](text, byteUnits, "bytes, as in 512MiB, 1.5GB or 4096")
	return err
}

// String is the value as text; empty for none.
func (v *Size) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return text.Bytes(uint64(*v))
}

// Rows is a flag that holds a number of rows: 5000000, 10M, 2^27.
type Rows uint64

// Set reads a value of the flag.
func (v *Rows) Set(text string) error {
	if exponent, ok := strings.CutPrefix(text, "2^"); ok {
		bits, err := strconv.ParseUint(exponent, 10, 8)
		if err != nil || bits > 63 {
			return fmt.Errorf("an exponent must be 0 to 63")
		}
		*v = 1 << bits
		return nil
	}
	n, err := parseScaled[Rows](text, rowUnits, "rows, as in 5000000, 10M or 2^27")
	*v = n
	return err
}

// String is the value as text; empty for none.
func (v *Rows) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*v), 10)
}

var byteUnits = map[string]uint64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10,
	"mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}

var rowUnits = map[string]uint64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}

var scaled = regexp.MustCompile(`^([0-9][0-9_]*)(\.[0-9]+)?\s*([A-Za-z]*)$`)

// parseScaled reads a number with a unit, exactly: what is no whole number, or too large, is an error.
func parseScaled[T ~uint64](text string, units map[string]uint64, what string) (T, error) {
	parts := scaled.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, fmt.Errorf("give a number of %s", what)
	}
	unit, ok := units[strings.ToLower(parts[3])]
	if _, short := units[strings.ToLower(parts[3])+"ib"]; !ok && short {
		return 0, fmt.Errorf("unit %q can mean two things; write %sB (powers of 1000) or %siB (powers of 1024)",
			parts[3], parts[3], parts[3])
	} else if !ok {
		return 0, fmt.Errorf("unit %q is unknown; give a number of %s", parts[3], what)
	}
	whole, err := strconv.ParseUint(strings.ReplaceAll(parts[1], "_", ""), 10, 64)
	if err != nil || whole > math.MaxInt64/unit {
		return 0, fmt.Errorf("the number is too large")
	}
	n := whole * unit
	if parts[2] != "" {
		fraction, err := strconv.ParseFloat("0"+parts[2], 64)
		if err != nil {
			return 0, err
		}
		part := fraction * float64(unit)
		if unit == 1 && part != 0 {
			return 0, fmt.Errorf("give a whole number of %s", what)
		}
		n += uint64(math.Round(part))
	}
	return T(n), nil
}

// Names is a flag that may be given several times.
type Names []string

// Set reads a value of the flag.
func (v *Names) Set(name string) error {
	*v = append(*v, name)
	return nil
}

// String is the value as text; empty for none.
func (v *Names) String() string {
	if v == nil {
		return ""
	}
	return strings.Join(*v, ", ")
}
