package kernel

import (
	"reflect"

	"github.com/spirjoin/spirjoin/backend"
)

// ArgumentsOf and SettingsOf are what define reads from the structs of a kernel whose buffers are slices of bytes.
func ArgumentsOf[V any]() ([]backend.ArgSpec, []string) {
	return argumentsOf[[]byte](reflect.TypeFor[V]())
}

func SettingsOf[C any]() (names []string) {
	for _, s := range settingsOf(reflect.TypeFor[C]()) {
		names = append(names, s.name)
	}
	return names
}

var Snake = snake
