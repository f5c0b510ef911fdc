//go:build !linux

package tableio

import (
	"errors"
	"io/fs"
	"os"
)

// createNameless returns nil: only Linux has files without a name.
func createNameless(string, fs.FileMode) *os.File { return nil }

func linkNameless(*os.File, string) error { return errors.ErrUnsupported }
