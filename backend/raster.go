package backend

import (
	"context"
	"fmt"
)

// Rasterizer is implemented by drivers whose devices draw points into images with the graphics pipeline, on the queue
// of [Graphics]. Vertex shaders read and write buffers by address, as kernels do, and fetch texels of images; fragment
// shaders write colours to the targets. Passes are *[Draw] and *[ReadBack], which [List.Draw] and [List.ReadBack] add.
type Rasterizer interface {
	PassChecker
	// CanRaster returns nil if the device has all that draws need, otherwise an ErrUnsupported that names what it
	// lacks.
	CanRaster() error
	// RasterLimits are the limits of images and draws.
	RasterLimits() RasterLimits
	// ImageBytes is the device memory that an image takes. Errors: ErrInvalidInput for an empty image or an unknown
	// format, ErrLimit beyond RasterLimits.
	ImageBytes(spec ImageSpec) (uint64, error)
	// CreateImage creates an image with undefined content. Errors: as for ImageBytes; ErrDeviceMemory if there is no
	// memory.
	CreateImage(spec ImageSpec) (ImageBlock, error)
	// CompileDraw prepares a graphics pipeline, which lives until the device is closed. Errors: ErrUnsupported if there
	// are no shaders for the configuration, ErrLimit beyond RasterLimits, ErrInvalidInput for an incomplete
	// configuration or a target that cannot be blended.
	CompileDraw(spec *DrawSpec, config Config) (Program, error)
}

// RasterLimits are the limits of images and draws.
type RasterLimits struct {
	MaxWidth, MaxHeight uint32 // of an image, in pixels
	MaxLayers           uint32
	MaxImageBytes       uint64
	MaxTargets          int // of a draw
	MaxTextures         int // of a draw
}

// Format is the format of the pixels of an image: channels of 16 or 32 bits.
type Format uint8

// The formats that every Rasterizer has. Only R32Float is blended, in steps of 1 exactly up to 2^24.
const (
	R32UInt Format = iota
	RG32UInt
	RGBA16UInt
	RGBA32UInt
	R32Float
)

// PixelBytes is the size of a pixel.
func (f Format) PixelBytes() uint64 { return [...]uint64{4, 8, 8, 16, 4}[f] }

func (f Format) String() string {
	return [...]string{"r32ui", "rg32ui", "rgba16ui", "rgba32ui", "r32f"}[f]
}

// ImageSpec describes an image: layers of equal size, in pixels.
type ImageSpec struct {
	Width, Height, Layers uint32
	Format                Format
}

// The usages of the layers of an image that a Rasterizer creates.
const (
	AsTarget  Usage = 1 + iota // points are drawn into it
	AsTexture                  // vertex shaders fetch texels
	AsSource                   // it is read back
)

// Blend says how a point and the pixel below it become one.
type Blend uint8

// The blends; all but Overwrite are for R32Float.
const (
	Overwrite Blend = iota // the last point remains, which of them is undefined
	Add
	Min
	Max
)

// TargetSpec describes a colour attachment.
type TargetSpec struct {
	Format Format
	Blend  Blend
}

// DrawSpec is a draw of points: a vertex and a fragment shader and what they take. Both receive as push constants the
// addresses of the arguments, the parameters, which are 32-bit words, and two words that the driver fills: the width
// and height of the targets in pixels, 0 without targets. Texture i is the descriptor set i of the vertex shader, whose
// binding 0 is an array texture without a sampler; its layer 0 is [Texture.FirstLayer]. Specs with equal names share
// their shaders and may differ in their targets, as far as the outputs of the fragment shader fit.
type DrawSpec struct {
	Name      string
	Args      []ArgSpec
	Params    []string
	Axes      []Axis
	Constants []Constant   // of both shaders, numbered by position
	Textures  int          // at most RasterLimits.MaxTextures
	Targets   []TargetSpec // none: nothing is drawn and there is no fragment shader; the vertex shader reads and writes
}

func (s ImageSpec) rowBytes() uint64 { return uint64(s.Width) * s.Format.PixelBytes() }

// Rasterizer returns the capability of the device's driver to draw. ErrUnsupported, which says what is missing, if it
// has none.
func (d *Device) Rasterizer() (Rasterizer, error) {
	r, ok := d.driver.(Rasterizer)
	if !ok {
		return nil, &OpError{Op: "draw", Device: d.info.Name, Err: ErrUnsupported,
			Detail: fmt.Sprintf("the %s backend does not draw", d.info.Backend)}
	}
	return r, r.CanRaster()
}

// ImageBytes is the device memory that an image takes. Errors: as for [Device.Rasterizer] and Rasterizer.ImageBytes.
func (d *Device) ImageBytes(spec ImageSpec) (uint64, error) {
	r, err := d.Rasterizer()
	if err != nil {
		return 0, err
	}
	return r.ImageBytes(spec)
}

// NewImage returns an image with undefined content. Its memory counts as device-local. Errors: as for
// [Device.Allocate], [Device.Rasterizer] and Rasterizer.ImageBytes.
func (d *Device) NewImage(ctx context.Context, spec ImageSpec, label string) (*Image, error) {
	r, err := d.Rasterizer()
	if err != nil {
		return nil, err
	}
	sizeBytes, err := r.ImageBytes(spec)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", label, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a := &d.arenas[DeviceLocal]
	var block ImageBlock
	err = d.allocating(ctx, a, label, func() error {
		if err := a.claim(sizeBytes); err != nil {
			return err
		}
		if block, err = r.CreateImage(spec); err != nil {
			a.unclaim(sizeBytes)
		}
		return d.NoteRefusal(err)
	})
	if err != nil {
		return nil, err
	}
	i := &Image{device: d, label: label, block: block, spec: spec, lease: d.leaseOf(block, label)}
	free := i.lease.free
	i.lease.free = func() {
		free()
		a.unclaim(sizeBytes)
	}
	d.live[i] = struct{}{}
	return i, nil
}

// drawKey is a draw in one configuration, as text.
type drawKey struct {
	spec   *DrawSpec
	config string
}

// DrawProgram returns a draw for a configuration and compiles it at its first use; other callers wait meanwhile. The
// pointer to the spec identifies the draw. Errors: as for [Device.Rasterizer] and Rasterizer.CompileDraw;
// ErrInvalidInput for an axis whose value is not in its list.
func (d *Device) DrawProgram(spec *DrawSpec, config Config) (*DrawProgram, error) {
	r, err := d.Rasterizer()
	if err != nil {
		return nil, err
	}
	full, err := spec.Complete(config)
	if err != nil {
		return nil, err
	}
	d.drawMu.Lock()
	defer d.drawMu.Unlock()
	key := drawKey{spec, full.String()}
	if p := d.draws[key]; p != nil {
		return p, nil
	}
	program, err := r.CompileDraw(spec, full)
	if err != nil {
		return nil, d.NoteFailure(err)
	}
	p := &DrawProgram{Spec: spec, Config: full, Program: program}
	d.draws[key] = p
	return p, nil
}

// Complete returns config restricted to the axes and constants of the draw, as [KernelSpec.Complete] does.
func (s *DrawSpec) Complete(config Config) (Config, error) {
	return config.complete(s.Name, s.Axes, s.Constants)
}
