// Package shaders embeds the SPIR-V that tools/glslc.sh compiled from the kernels' GLSL sources in this folder. The
// file names of variants are defined by package kernel.
package shaders

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
)

//go:embed spv/*.spv
var compiled embed.FS

// SPIRV returns the SPIR-V of a file, or an error that wraps fs.ErrNotExist.
func SPIRV(fileName string) ([]byte, error) {
	code, err := compiled.ReadFile("spv/" + fileName)
	if err != nil {
		return nil, fmt.Errorf("shaders: no compiled variant %s: %w", fileName, err)
	}
	return code, nil
}

// UsesSubgroups reports whether SPIR-V of this package has subgroup operations. Capabilities come first in a module, and
// glslc declares GroupNonUniform beside every other one of subgroups.
func UsesSubgroups(code []byte) bool {
	const headerBytes, opCapability, groupNonUniform = 20, 2<<16 | 17, 61
	for code = code[min(headerBytes, len(code)):]; len(code) >= 8; code = code[8:] {
		if binary.LittleEndian.Uint32(code) != opCapability {
			return false
		}
		if binary.LittleEndian.Uint32(code[4:]) == groupNonUniform {
			return true
		}
	}
	return false
}

// Hash identifies the embedded SPIR-V: two programs with equal hashes hold equal kernels. Caches of pipelines use it.
func Hash() string { return hash() }

var hash = sync.OnceValue(func() string {
	names, _ := fs.Glob(compiled, "spv/*.spv") // the pattern is well-formed, the only error there is
	all := sha256.New()
	for _, name := range names {
		code, _ := compiled.ReadFile(name)
		fmt.Fprintf(all, "%s %d\n", name, len(code))
		all.Write(code)
	}
	return hex.EncodeToString(all.Sum(nil))
})
