// Package opencltest opens OpenCL devices for tests. SPIRJOIN_TEST_DEVICES lists devices by name, separated by commas:
// "opencl" is every usable OpenCL device, "pocl" every device of PoCL. A device that is named and not there fails the
// test. With SPIRJOIN_TEST_OPENCL=staged devices use no memory of the host in place, as if they were discrete GPUs.
package opencltest

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/opencl"
)

var shared struct {
	mu      sync.Mutex
	backend *opencl.Backend
	err     error
}

// Backend returns the backend of the test binary, opened at the first call and never closed. It keeps no binaries:
// drivers have caches of their own, which tests may share. Under go test -short, kernels for cores are compiled without
// optimization, because compiling takes most of the time.
func Backend(t testing.TB) *opencl.Backend {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.backend == nil && shared.err == nil {
		how := os.Getenv("SPIRJOIN_TEST_OPENCL")
		if how != "" && how != "staged" {
			t.Fatalf("SPIRJOIN_TEST_OPENCL=%s: it is staged or nothing", how)
		}
		shared.backend, shared.err = opencl.New(opencl.Options{CacheDir: "off", Staged: how == "staged",
			Unoptimized: testing.Short()})
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.backend
}

// named lists the names in SPIRJOIN_TEST_DEVICES that mean OpenCL devices.
func named() []string {
	list := strings.FieldsFunc(strings.ToLower(os.Getenv("SPIRJOIN_TEST_DEVICES")),
		func(r rune) bool { return r == ',' || r == ' ' })
	return slices.DeleteFunc(list, func(name string) bool { return name != "opencl" && name != "pocl" })
}

// Named reports whether the environment names OpenCL devices.
func Named() bool { return len(named()) > 0 }

// Devices returns the usable devices that are named; none if none is named.
func Devices(t testing.TB) (chosen []backend.DeviceInfo) {
	t.Helper()
	names := named()
	if len(names) == 0 {
		return nil
	}
	infos, err := Backend(t).Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if info.Unusable == "" && info.TwinOf == "" && (slices.Contains(names, "opencl") || info.Driver == "PoCL") {
			chosen = append(chosen, info)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("SPIRJOIN_TEST_DEVICES names %v, and OpenCL has no such device", names)
	}
	return chosen
}

// Open opens a device by its ID. At the end of the test it is closed, if the test did not do it.
func Open(t testing.TB, id string) backend.Driver {
	t.Helper()
	d, err := Backend(t).Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("closing %s: %v", id, err)
		}
	})
	return d
}
