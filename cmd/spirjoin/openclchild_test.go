//go:build opencl && linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/opencl"
)

// brokenDriver compiles an OpenCL driver that does something when it is loaded.
func brokenDriver(t *testing.T, does string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "driver.so")
	source := path + ".c"
	require.NoError(t, os.WriteFile(source, []byte("#include <stdlib.h>\n#include <unistd.h>\n"+
		"__attribute__((constructor)) static void loaded(void) { "+does+" }\n"), 0o600))
	said, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput()
	require.NoError(t, err, "%s", said)
	return path
}

// openclDrivers makes a folder of drivers for the loader the only one, and returns it.
func openclDrivers(t *testing.T, libraries map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, library := range libraries {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".icd"), []byte(library+"\n"), 0o600))
	}
	t.Setenv("OCL_ICD_VENDORS", folder)
	t.Setenv("OCL_ICD_FILENAMES", "")
	return folder
}

// TestBrokenOpenCLDrivers: doctor says which driver is broken and why, and neither hangs nor ends with it.
func TestBrokenOpenCLDrivers(t *testing.T) {
	devicetest.HostTest(t)
	text := filepath.Join(t.TempDir(), "text.so")
	require.NoError(t, os.WriteFile(text, bytes.Repeat([]byte("no library "), 20), 0o600))
	folder := openclDrivers(t, map[string]string{"absent": "/absent/driver.so", "text": text,
		"crashes": brokenDriver(t, "abort();"), "hangs": brokenDriver(t, "for (;;) sleep(1);")})
	limit := listLimit
	listLimit = 2 * time.Second
	defer func() { listLimit = limit }()
	drivers, cleanup, err := probeOpenCL(t.Context())
	require.NoError(t, err)
	defer cleanup()
	why := make(map[string]string)
	for _, d := range drivers {
		require.Empty(t, d.devices)
		why[filepath.Base(d.file)] = d.problem
	}
	require.Len(t, why, 4)
	require.Contains(t, why["absent.icd"], "open /absent/driver.so: no such file or directory")
	require.Contains(t, why["text.icd"], "bad magic number")
	require.Contains(t, why["crashes.icd"], "listing its devices: ")
	require.Contains(t, why["crashes.icd"], "SIGABRT")
	require.Equal(t, "listing its devices: no answer in 2s", why["hangs.icd"])

	m := &machine{opencl: drivers, env: os.Getenv}
	f := m.openclDrivers()
	require.Equal(t, stateProblem, f.State)
	for name := range why {
		require.Contains(t, f.Advice.Text, filepath.Join(folder, name))
	}
}

// TestOpenCLDriverThatHangs: another device is used nevertheless, and the program ends. It leaves the driver's thread
// behind, so that it runs in a process of its own.
func TestOpenCLDriverThatHangs(t *testing.T) {
	devicetest.HostTest(t)
	const child = "SPIRJOIN_TEST_HANGING_OPENCL"
	if os.Getenv(child) == "" {
		openclDrivers(t, map[string]string{"hangs": brokenDriver(t, "for (;;) sleep(1);")})
		t.Setenv(child, "1")
		program, err := os.Executable()
		require.NoError(t, err)
		process := exec.CommandContext(t.Context(), program, "-test.run", "^TestOpenCLDriverThatHangs$")
		process.WaitDelay = time.Second
		ended := time.AfterFunc(30*time.Second, func() { _ = process.Process.Kill() })
		defer ended.Stop()
		said, err := process.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), "closed\n")
		return
	}
	system, err := spirjoin.Discover(spirjoin.SystemOptions{OpenCL: opencl.Options{ListLimit: time.Second}})
	require.NoError(t, err)
	require.ErrorContains(t, system.Problems[len(system.Problems)-1], "a driver did not list its devices in 1s")
	device, err := system.Open(t.Context(), "host", backend.DeviceOptions{})
	require.NoError(t, err)
	require.NoError(t, device.Close())
	require.NoError(t, system.Close())
	os.Stdout.WriteString("closed\n")
	os.Exit(0)
}
