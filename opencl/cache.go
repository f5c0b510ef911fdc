//go:build opencl && linux

package opencl

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spirjoin/spirjoin/internal/cache"
)

// Compiled kernels are kept in one file each, which is named after the device, its driver, the source and the options.
// It holds the magic, the SHA-256 of its name and the binary, and the binary, because drivers may crash on a damaged
// one.
var cacheMagic = []byte("spirjoin opencl 1\n")

// mostCacheFiles is how many binaries are kept: those that were written last. A catalogue for one device in all
// configurations that joins and group-bys take has some hundreds.
const mostCacheFiles = 2048

// cachePath is the file of a binary; empty if none is kept. PoCL keeps its own, and compiles anew, for workgroups of
// any size, when it is asked for a binary.
func (d *driver) cachePath(source, options string) string {
	if d.info.Driver == pocl && !d.backend.options.CacheAll {
		return ""
	}
	dir := d.backend.options.CacheDir
	if dir == "" {
		var err error
		if dir, err = cache.Path("opencl"); err != nil {
			return ""
		}
	}
	if dir == "off" {
		return ""
	}
	sum := sha256.Sum256([]byte(d.p.build + "\x00" + options + "\x00" + source))
	return filepath.Join(dir, fmt.Sprintf("%x.bin", sum[:16]))
}

// readBinary returns a binary that is kept whole; nil otherwise.
func readBinary(path string) []byte {
	if path == "" {
		return nil
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	rest, ok := bytes.CutPrefix(file, cacheMagic)
	if !ok || len(rest) <= sha256.Size {
		return nil
	}
	sum, code := rest[:sha256.Size], rest[sha256.Size:]
	if !bytes.Equal(sum, checksum(path, code)) {
		return nil
	}
	return code
}

func checksum(path string, code []byte) []byte {
	sum := sha256.Sum256(slices.Concat([]byte(filepath.Base(path)), code))
	return sum[:]
}

// keep writes a binary. Where that fails, the next process compiles again.
func keep(path string, code []byte) {
	if len(code) == 0 {
		return
	}
	if cache.WriteFile(path, slices.Concat(cacheMagic, checksum(path, code), code)) == nil {
		cache.KeepNewest(filepath.Dir(path), "*.bin", mostCacheFiles)
	}
}
