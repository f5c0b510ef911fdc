package vulkan_test

import (
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func TestConformance(t *testing.T) {
	options := backendtest.Options{}
	if vulkantest.Validation(t) != vulkan.Off {
		options.Effort = backendtest.Short
	}
	options.NoCatalogue = testing.Short()
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T) backend.Driver {
				return openWith(t, info.ID, vulkan.Options{CacheDir: "off", Graphics: true})
			}, options)
		})
	}
}

// The same without subgroup operations, but for the kernels of the catalogue, whose shapes package kernel tests.
func TestConformanceWithoutSubgroups(t *testing.T) {
	if testing.Short() {
		t.Skip("short; make test-full runs it")
	}
	options := backendtest.Options{Effort: backendtest.Short, NoCatalogue: true}
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T) backend.Driver {
				return openWith(t, info.ID, vulkan.Options{CacheDir: "off", NoSubgroups: true})
			}, options)
		})
	}
}
