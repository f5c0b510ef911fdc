//go:build !unix

package tableio

// syncDirectory does nothing where directories cannot be synchronised.
func syncDirectory(string) error { return nil }
