package graphics

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// draws are the draws of joins with keys of one width.
type draws struct {
	countPixels                variant
	build                      [3]variant // the first pass, the second one, and further ones
	countStack, probeStack     [2]variant // all images of a stack in one instance; an instance per image
	buildFlat, countCandidates variant
	countFlat, probeFlat       variant
}

// variant is a draw with the values of its axes.
type variant struct {
	spec   *backend.DrawSpec
	config backend.Config
}

// drawsOf are the draws by the bytes of keys.
var drawsOf = map[int]*draws{4: newDraws(4), 8: newDraws(8)}

// stackFormat is the format of hash images: four channels of 16 bits for keys of 32 bits, which halves what they take
// (GARUDA 5).
func stackFormat(keyBytes int) backend.Format {
	if keyBytes == 8 {
		return backend.RGBA32UInt
	}
	return backend.RGBA16UInt
}

func newDraws(keyBytes int) *draws {
	with := func(spec *backend.DrawSpec, axis string, value uint32) variant {
		return variant{spec, backend.Config{"key_bits": uint32(keyBytes * 8), axis: value}}
	}
	plain := func(spec *backend.DrawSpec) variant { return with(spec, "", 0) }
	target := []backend.TargetSpec{{Format: stackFormat(keyBytes)}}
	first, later, flat, stored := *kernel.BuildStack, *kernel.BuildStack, *kernel.BuildFlat, *kernel.CountStack
	first.Targets, later.Targets, flat.Targets = target, target, target
	first.Textures, stored.Targets = 0, nil
	return &draws{
		countPixels: plain(kernel.CountPixels),
		build:       [3]variant{with(&first, "pass", 0), with(&later, "pass", 1), with(&later, "pass", 2)},
		countStack:  [2]variant{with(&stored, "by_image", 0), with(kernel.CountStack, "by_image", 1)},
		probeStack:  [2]variant{with(kernel.ProbeStack, "by_image", 0), with(kernel.ProbeStack, "by_image", 1)},
		buildFlat:   plain(&flat), countCandidates: plain(kernel.CountCandidates),
		countFlat: plain(kernel.CountFlat), probeFlat: plain(kernel.ProbeFlat),
	}
}
