package graphics

import (
	"context"
	"math"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
)

// drawRates are the nanoseconds that a device takes for a point that is drawn, and for a vertex that only fetches a
// texel.
type drawRates struct{ pointNs, vertexNs float64 }

// points and vertices are draws of joins with keys of 4 bytes: into the first image of a stack, and over its images.
var points, vertices = *kernel.BuildStack, *kernel.CountStack

func init() {
	points.Targets, points.Textures = []backend.TargetSpec{{Format: backend.RGBA16UInt}}, 0
	vertices.Targets = nil
}

// measureDraws measures the time per drawn point, and per vertex that only fetches a texel. It takes some ms on a GPU, and a
// tenth of a second on CPU cores. Errors: ErrUnsupported if the device does not draw; device errors.
func measureDraws(ctx context.Context, lane *exec.Lane) (r drawRates, err error) {
	const side, images, rounds = 1024, 2, 5
	rows := uint64(1 << 20)
	if lane.Device().Info().CPULike() {
		rows = 1 << 17
	}
	hashed := func(own ...uint32) []uint32 { // the parameters by which a draw finds the pixel of a key, and its own
		const log2Side, seed = 10, 0x7f4a7c15
		return append([]uint32{log2Side, log2Side, seed}, own...)
	}
	drawPoints := func(list *backend.List, d backend.Draw) error {
		return lane.Draw(list, &points, backend.Config{"key_bits": 32, "pass": 0}, d)
	}
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	keys, counts := memory.New(rows*4, "keys"), memory.New(rows*4, "counts")
	stack := memory.NewImage(backend.ImageSpec{Width: side, Height: side, Layers: images, Format: backend.RGBA16UInt},
		"stack")
	if err := memory.Err(); err != nil {
		return r, err
	}
	list := lane.List("keys")
	if err := lane.Iota(list, keys.All(), rows, 0); err != nil {
		return r, err
	}
	if err := lane.Submit(ctx, list); err != nil {
		return r, err
	}
	list = lane.On(ctx, backend.Graphics).List("clear")
	if err := drawPoints(list, backend.Draw{Args: []backend.Range{keys.All(), {}, {}, {}},
		Params: hashed(), Targets: []backend.Target{{Image: stack, Layer: 1, Clear: true}}}); err != nil {
		return r, err
	}
	if _, err := lane.Device().Submit(ctx, backend.Graphics, list); err != nil {
		return r, err
	}
	point := backend.Draw{Args: []backend.Range{keys.All(), {}, {}, {}}, Params: hashed(), Vertices: uint32(rows),
		Targets: []backend.Target{{Image: stack, Clear: true}}}
	vertex := backend.Draw{Args: []backend.Range{keys.All(), {}, {}, {}, {}, counts.All()}, Params: hashed(0, 1),
		Vertices: uint32(rows), Textures: []backend.Texture{{Image: stack, FirstLayer: 1, EndLayer: images}}}
	for ns, record := range map[*float64]func(*backend.List) error{
		&r.pointNs: func(list *backend.List) error { return drawPoints(list, point) },
		&r.vertexNs: func(list *backend.List) error {
			return lane.Draw(list, &vertices, backend.Config{"key_bits": 32, "by_image": 0}, vertex)
		},
	} {
		*ns = math.Inf(1)
		for range rounds { // the first ones compile, and wake the device
			took, err := timed(ctx, lane, record)
			if err != nil {
				return r, err
			}
			*ns = min(*ns, float64(took)/float64(rows))
		}
	}
	return r, nil
}

// timed submits a draw and returns its device time, or the time until it is done on a device without a clock.
func timed(ctx context.Context, lane *exec.Lane, record func(*backend.List) error) (time.Duration, error) {
	list := &backend.List{Profile: new(backend.Profile)}
	list.Stage("draw")
	if err := record(list); err != nil {
		return 0, err
	}
	began := time.Now()
	point, err := lane.Device().Submit(ctx, backend.Graphics, list)
	if err != nil {
		return 0, err
	}
	if err := point.Wait(ctx); err != nil {
		return 0, err
	}
	took := time.Since(began)
	lane.Device().MemoryUse(backend.DeviceLocal) // takes the times of what has ended
	for _, stage := range list.Profile.Stages() {
		took = stage.Time
	}
	return took, nil
}
