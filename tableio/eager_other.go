//go:build !linux

package tableio

import "os"

func startWriteback(*os.File, int64, int64) {}
