package backend

import (
	"fmt"
	"sync/atomic"
)

// Usage says what commands use layers of an image for; its values are defined by the capability that creates the image.
// 0 means unused so far: the content is undefined. When the usage changes, drivers may have to rearrange the content.
type Usage uint8

// ImageBlock is an image of a driver: layers of equal size that commands use independently. Optional capabilities
// create images. The pointer to an ImageBlock is its identity for hazard tracking.
type ImageBlock interface {
	SizeBytes() uint64 // of all layers
	Layers() uint32
	Free() error // the caller guarantees that no batch still uses it
}

// UsageChange says that a step uses layers FirstLayer to EndLayer-1 of an image differently than the commands before
// it.
type UsageChange struct {
	Image                ImageBlock
	FirstLayer, EndLayer uint32
	From, To             Usage
}

// PassChecker is implemented by drivers with capabilities whose passes run in command lists.
type PassChecker interface {
	// CheckPass returns nil if the queue of role can run the pass, otherwise an error that wraps a sentinel.
	CheckPass(role Role, run any) error
}

// Image is an image of a device, made by [Device.NewImage]. Release it exactly once; it may be released while submitted
// work still uses it.
type Image struct {
	device   *Device
	label    string
	block    ImageBlock
	spec     ImageSpec
	lease    *lease
	released atomic.Bool
}

// Block returns the driver's image.
func (i *Image) Block() ImageBlock { return i.block }

// Spec describes the image.
func (i *Image) Spec() ImageSpec { return i.spec }

// SizeBytes is the device memory that the image takes.
func (i *Image) SizeBytes() uint64 { return i.block.SizeBytes() }

// problem says what is wrong with an image that a draw or a read-back of a device is to use; "" if nothing is.
func (i *Image) problem(d *Device, what string) string {
	switch {
	case i == nil:
		return what + ": no image"
	case i.device != d:
		return what + ": an image of another device"
	case i.released.Load():
		return fmt.Sprintf("%s: image %q was released", what, i.label)
	}
	return ""
}

// Release releases the image. Safe on nil; a second release of the same image is an error that [Device.Close] reports.
func (i *Image) Release() {
	if i != nil {
		i.device.release(i)
	}
}

func (i *Image) holding() (label string, sizeBytes uint64, l *lease, released *atomic.Bool) {
	return i.label, i.block.SizeBytes(), i.lease, &i.released
}

// Touch is what a pass does to a range of a buffer or to layers of an image.
type Touch struct {
	Access Access
	Range  Range // of a buffer; unused where there is an image

	Image                *Image
	FirstLayer, EndLayer uint32
	Usage                Usage
}

// checkTouches checks what a pass touches: every layer at most once.
func (c *Command) checkTouches(d *Device, fail func(string, ...any) error,
	checkRange func(what string, r Range, alignment uint64) error) error {
	for n, t := range c.Pass.Touches {
		if t.Image == nil {
			if err := checkRange(fmt.Sprintf("touch %d", n), t.Range, 4); err != nil {
				return err
			}
			continue
		}
		switch i := t.Image; {
		case i.device != d:
			return fail("touch %d: an image of another device", n)
		case i.released.Load():
			return fail("touch %d: image %q was released", n, i.label)
		case t.FirstLayer >= t.EndLayer || t.EndLayer > i.block.Layers():
			return fail("touch %d: layers %d to %d of %q, which has %d", n, t.FirstLayer, t.EndLayer, i.label,
				i.block.Layers())
		case t.Usage == 0:
			return fail("touch %d: no usage of %q", n, i.label)
		}
		for _, o := range c.Pass.Touches[:n] {
			if o.Image == t.Image && o.FirstLayer < t.EndLayer && t.FirstLayer < o.EndLayer {
				return fail("touch %d: layers of %q twice", n, t.Image.label)
			}
		}
	}
	return nil
}

// touchedBytes is the size of what a pass touches.
func (c *Command) touchedBytes() (sizeBytes uint64) {
	for _, t := range c.Pass.Touches {
		if t.Image == nil {
			sizeBytes += t.Range.SizeBytes
			continue
		}
		sizeBytes += t.Image.block.SizeBytes() / uint64(max(1, t.Image.block.Layers())) *
			uint64(t.EndLayer-t.FirstLayer)
	}
	return sizeBytes
}
