package primitive

import (
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// KeyCoding says how values of a key column become codes: what the values are, the code that becomes 0, and the code of
// NULL. Codes are shifted up by Shift bits, past the codes of the following columns. If Marked is set, bits from Mark
// on are cleared, and bit Mark is set if a code exceeds Least by more than Span.
type KeyCoding struct {
	kernel.KeyValues
	Least, Null uint64
	Shift       uint32
	Marked      bool
	Span        uint64
	Mark        uint32
}

// KeyRows are rows of a key column on the device, and where their codes go.
type KeyRows struct {
	Values     backend.Range // in Arrow's layout, from value number FirstValue on
	Validity   backend.Range // a bitmap, from bit FirstValid on; absent if no value is NULL
	FirstValue uint32
	FirstValid uint32
	Codes      backend.Range // of KeyBytes each, 4 or 8
	KeyBytes   int
	Merge      bool // Codes already holds codes of other columns, which are kept
}

// EncodeKeys records the encoding of a key column, for as many rows as Codes has room for. Each range begins at a
// multiple of its element size, or of 4 bytes.
func (o *Ops) EncodeKeys(list *backend.List, coding KeyCoding, r KeyRows) error {
	config, rows := o.encodeKeys, r.Codes.SizeBytes/uint64(r.KeyBytes)
	config.KeyBits = uint32(8 * r.KeyBytes)
	if o.overLink {
		config.Items = max(config.Items, linkKeyRows(rows*max(1, o.scale))/config.Workgroup)
	}
	k, err := kernel.EncodeKeys.On(o.device, config)
	if err != nil {
		return err
	}
	if !coding.Marked {
		coding.Span, coding.Mark = math.MaxUint64, config.KeyBits
	}
	values, valueWord := alignedView(r.Values)
	validity, validWord := alignedView(r.Validity)
	codes, codeWord := alignedView(r.Codes)
	k.Dispatch(list, kernel.Groups(config, rows), kernel.EncodeKeysArgs{
		Values: values, Validity: validity, Codes: codes, Rows: uint32(rows),
		FirstValue: valueWord*32/coding.ValueBits + r.FirstValue, FirstValid: validWord*32 + r.FirstValid,
		FirstCode: codeWord * 32 / config.KeyBits, Least: halves(coding.Least), Null: halves(coding.Null),
		Span: halves(coding.Span), Shift: coding.Shift, Mark: coding.Mark, Merge: flag(r.Merge),
		KeyValues: coding.KeyValues,
	})
	return nil
}

func halves(number uint64) [2]uint32 { return [2]uint32{uint32(number), uint32(number >> 32)} }
