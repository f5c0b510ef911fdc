package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

// machine is what doctor looks at: the files of the system, the environment, and what the backends found.
type machine struct {
	root     fs.FS // of the file system, without the leading slash
	env      func(string) string
	devices  []backend.DeviceInfo
	problems []error
	opencl   []*openclDriver
	noOpenCL bool // the program was built without
	tuned    tuningState
	goos     string
}

// tuningState describes the tuning file.
type tuningState struct {
	path     string // empty: none is kept
	rows     int
	problems []error
}

func findTuning(devices []backend.DeviceInfo) tuningState {
	path := spirjoin.TuningFile()
	rows, _ := spirjoin.ReadTuning(path) // an error is among the problems
	return tuningState{path, len(rows), tuningProblems(devices)}
}

func thisMachine(devices []backend.DeviceInfo, problems []error, tuned tuningState) *machine {
	return &machine{root: os.DirFS("/"), env: os.Getenv, devices: devices, problems: problems, tuned: tuned,
		goos: runtime.GOOS}
}

// finding is one thing that doctor looked for.
type finding struct {
	What   string   `json:"what"`
	State  state    `json:"state"`
	Seen   []string `json:"seen"` // what is there, or why nothing is
	Advice *advice  `json:"advice,omitempty"`
}

// advice is something to do, and the command that does it, where there is one.
type advice struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

type state string

const (
	stateOK       state = "ok"
	stateMissing  state = "missing"
	stateOptional state = "optional" // missing, and seldom needed
	stateProblem  state = "problem"
)

// inspect looks for everything that a GPU needs before it can join. What is beside the backends is known of Linux only.
func (m *machine) inspect() []finding {
	if m.goos != "linux" {
		return append(m.backends(), m.tuning())
	}
	return slices.Concat([]finding{m.system(), m.loader(), m.drivers()}, m.gpus(), m.renderNodes(),
		[]finding{m.validation(), m.openclDrivers()}, m.backends(), []finding{m.tuning()})
}

func (m *machine) tuning() finding {
	f := finding{What: "tuning", State: stateOK,
		Seen: []string{"nothing was measured on this machine; the built-in tables count"}}
	if m.tuned.rows > 0 {
		f.Seen = []string{fmt.Sprintf("%s: %s", m.tuned.path, text.Plural(m.tuned.rows, "row"))}
	}
	if len(m.tuned.problems) > 0 {
		f.State, f.Advice = stateProblem, &advice{"measure again what the tuning file should hold, or remove " +
			m.tuned.path, "spirjoin tune"}
		f.Seen = nil
		for _, problem := range m.tuned.problems {
			f.Seen = append(f.Seen, text.OneLine(problem.Error()))
		}
	}
	return f
}

func (m *machine) system() finding {
	name := m.release()["PRETTY_NAME"]
	if name == "" {
		name = "unknown system"
	}
	if m.container() {
		name += ", in a container"
	}
	return finding{What: "system", State: stateOK, Seen: []string{name}}
}

func (m *machine) loader() finding {
	f := finding{What: "Vulkan loader", State: stateOK}
	if found := m.library("libvulkan.so.1"); found != "" {
		f.Seen = []string{found}
		return f
	}
	if slices.ContainsFunc(m.devices, func(d backend.DeviceInfo) bool { return d.Backend == "vulkan" }) {
		f.Seen = []string{"found by the dynamic linker"}
		return f
	}
	f.State, f.Seen, f.Advice = stateMissing, []string{"libvulkan.so.1 is not installed"},
		m.install("install the Vulkan loader", packageLoader)
	return f
}

// drivers reads the manifests that the Vulkan loader would read.
func (m *machine) drivers() finding {
	f := finding{What: "Vulkan drivers", State: stateOK}
	files := m.manifests("icd.d")
	for _, variable := range []string{"VK_DRIVER_FILES", "VK_ICD_FILENAMES"} {
		if list := m.env(variable); list != "" {
			files = m.expand(list)
			f.Seen = append(f.Seen, variable+"="+list)
			break
		}
	}
	files = append(files, m.expand(m.env("VK_ADD_DRIVER_FILES"))...)
	works := 0
	for _, file := range files {
		var manifest struct {
			ICD struct {
				Library string `json:"library_path"`
				API     string `json:"api_version"`
			} `json:"ICD"`
		}
		text, err := m.readFile(file)
		if err == nil {
			err = json.Unmarshal(text, &manifest)
		}
		library := manifest.ICD.Library
		switch {
		case err != nil:
			f.Seen = append(f.Seen, fmt.Sprintf("%s cannot be read: %v", file, err))
		case !m.driverLibrary(file, library):
			f.Seen = append(f.Seen, fmt.Sprintf("%s names %s, which does not exist", file, library))
		default:
			works++
			f.Seen = append(f.Seen, fmt.Sprintf("%s (Vulkan %s)", file, manifest.ICD.API))
		}
	}
	switch {
	case works > 0:
	case len(files) > 0:
		f.State = stateProblem
		f.Advice = &advice{
			Text: "install the Vulkan driver again, or correct VK_DRIVER_FILES and VK_ICD_FILENAMES: no manifest " +
				"leads to a library"}
	default:
		f.State = stateMissing
		f.Seen = append(f.Seen, "no driver is installed")
		f.Advice = m.install("install the Vulkan driver of your GPU, or lavapipe, a software driver to try spirjoin on",
			packageSoftware)
	}
	return f
}

func (m *machine) driverLibrary(manifest, library string) bool {
	switch {
	case strings.HasPrefix(library, "/"):
		return m.exists(library)
	case strings.Contains(library, "/"): // relative to the manifest
		return m.exists(path.Join(path.Dir(manifest), library))
	case library == "":
		return false
	}
	return m.library(library) != ""
}

// The vendors whose GPUs can be expected to have a Vulkan driver, by PCI number.
var vendors = map[uint32]struct {
	name   string
	driver packageName
}{
	0x10de: {"NVIDIA", packageNVIDIA},
	0x1002: {"AMD", packageAMD},
	0x8086: {"Intel", packageIntel},
}

const nvidia = 0x10de

// gpus compares the graphics devices on the PCI bus with the devices that Vulkan shows.
func (m *machine) gpus() (found []finding) {
	counts := make(map[uint32]int)
	devices, _ := fs.Glob(m.root, "sys/bus/pci/devices/*/class")
	for _, file := range devices {
		class, vendor := m.hex(file), m.hex(path.Join(path.Dir(file), "vendor"))
		if class>>16 == 0x03 { // display controllers, those without display included
			counts[vendor]++
		}
	}
	nvidiaKernel := m.exists("/proc/driver/nvidia/version")
	if nvidiaKernel && counts[nvidia] == 0 {
		counts[nvidia] = 1
	}
	for _, vendor := range []uint32{nvidia, 0x1002, 0x8086} {
		if counts[vendor] == 0 {
			continue
		}
		v := vendors[vendor]
		f := finding{What: v.name + " GPU", State: stateOK}
		for _, d := range m.devices {
			if d.VendorID == vendor && d.Type != backend.Software && d.Backend != "host" {
				f.Seen = append(f.Seen, fmt.Sprintf("device %d, %s", d.Index, d.Name))
			}
		}
		if len(f.Seen) == 0 {
			f.State, f.Seen = stateMissing, []string{"is in the machine, but no Vulkan driver shows it"}
			f.Advice = m.install("install the Vulkan driver for the "+v.name+" GPU", v.driver)
			if vendor == nvidia && nvidiaKernel && m.container() {
				f.Advice = &advice{
					"start the container with the graphics capability of the NVIDIA runtime, without which it gets " +
						"no Vulkan driver",
					"docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics ..."}
			}
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		found = append(found, finding{What: "GPU", State: stateOK,
			Seen: []string{"none on the PCI bus; software drivers and the host's cores remain"}})
	}
	return found
}

// renderNodes finds GPUs that exist and that this user may not open.
func (m *machine) renderNodes() (found []finding) {
	nodes, _ := fs.Glob(m.root, "dev/dri/renderD*")
	for _, node := range nodes {
		file, err := m.root.Open(node)
		if err == nil {
			_ = file.Close()
			continue
		}
		found = append(found, finding{What: "access to the GPU", State: stateProblem,
			Seen: []string{"/" + node + " cannot be opened by this user"},
			Advice: &advice{
				"let this user open the GPU, and log in again; in a container, pass --device /dev/dri to it",
				"sudo usermod -aG render,video $USER"}})
	}
	return found
}

func (m *machine) validation() finding {
	for _, file := range slices.Concat(m.manifests("explicit_layer.d"), m.expand(m.env("VK_LAYER_PATH")),
		m.expand(m.env("VK_ADD_LAYER_PATH"))) {
		if text, err := m.readFile(file); err == nil && strings.Contains(string(text), "VK_LAYER_KHRONOS_validation") {
			return finding{What: "validation layer", State: stateOK, Seen: []string{file}}
		}
	}
	return finding{What: "validation layer", State: stateOptional,
		Seen: []string{"not installed; only developers of kernels need it", m.packageNames(packageValidation)}}
}

// openclDrivers says what became of each driver that was asked for its devices.
func (m *machine) openclDrivers() finding {
	f := finding{What: "OpenCL drivers", State: stateOK}
	var bad []string
	for _, d := range m.opencl {
		what := cmp.Or(d.file, "OCL_ICD_VENDORS="+m.env("OCL_ICD_VENDORS"))
		if d.library != "" {
			what += " (" + d.library + ")"
		}
		if d.problem == "" {
			f.Seen = append(f.Seen, what+": "+text.Plural(len(d.devices), "device"))
			continue
		}
		f.State = stateProblem
		f.Seen = append(f.Seen, what+": "+d.problem)
		bad = append(bad, what)
	}
	if len(bad) > 0 {
		f.Advice = &advice{Text: "repair or remove " + strings.Join(bad, ", ") +
			"; or let OCL_ICD_VENDORS name a folder of the .icd files of drivers that work"}
	}
	switch {
	case m.noOpenCL:
		f.State, f.Seen = stateOptional, []string{"this program was built without OpenCL; `make build` builds with it"}
	case len(m.opencl) == 0:
		f.State, f.Seen = stateOptional, []string{"none is installed; GPUs without a Vulkan driver need one"}
	}
	return f
}

func (m *machine) backends() (found []finding) {
	counts := make(map[string]int)
	var order []string
	for _, d := range m.devices {
		if counts[d.Backend]++; counts[d.Backend] == 1 {
			order = append(order, d.Backend)
		}
	}
	for _, name := range order {
		found = append(found,
			finding{What: "backend " + name, State: stateOK, Seen: []string{text.Plural(counts[name], "device")}})
	}
	for _, problem := range m.problems {
		found = append(found,
			finding{What: "backend", State: stateProblem, Seen: []string{text.OneLine(problem.Error())}, Advice: &advice{
				Text: "repair, replace or remove the driver that fails; without a GPU the CPU does the work"}})
	}
	return found
}

// manifests lists the manifests of the given kind where the Vulkan loader looks for them.
func (m *machine) manifests(kind string) (files []string) {
	withDefault := func(variable, fallback string) string {
		if value := m.env(variable); value != "" {
			return value
		}
		return fallback
	}
	home := m.env("HOME")
	places := strings.Split(strings.Join([]string{
		withDefault("XDG_CONFIG_HOME", home+"/.config"), withDefault("XDG_CONFIG_DIRS", "/etc/xdg"), "/usr/local/etc",
		"/etc",
		withDefault("XDG_DATA_HOME", home+"/.local/share"), withDefault("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
	}, ":"), ":")
	for _, place := range places {
		files = append(files, m.manifestsIn(path.Join(place, "vulkan", kind))...)
	}
	return files
}

// expand turns a list of files and folders into files, whether they exist or not.
func (m *machine) expand(list string) (files []string) {
	for _, place := range strings.Split(list, ":") {
		if info, err := fs.Stat(m.root, strings.TrimPrefix(place, "/")); err == nil && info.IsDir() {
			files = append(files, m.manifestsIn(place)...)
		} else if strings.HasPrefix(place, "/") {
			files = append(files, place)
		}
	}
	return files
}

func (m *machine) manifestsIn(dir string) (files []string) {
	found, _ := fs.Glob(m.root, path.Join(strings.TrimPrefix(dir, "/"), "*.json"))
	for _, file := range found {
		files = append(files, "/"+file)
	}
	return files
}

// library finds a shared library where dynamic linkers look; empty where it is not.
func (m *machine) library(name string) string {
	for _, dir := range strings.Split(m.env("LD_LIBRARY_PATH"), ":") {
		if file := path.Join(dir, name); strings.HasPrefix(dir, "/") && m.exists(file) {
			return file
		}
	}
	for _, pattern := range []string{"usr/lib/*-linux-*", "lib/*-linux-*", "usr/lib64", "lib64", "usr/lib", "lib",
		"usr/local/lib", "usr/local/lib64"} {
		if found, _ := fs.Glob(m.root, path.Join(pattern, name)); len(found) > 0 {
			return "/" + found[0]
		}
	}
	return ""
}

func (m *machine) exists(file string) bool {
	_, err := fs.Stat(m.root, strings.TrimPrefix(file, "/"))
	return err == nil
}

func (m *machine) readFile(file string) ([]byte, error) {
	text, err := fs.ReadFile(m.root, strings.TrimPrefix(file, "/"))
	if err != nil {
		err = command.PlainError(err)
	}
	return text, err
}

func (m *machine) hex(file string) (value uint32) {
	text, _ := m.readFile(file)
	_, _ = fmt.Sscanf(string(text), "0x%x", &value)
	return value
}

func (m *machine) container() bool {
	return m.exists("/.dockerenv") || m.exists("/run/.containerenv") || m.env("container") != "" ||
		m.env("KUBERNETES_SERVICE_HOST") != ""
}
