//go:build unix

package tableio

import "os"

// syncDirectory makes a rename in dir durable. File systems that cannot sync a
// directory are left to their own order.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // writable but not readable: the rename stands
	}
	_ = d.Sync()
	return d.Close()
}
