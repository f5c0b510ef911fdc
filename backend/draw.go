package backend

import (
	"fmt"
	"slices"
)

// DrawProgram is a draw compiled for a device; [Device.DrawProgram] returns one.
type DrawProgram struct {
	Spec    *DrawSpec
	Config  Config
	Program Program
}

// Target is a layer of an image that a draw writes.
type Target struct {
	Image *Image
	Layer uint32
	// Clear fills the layer with 0 before; otherwise its content stays. A draw into some of the pixels leaves the rest.
	Clear bool
}

// Texture is what a draw fetches: layers of an image, all of which the shader may access, numbered from FirstLayer on.
type Texture struct {
	Image                *Image
	FirstLayer, EndLayer uint32
}

// Draw is a pass: Instances times Vertices points. In the shader, gl_VertexIndex goes from FirstVertex on and
// gl_InstanceIndex from FirstInstance on. All targets have the same size, which is the viewport; points outside of it
// are not drawn. Vertices or Instances may be 0, which draws nothing but clears.
type Draw struct {
	Program                  *DrawProgram
	Args                     []Range // the zero Range is an absent argument
	Params                   []uint32
	FirstVertex, Vertices    uint32
	FirstInstance, Instances uint32
	Targets                  []Target
	Textures                 []Texture
}

// ReadBack is a pass that copies the first Rows rows of pixels of a layer of an image to a buffer, without gaps.
type ReadBack struct {
	Image *Image
	Layer uint32
	Rows  uint32
	To    Range // of Rows times Width pixels, at a multiple of the size of a pixel
}

// Draw adds a draw, which must not be changed until the list was submitted for the last time. Its rate is measured
// under its name, and a draw that would take too long is divided into several, in order: shaders must not depend on
// seeing all points in one. What is wrong with it is an ErrInvalidInput of the submission.
func (l *List) Draw(name string, draw *Draw) {
	l.Pass(name, draw, draw.touches()...)
}

func (draw *Draw) touches() (touches []Touch) {
	if draw.Program != nil && len(draw.Args) == len(draw.Program.Spec.Args) { // otherwise it is refused anyway
		for i, arg := range draw.Args {
			if arg.Buffer != nil {
				touches = append(touches, Touch{Range: arg, Access: draw.Program.Spec.Args[i].Access})
			}
		}
	}
	for _, t := range draw.Targets {
		access := ReadWrite
		if t.Clear {
			access = Write
		}
		touches = append(touches,
			Touch{Image: t.Image, FirstLayer: t.Layer, EndLayer: t.Layer + 1, Access: access, Usage: AsTarget})
	}
	for _, t := range draw.Textures {
		touches = append(touches,
			Touch{Image: t.Image, FirstLayer: t.FirstLayer, EndLayer: t.EndLayer, Access: Read, Usage: AsTexture})
	}
	return touches
}

func (draw *Draw) points() uint64 { return uint64(draw.Vertices) * uint64(draw.Instances) }

const (
	leastPoints = 1 << 16 // the smallest part that a draw is cut into
	pointBytes  = 64      // that a device is assumed to stream in the time of a point, until draws were measured
)

// cut divides a draw after at most most points, between instances, or between vertices where one instance has more; ok
// is false if it cannot be divided. Only the first part clears.
func (draw *Draw) cut(most uint64) (head, tail *Draw, ok bool) {
	h, t := *draw, *draw
	if n := most / max(1, uint64(draw.Vertices)); draw.Instances > 1 && n > 0 {
		h.Instances = uint32(min(n, uint64(draw.Instances)))
		t.FirstInstance, t.Instances = t.FirstInstance+h.Instances, t.Instances-h.Instances
	} else {
		h.Vertices = uint32(min(most/max(1, uint64(draw.Instances)), uint64(draw.Vertices)))
		t.FirstVertex, t.Vertices = t.FirstVertex+h.Vertices, t.Vertices-h.Vertices
	}
	t.Targets = slices.Clone(t.Targets)
	for i := range t.Targets {
		t.Targets[i].Clear = false
	}
	return &h, &t, h.points() > 0 && t.points() > 0
}

// ReadBack adds a copy of a layer to a buffer; 0 rows add nothing.
func (l *List) ReadBack(r *ReadBack) {
	if r.Rows > 0 {
		l.Pass("read_back", r,
			Touch{Image: r.Image, FirstLayer: r.Layer, EndLayer: r.Layer + 1, Access: Read, Usage: AsSource},
			Touch{Range: r.To, Access: Write})
	}
}

// problem says what is wrong with a draw for a device, beyond what is wrong with its touches; "" if nothing is.
func (draw *Draw) problem(d *Device) string {
	if draw.Program == nil {
		return "no program"
	}
	spec := draw.Program.Spec
	if len(draw.Args) != len(spec.Args) || len(draw.Params) != len(spec.Params) {
		return fmt.Sprintf("%d arguments and %d parameters, %s has %d and %d", len(draw.Args), len(draw.Params),
			spec.Name, len(spec.Args), len(spec.Params))
	}
	if len(draw.Targets) != len(spec.Targets) || len(draw.Textures) != spec.Textures {
		return fmt.Sprintf("%d targets and %d textures, %s has %d and %d", len(draw.Targets), len(draw.Textures),
			spec.Name, len(spec.Targets), spec.Textures)
	}
	if uint64(draw.FirstVertex)+uint64(draw.Vertices) > 1<<32 ||
		uint64(draw.FirstInstance)+uint64(draw.Instances) > 1<<32 {
		return "vertices or instances beyond 2^32"
	}
	for i, arg := range draw.Args {
		if problem := arg.problem(d, "argument "+spec.Args[i].Name, d.info.Limits.ArgumentAlignment); problem != "" {
			return problem
		}
	}
	for i, t := range draw.Targets {
		if problem := t.Image.problem(d, fmt.Sprintf("target %d", i)); problem != "" {
			return problem
		}
		at, first := t.Image.spec, draw.Targets[0].Image.spec
		if at.Format != spec.Targets[i].Format {
			return fmt.Sprintf("target %d: %q is %v, %s draws %v", i, t.Image.label, at.Format, spec.Name,
				spec.Targets[i].Format)
		}
		if at.Width != first.Width || at.Height != first.Height {
			return fmt.Sprintf("target %d: %q has %dx%d pixels, target 0 %dx%d", i, t.Image.label, at.Width, at.Height,
				first.Width, first.Height)
		}
	}
	for i, t := range draw.Textures {
		if problem := t.Image.problem(d, fmt.Sprintf("texture %d", i)); problem != "" {
			return problem
		}
	}
	return ""
}

// problem says what is wrong with a read-back, like [Draw.problem].
func (r *ReadBack) problem(d *Device) string {
	if problem := r.Image.problem(d, "source"); problem != "" {
		return problem
	}
	spec := r.Image.spec
	if want := spec.rowBytes() * uint64(r.Rows); r.Rows > spec.Height || r.To.SizeBytes != want {
		return fmt.Sprintf("%d rows of %q, which has %d, take %d bytes, not %d", r.Rows, r.Image.label, spec.Height,
			want, r.To.SizeBytes)
	}
	if r.To.Buffer == nil {
		return "no destination"
	}
	return r.To.problem(d, "destination", spec.Format.PixelBytes())
}
