package primitive

import (
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Ops records primitives for one device with the device's tuning. Safe for concurrent use.
type Ops struct {
	device *backend.Device
	tuning Tuning
	scale  uint64 // in a rehearsal: the rows that one row stands for; otherwise 0

	// Configurations of the primitives that have no plan; by width of the values: 4 bytes, 8 bytes.
	gather       [2]kernel.GatherConfig
	markCounts   kernel.MarkCountsConfig
	iota         kernel.IotaConfig
	expand       kernel.RangeExpandConfig
	copy         kernel.CopyConfig
	packWords    kernel.PackWordsConfig
	unpackWords  kernel.UnpackWordsConfig
	copyStrided  kernel.CopyStridedConfig
	hashTexts    kernel.HashTextsConfig
	compareTexts kernel.CompareTextsConfig
	markKept     kernel.MarkKeptConfig
	encodeKeys   kernel.EncodeKeysConfig
	copyByEngine bool // copies are commands of the device instead of dispatches
	overLink     bool // kernels read and write host memory
}

// New returns the primitives of a device, tuned by the embedded tables and by the matching rows of overrides. A row of
// either that is not valid on the device is ErrInvalidInput.
func New(device *backend.Device, overrides Tuning) (*Ops, error) {
	tuning, err := TuningFor(device.Info())
	if err != nil {
		return nil, err
	}
	tuning = tuning.With(overrides).on(device.Info())
	if err := tuning.Check(device.Info()); err != nil {
		return nil, err
	}
	o := &Ops{device: device, tuning: tuning}
	for i, bits := range []uint32{32, 64} {
		o.gather[i] = kernel.Gather.With(tuning.Config("gather", backend.Config{"value_bits": bits}))
		o.gather[i].ValueBits = bits
	}
	gather, copying := tuning.Config("gather", nil), tuning.Config("copy", nil)
	o.markCounts, o.iota = kernel.MarkCounts.With(gather), kernel.Iota.With(gather)
	o.expand, o.copy = kernel.RangeExpand.With(tuning.Config("range_expand", nil)), kernel.Copy.With(copying)
	o.copyByEngine = copying["engine"] == 1
	words := tuning.Config("words", nil)
	o.packWords, o.unpackWords = kernel.PackWords.With(words), kernel.UnpackWords.With(words)
	o.copyStrided, o.encodeKeys = kernel.CopyStrided.With(words), kernel.EncodeKeys.With(words)
	texts := tuning.Config("texts", nil)
	o.hashTexts, o.compareTexts, o.markKept = kernel.HashTexts.With(texts), kernel.CompareTexts.With(texts),
		kernel.MarkKept.With(texts)
	return o, nil
}

// Rehearsal returns the primitives of a simulated device, with the tuning for scale times as many rows. Where they would
// need other kernels for these, they ask for them too.
func (o *Ops) Rehearsal(device *backend.Device, scale uint64) *Ops {
	other := *o
	other.device, other.scale, other.tuning = device, scale, o.tuning.scaled(scale)
	return &other
}

// linkTileWords is the number of words that a workgroup copies over a link.
const linkTileWords = 1 << 21

// linkWorkgroup is the number of invocations of a workgroup that copies over a link, if the device allows that many.
const linkWorkgroup = 1024

// OverLink returns the same primitives for queues whose kernels read and write host memory. Copies and the encoding of
// keys take few workgroups there: two large ones keep the link of an H200 busy, and kernels on other queues, which wait
// for memory with all that use the link, are held up by few of them. docs/notes/2026-11-decisions.md has the times.
func (o *Ops) OverLink() *Ops {
	l := *o
	l.copyByEngine, l.overLink = false, true
	l.copy.Workgroup = max(l.copy.Workgroup, min(linkWorkgroup, o.device.Info().Limits.MaxInvocations))
	l.copy.Items = max(l.copy.Items, linkTileWords/l.copy.Workgroup)
	return &l
}

// linkKeyRows is the number of rows of a key column that a workgroup encodes over a link: fewer where there are few, as
// in slices of a part, because a workgroup has only 8 KiB under way.
func linkKeyRows(rows uint64) uint32 {
	if rows < 1<<20 {
		return 1 << 14
	}
	return 1 << 20
}

// Device returns the device that the primitives run on.
func (o *Ops) Device() *backend.Device { return o.device }

// Tuning returns the rows in force; they must not be changed.
func (o *Ops) Tuning() Tuning { return o.tuning }

// MaxRows is the maximum number of rows of a column, table or result: row ids are 32-bit, and one value is reserved.
const MaxRows = math.MaxUint32 - 1

// CheckRows returns ErrLimit for more than MaxRows rows.
func CheckRows(op string, rows uint64) error {
	if rows > MaxRows {
		return &backend.OpError{Op: op, Err: backend.ErrLimit,
			Detail: fmt.Sprintf("%d rows, the limit is %d", rows, uint64(MaxRows))}
	}
	return nil
}
