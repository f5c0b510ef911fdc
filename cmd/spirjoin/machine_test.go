package main

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func machineOf(files map[string]string, env map[string]string, devices ...backend.DeviceInfo) *machine {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &machine{root: root, env: func(name string) string { return env[name] }, devices: devices, goos: "linux"}
}

func find(t *testing.T, findings []finding, what string) finding {
	for _, f := range findings {
		if f.What == what {
			return f
		}
	}
	require.Fail(t, "not looked for: "+what)
	return finding{}
}

const (
	debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"
	mint   = "PRETTY_NAME='Linux Mint 22'\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"
	lvp    = `{"file_format_version": "1.0.0", "ICD": {"api_version": "1.3.230", "library_path": "libvulkan_lvp.so"}}`
)

func TestInspectBareMachine(t *testing.T) {
	findings := machineOf(map[string]string{"etc/os-release": debian}, nil, backend.DeviceInfo{Backend: "host"}).inspect()
	require.Equal(t, []string{"Debian GNU/Linux 12 (bookworm)"}, find(t, findings, "system").Seen)
	loader := find(t, findings, "Vulkan loader")
	require.Equal(t, stateMissing, loader.State)
	require.Equal(t, &advice{"install the Vulkan loader", "sudo apt install libvulkan1"}, loader.Advice)
	drivers := find(t, findings, "Vulkan drivers")
	require.Equal(t, stateMissing, drivers.State)
	require.Equal(t, "sudo apt install mesa-vulkan-drivers", drivers.Advice.Command)
	require.Equal(t, stateOptional, find(t, findings, "validation layer").State)
	require.Equal(t, stateOK, find(t, findings, "GPU").State)
	require.Equal(t, []string{"1 device"}, find(t, findings, "backend host").Seen)
}

func TestInspectCompleteMachine(t *testing.T) {
	findings := machineOf(map[string]string{
		"etc/os-release": debian,
		"usr/lib/x86_64-linux-gnu/libvulkan.so.1":                           "",
		"usr/lib/x86_64-linux-gnu/libvulkan_lvp.so":                         "",
		"usr/share/vulkan/icd.d/lvp_icd.x86_64.json":                        lvp,
		"usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json": `{"layer": {"name": "VK_LAYER_KHRONOS_validation"}}`,
		"sys/bus/pci/devices/0000:01:00.0/class":                            "0x030000\n",
		"sys/bus/pci/devices/0000:01:00.0/vendor":                           "0x1002\n",
		"sys/bus/pci/devices/0000:02:00.0/class":                            "0x020000\n",
		"sys/bus/pci/devices/0000:02:00.0/vendor":                           "0x8086\n",
		"dev/dri/renderD128":                                                "",
	}, nil, backend.DeviceInfo{Backend: "vulkan", Name: "Radeon", VendorID: 0x1002}).inspect()
	require.Equal(t, stateOptional, find(t, findings, "OpenCL drivers").State)
	findings = slices.DeleteFunc(findings, func(f finding) bool { return f.What == "OpenCL drivers" })
	for _, f := range findings {
		require.Equal(t, stateOK, f.State, f.What)
		require.Nil(t, f.Advice, f.What)
		require.NotEqual(t, "Intel GPU", f.What, "a network card is no GPU")
	}
	require.Equal(t, []string{"/usr/share/vulkan/icd.d/lvp_icd.x86_64.json (Vulkan 1.3.230)"}, find(t, findings, "Vulkan drivers").Seen)
	require.Equal(t, []string{"device 0, Radeon"}, find(t, findings, "AMD GPU").Seen)
}

func TestInspectDrivers(t *testing.T) {
	inspect := func(files, env map[string]string) finding {
		return find(t, machineOf(files, env).inspect(), "Vulkan drivers")
	}

	f := inspect(map[string]string{"usr/share/vulkan/icd.d/a.json": lvp}, nil)
	require.Equal(t, stateProblem, f.State)
	require.Equal(t, []string{"/usr/share/vulkan/icd.d/a.json names libvulkan_lvp.so, which does not exist"}, f.Seen)

	f = inspect(map[string]string{"usr/share/vulkan/icd.d/a.json": "{"}, nil)
	require.Equal(t, stateProblem, f.State)
	require.Contains(t, f.Seen[0], "cannot be read")

	f = inspect(map[string]string{"usr/share/vulkan/icd.d/a.json": lvp, "usr/lib64/libvulkan_lvp.so": ""}, map[string]string{"VK_DRIVER_FILES": "/opt/none.json"})
	require.Equal(t, stateProblem, f.State, "VK_DRIVER_FILES hides the installed driver")
	require.Equal(t, "VK_DRIVER_FILES=/opt/none.json", f.Seen[0])

	f = inspect(map[string]string{"opt/d/a.json": `{"ICD": {"library_path": "./lib.so"}}`, "opt/d/lib.so": ""}, map[string]string{"VK_ICD_FILENAMES": "/opt/d"})
	require.Equal(t, stateOK, f.State, "a folder, and a library beside its manifest")

	f = inspect(map[string]string{"home/me/.local/share/vulkan/icd.d/a.json": lvp, "opt/lib/libvulkan_lvp.so": ""}, map[string]string{"HOME": "/home/me", "LD_LIBRARY_PATH": "/nowhere:/opt/lib"})
	require.Equal(t, stateOK, f.State)
}

func TestInspectFindsWhyAGPUIsNotThere(t *testing.T) {
	nvidiaCard := map[string]string{"sys/bus/pci/devices/0000:18:00.0/class": "0x030200\n", "sys/bus/pci/devices/0000:18:00.0/vendor": "0x10de\n", "etc/os-release": mint}
	f := find(t, machineOf(nvidiaCard, nil).inspect(), "NVIDIA GPU")
	require.Equal(t, stateMissing, f.State)
	require.Equal(t, &advice{"install the Vulkan driver for the NVIDIA GPU", "sudo apt install ubuntu-drivers-common && sudo ubuntu-drivers install"}, f.Advice)

	inContainer := map[string]string{"proc/driver/nvidia/version": "NVRM", ".dockerenv": ""}
	f = find(t, machineOf(inContainer, nil).inspect(), "NVIDIA GPU")
	require.Equal(t, stateMissing, f.State)
	require.Contains(t, f.Advice.Command, "NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics")

	software := backend.DeviceInfo{Backend: "vulkan", VendorID: nvidia, Type: backend.Software}
	f = find(t, machineOf(inContainer, nil, software).inspect(), "NVIDIA GPU")
	require.Equal(t, stateMissing, f.State, "a software driver is no GPU")
}

func TestInspectUnknownDistributionNamesAll(t *testing.T) {
	f := find(t, machineOf(nil, nil).inspect(), "Vulkan loader")
	for _, name := range []string{"libvulkan1 (Debian)", "vulkan-loader (Fedora)", "vulkan-icd-loader (Arch)"} {
		require.Contains(t, f.Advice.Text, name)
	}
}

// noEntry refuses to open what lies below dev.
type noEntry struct{ fs.FS }

func (n noEntry) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "dev/dri/") {
		return nil, fs.ErrPermission
	}
	return n.FS.Open(name)
}

func TestInspectRenderNodes(t *testing.T) {
	m := machineOf(map[string]string{"dev/dri/renderD128": ""}, nil)
	m.root = noEntry{m.root}
	f := find(t, m.inspect(), "access to the GPU")
	require.Equal(t, stateProblem, f.State)
	require.Contains(t, f.Advice.Command, "usermod -aG render")
}

func TestInspectTellsProblems(t *testing.T) {
	m := machineOf(nil, nil)
	m.problems = []error{errors.New("vulkan: no driver\nfound")}
	require.Equal(t, []string{"vulkan: no driver; found"}, find(t, m.inspect(), "backend").Seen)
	m.goos = "darwin"
	require.Len(t, m.inspect(), 2, "only the backends and the tuning are known elsewhere")
}
