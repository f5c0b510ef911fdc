// Package vulkantest opens Vulkan devices for tests as three environment variables say:
//
//	SPIRJOIN_TEST_VALIDATION  off (default), sync or gpu: what the validation layer checks
//	SPIRJOIN_TEST_DEVICES     names separated by commas: lavapipe, swiftshader, or a part of a device's name; "host" is for
//	                          other backends. Default: lavapipe if it is installed
//	SPIRJOIN_TEST_PART_BYTES  size of the allocations of larger blocks, where a device can make them of several
//
// A message of the validation layer, a leaked object included, fails the test in which it came. A device that is named and
// not there fails the test; with nothing named and no lavapipe, tests are skipped.
package vulkantest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan"
)

// swiftShader is where tools/swiftshader.sh puts its driver, below the user's cache directory.
const swiftShader = "spirjoin/swiftshader/147.0.0/vk_swiftshader_icd.json"

// Graphics opens devices with a queue for [backend.Graphics]; a TestMain sets it.
var Graphics bool

var shared struct {
	mu       sync.Mutex
	backend  *vulkan.Backend
	err      error
	reported int // messages that were looked at
}

// Backend returns the backend of the test binary, opened at the first call and never closed. The test is skipped where
// there is no Vulkan, unless a device is named.
func Backend(t testing.TB) *vulkan.Backend {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.backend == nil && shared.err == nil {
		shared.backend, shared.err = open(t)
	}
	if shared.err != nil {
		if len(named()) > 0 || Validation(t) != vulkan.Off {
			t.Fatal(shared.err)
		}
		t.Skipf("SKIPPED, NOTHING RAN: no Vulkan: %v", shared.err)
	}
	return shared.backend
}

func open(t testing.TB) (*vulkan.Backend, error) {
	if slices.Contains(named(), "swiftshader") {
		addSwiftShader()
	}
	// Subgroups of 8 rather than the 4 that users get: the size that no other driver here has.
	if _, set := os.LookupEnv("LP_NATIVE_VECTOR_WIDTH"); !set {
		_ = os.Setenv("LP_NATIVE_VECTOR_WIDTH", "256")
	}
	var partBytes uint64
	if text := os.Getenv("SPIRJOIN_TEST_PART_BYTES"); text != "" {
		var err error
		if partBytes, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SPIRJOIN_TEST_PART_BYTES: %v", err)
		}
	}
	return vulkan.New(vulkan.Options{Validation: Validation(t), CacheDir: "off", PartBytes: partBytes,
		Graphics: Graphics})
}

// Validation is what SPIRJOIN_TEST_VALIDATION asks for.
func Validation(t testing.TB) vulkan.Validation {
	t.Helper()
	v, err := vulkan.ParseValidation(os.Getenv("SPIRJOIN_TEST_VALIDATION"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// named lists the names in SPIRJOIN_TEST_DEVICES that mean Vulkan devices, in lower case; nil when it is not set.
func named() []string {
	list := strings.FieldsFunc(strings.ToLower(os.Getenv("SPIRJOIN_TEST_DEVICES")), func(r rune) bool { return r == ',' || r == ' ' })
	return slices.DeleteFunc(list, func(name string) bool { return name == "host" || name == "opencl" || name == "pocl" })
}

// Named reports whether the environment selects Vulkan devices; it does if it names no device at all.
func Named() bool { return os.Getenv("SPIRJOIN_TEST_DEVICES") == "" || len(named()) > 0 }

// Devices returns the usable devices that were selected.
func Devices(t testing.TB) []backend.DeviceInfo {
	t.Helper()
	names := named()
	if !Named() {
		t.Skip("SPIRJOIN_TEST_DEVICES names no Vulkan device")
	}
	infos, err := Backend(t).Devices()
	if err != nil {
		t.Fatal(err)
	}
	selected := func(name string) (found []backend.DeviceInfo) {
		for _, info := range infos {
			if matches(&info, name) && info.Unusable == "" {
				found = append(found, info)
			}
		}
		return found
	}
	if len(names) == 0 {
		found := selected("lavapipe")
		if len(found) == 0 {
			t.Skip("SKIPPED, NOTHING RAN: lavapipe is not installed and SPIRJOIN_TEST_DEVICES names no device")
		}
		return found
	}
	var all []backend.DeviceInfo
	for _, name := range names {
		found := selected(name)
		if len(found) == 0 {
			t.Fatalf("SPIRJOIN_TEST_DEVICES names %q, which is not a usable Vulkan device; there are %v", name, describe(infos))
		}
		for _, info := range found {
			if !slices.ContainsFunc(all, func(i backend.DeviceInfo) bool { return i.ID == info.ID }) {
				all = append(all, info)
			}
		}
	}
	return all
}

func matches(info *backend.DeviceInfo, name string) bool {
	if name == "lavapipe" {
		name = "llvmpipe"
	}
	return strings.Contains(strings.ToLower(info.Name), name) || strings.Contains(strings.ToLower(info.Driver), name)
}

func describe(infos []backend.DeviceInfo) (lines []string) {
	for _, info := range infos {
		line := info.Name
		if info.Unusable != "" {
			line += " (unusable: " + info.Unusable + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// addSwiftShader tells the loader where SwiftShader is, unless the environment lists drivers itself.
func addSwiftShader() {
	cache, err := os.UserCacheDir()
	if err != nil || os.Getenv("VK_DRIVER_FILES") != "" || os.Getenv("VK_ICD_FILENAMES") != "" || os.Getenv("VK_ADD_DRIVER_FILES") != "" {
		return
	}
	if manifest := filepath.Join(cache, swiftShader); exists(manifest) {
		_ = os.Setenv("VK_ADD_DRIVER_FILES", manifest)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Open opens each selected device. At the end of the test the drivers are closed, if the test did not, and the messages of
// the validation layer are looked at.
func Open(t testing.TB) []backend.Driver {
	t.Helper()
	var drivers []backend.Driver
	for _, info := range Devices(t) {
		drivers = append(drivers, OpenDevice(t, info.ID))
	}
	return drivers
}

// OpenDevice opens one device by its ID, as Open does.
func OpenDevice(t testing.TB, id string) backend.Driver {
	t.Helper()
	b := Backend(t)
	d, err := b.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("closing %s: %v", id, err)
		}
		Check(t)
	})
	return d
}

// OpenWithoutSubgroups opens each selected device as if it had no subgroup operations, with a backend of its own. Both
// are closed at the end of the test.
func OpenWithoutSubgroups(t testing.TB) []backend.Driver {
	t.Helper()
	infos := Devices(t)
	b, err := vulkan.New(vulkan.Options{Validation: Validation(t), CacheDir: "off", NoSubgroups: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		Check(t)
	})
	var drivers []backend.Driver
	for _, info := range infos {
		d, err := b.Open(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Errorf("closing %s: %v", info.ID, err)
			}
		})
		drivers = append(drivers, d)
	}
	return drivers
}

// Check fails the test if the validation layer said anything since the last Check or Take.
func Check(t testing.TB) {
	t.Helper()
	for _, m := range Take(t) {
		t.Errorf("Vulkan validation: %v", m)
	}
}

// Take returns what the validation layer said since the last Check or Take, for tests that provoke it.
func Take(t testing.TB) []vulkan.Message {
	t.Helper()
	b := Backend(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	all := b.Messages()
	news := all[shared.reported:]
	shared.reported = len(all)
	return news
}
