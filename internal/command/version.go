package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is what the build knows of itself: the module's version, or the commit that it was built from.
func Version() string {
	text := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		text = versionOf(info)
	}
	return fmt.Sprintf("%s (%s, %s/%s)", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return "development"
	}
	text := "development, commit " + commit[:min(len(commit), 12)]
	if settings["vcs.modified"] == "true" {
		text += " with changes"
	}
	return text
}
