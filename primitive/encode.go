package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// KeyCoding says how values of a key column become codes: what they are, the code that becomes 0, and that of NULL.
// Codes are moved Shift bits up, past those of the columns behind.
type KeyCoding struct {
	kernel.KeyValues
	Least, Null uint64
	Shift       uint32
}

// KeyRows are rows of a key column on the device, and where their codes go.
type KeyRows struct {
	Values     backend.Range // as Arrow has them, from value number FirstValue on
	Validity   backend.Range // a bitmap from bit FirstValid on; absent where no value is NULL
	FirstValue uint32
	FirstValid uint32
	Codes      backend.Range // of KeyBytes each, 4 or 8
	KeyBytes   int
	Merge      bool // codes have those of other columns, which stay
}

// EncodeKeys records codes of a key column for as many rows as there is room for. Each range begins at a multiple of its
// elements, or of 4 bytes.
func (o *Ops) EncodeKeys(list *backend.List, coding KeyCoding, r KeyRows) error {
	config := o.encodeKeys
	config.KeyBits = uint32(8 * r.KeyBytes)
	k, err := kernel.EncodeKeys.On(o.device, config)
	if err != nil {
		return err
	}
	rows := r.Codes.SizeBytes / uint64(r.KeyBytes)
	values, valueWord := alignedView(r.Values)
	validity, validWord := alignedView(r.Validity)
	codes, codeWord := alignedView(r.Codes)
	k.Dispatch(list, kernel.Groups(config, rows), kernel.EncodeKeysArgs{
		Values: values, Validity: validity, Codes: codes, Rows: uint32(rows),
		FirstValue: valueWord*32/coding.ValueBits + r.FirstValue, FirstValid: validWord*32 + r.FirstValid,
		FirstCode: codeWord * 32 / config.KeyBits, Least: halves(coding.Least), Null: halves(coding.Null),
		Shift: coding.Shift, Merge: flag(r.Merge), KeyValues: coding.KeyValues,
	})
	return nil
}

func halves(number uint64) [2]uint32 { return [2]uint32{uint32(number), uint32(number >> 32)} }
