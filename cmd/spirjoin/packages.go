package main

import (
	"fmt"
	"slices"
	"strings"
)

// packageName is something to install, which every distribution calls by another name.
type packageName uint8

const (
	packageLoader packageName = iota
	packageSoftware
	packageValidation
	packageAMD
	packageIntel
	packageNVIDIA
)

// distribution is a family of systems with one package manager.
type distribution struct {
	name     string
	ids      []string // ID or ID_LIKE of os-release, the more special distribution first
	install  string
	packages map[packageName]string
}

var distributions = []distribution{
	{"Ubuntu", []string{"ubuntu"}, "sudo apt install", map[packageName]string{
		packageLoader: "libvulkan1", packageSoftware: "mesa-vulkan-drivers", packageValidation: "vulkan-validationlayers",
		packageAMD: "mesa-vulkan-drivers", packageIntel: "mesa-vulkan-drivers", packageNVIDIA: "ubuntu-drivers-common && sudo ubuntu-drivers install",
	}},
	{"Debian", []string{"debian"}, "sudo apt install", map[packageName]string{
		packageLoader: "libvulkan1", packageSoftware: "mesa-vulkan-drivers", packageValidation: "vulkan-validationlayers",
		packageAMD: "mesa-vulkan-drivers", packageIntel: "mesa-vulkan-drivers", packageNVIDIA: "nvidia-driver nvidia-vulkan-icd",
	}},
	{"Fedora", []string{"fedora", "rhel"}, "sudo dnf install", map[packageName]string{
		packageLoader: "vulkan-loader", packageSoftware: "mesa-vulkan-drivers", packageValidation: "vulkan-validation-layers",
		packageAMD: "mesa-vulkan-drivers", packageIntel: "mesa-vulkan-drivers", packageNVIDIA: "akmod-nvidia",
	}},
	{"Arch", []string{"arch"}, "sudo pacman -S", map[packageName]string{
		packageLoader: "vulkan-icd-loader", packageSoftware: "vulkan-swrast", packageValidation: "vulkan-validation-layers",
		packageAMD: "vulkan-radeon", packageIntel: "vulkan-intel", packageNVIDIA: "nvidia-utils",
	}},
}

// install advises to install a package: by the command that does it here, or by its names where the distribution is unknown.
func (m *machine) install(what string, p packageName) *advice {
	if d := m.distribution(); d != nil {
		return &advice{what, d.install + " " + d.packages[p]}
	}
	return &advice{Text: what + ": " + m.packageNames(p)}
}

// packageNames is what a package is called here, or everywhere.
func (m *machine) packageNames(p packageName) string {
	if d := m.distribution(); d != nil {
		return d.packages[p]
	}
	var names []string
	for _, d := range distributions {
		names = append(names, fmt.Sprintf("%s (%s)", d.packages[p], d.name))
	}
	return strings.Join(names, ", ")
}

// distribution is the one that this system is or is like; nil for others.
func (m *machine) distribution() *distribution {
	release := m.release()
	for _, id := range strings.Fields(release["ID"] + " " + release["ID_LIKE"]) {
		for i := range distributions {
			if slices.Contains(distributions[i].ids, id) {
				return &distributions[i]
			}
		}
	}
	return nil
}

// release reads os-release.
func (m *machine) release() map[string]string {
	text, err := m.readFile("/etc/os-release")
	if err != nil {
		text, _ = m.readFile("/usr/lib/os-release")
	}
	values := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[name] = strings.Trim(value, `"'`)
		}
	}
	return values
}
