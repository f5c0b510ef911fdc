//go:build !unix

package tableio

import "testing"

func limitOpenFiles(*testing.T, uint64) (restore func()) { return func() {} }
