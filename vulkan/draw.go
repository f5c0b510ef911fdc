package vulkan

import (
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// drawing is what the recording of draws needs: memory that C sees cannot lie on the stack, and framebuffers live until
// the batch is done.
type drawing struct {
	draw         C.sj_draw
	views        [C.SJ_MAX_TARGETS]C.uint64_t
	sets         [C.SJ_MAX_TEXTURES]C.uint64_t
	framebuffers []vk.Framebuffer
}

// endDraws destroys what the draws of a batch that is done, or was never submitted, left behind.
func (w *drawing) endDraws(d *driver) {
	for _, f := range w.framebuffers {
		vk.DestroyFramebuffer(d.device, f, nil)
	}
	w.framebuffers = w.framebuffers[:0]
}

// layoutOf are the layouts of the usages of images.
var layoutOf = map[backend.Usage]C.uint32_t{
	0:                 C.SJ_LAYOUT_UNDEFINED,
	backend.AsTarget:  C.SJ_LAYOUT_TARGET,
	backend.AsTexture: C.SJ_LAYOUT_TEXTURE,
	backend.AsSource:  C.SJ_LAYOUT_SOURCE,
}

// change records a change of usage: a barrier of the layers, of all that the queue does, which also orders it after the
// waits of the batch.
func (t *timeline) change(r *recording, c backend.UsageChange, stages, access C.uint32_t) error {
	d := t.d
	i, err := d.imageOf(c.Image)
	if err != nil {
		return err
	}
	from, known := layoutOf[c.From]
	to, defined := layoutOf[c.To]
	if !t.draws || !known || !defined || c.To == 0 || c.FirstLayer >= c.EndLayer || c.EndLayer > i.spec.Layers {
		return d.misuse("submit", "%s: layers %d to %d of an image from usage %d to %d", t.name, c.FirstLayer,
			c.EndLayer, c.From, c.To)
	}
	C.sj_image_barrier(d.shim, unsafe.Pointer(r.commands), raw(i.handle), C.uint32_t(c.FirstLayer),
		C.uint32_t(c.EndLayer-c.FirstLayer), from, to, stages, access&accessWriteMask, access)
	return nil
}

// pass records a draw or a read-back, whose inputs [backend.Device] has checked.
func (t *timeline) pass(r *recording, c *backend.Command) error {
	if c.Pass == nil || !t.draws {
		return t.d.misuse("submit", "a pass on the %s queue", t.name)
	}
	switch run := c.Pass.Run.(type) {
	case *backend.Draw:
		return t.drawPoints(r, run)
	case *backend.ReadBack:
		return t.readBack(r, run)
	}
	return t.d.misuse("submit", "a pass of type %T", c.Pass.Run)
}

// drawPoints records a render pass over all of the targets with one draw.
func (t *timeline) drawPoints(r *recording, w *backend.Draw) error {
	d := t.d
	p, ok := w.Program.Program.(*drawProgram)
	if !ok || p.d != d {
		return d.misuse("submit", "draw %s was compiled for another device", w.Program.Spec.Name)
	}
	width, height := uint32(1), uint32(1) // of a framebuffer without targets
	key := passKey{targets: len(w.Targets)}
	for n, target := range w.Targets {
		i, err := d.imageOf(target.Image.Block())
		if err != nil {
			return err
		}
		v, err := i.view(viewKey{false, target.Layer, target.Layer + 1})
		if err != nil {
			return err
		}
		width, height = i.spec.Width, i.spec.Height
		key.formats[n], r.views[n] = i.spec.Format, raw(v.handle)
		if target.Clear {
			key.clears |= 1 << n
		}
	}
	for n, texture := range w.Textures {
		i, err := d.imageOf(texture.Image.Block())
		if err != nil {
			return err
		}
		v, err := i.view(viewKey{true, texture.FirstLayer, texture.EndLayer})
		if err != nil {
			return err
		}
		r.sets[n] = v.set
	}
	pass, err := d.renderPass(key)
	if err != nil {
		return err
	}
	var framebuffer C.uint64_t
	code := result(C.sj_create_framebuffer(d.shim, raw(pass), &r.views[0], C.uint32_t(len(w.Targets)),
		C.uint32_t(width), C.uint32_t(height), &framebuffer))
	if err := d.check(code, "submit", "making a framebuffer"); err != nil {
		return err
	}
	r.framebuffers = append(r.framebuffers, handleOf[vk.Framebuffer](framebuffer))
	n, err := t.pushArguments(r, w.Args, w.Params)
	if err != nil {
		return err
	}
	if len(w.Targets) > 0 {
		r.words[n], r.words[n+1] = C.uint32_t(width), C.uint32_t(height)
	} else {
		r.words[n], r.words[n+1] = 0, 0
	}
	r.draw = C.sj_draw{pass: raw(pass), framebuffer: framebuffer, pipeline: raw(p.pipeline), layout: raw(p.layout),
		width: C.uint32_t(width), height: C.uint32_t(height), targets: C.uint32_t(len(w.Targets)),
		word_count: C.uint32_t(n + 2), textures: C.uint32_t(len(w.Textures))}
	for i, word := range []uint32{w.FirstVertex, w.Vertices, w.FirstInstance, w.Instances} {
		r.draw.points[i] = C.uint32_t(word)
	}
	C.sj_record_draw(d.shim, unsafe.Pointer(r.commands), &r.draw, &r.words[0], &r.sets[0])
	return nil
}

func (t *timeline) readBack(r *recording, b *backend.ReadBack) error {
	d := t.d
	i, err := d.imageOf(b.Image.Block())
	if err != nil {
		return err
	}
	to, err := d.place(b.To)
	if err != nil {
		return err
	}
	C.sj_read_image(d.shim, unsafe.Pointer(r.commands), raw(i.handle), C.uint32_t(b.Layer), C.uint32_t(i.spec.Width),
		C.uint32_t(b.Rows), raw(to.buffer), C.uint64_t(to.offset))
	return nil
}
