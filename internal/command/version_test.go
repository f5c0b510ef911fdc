package command

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionOf(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for want, info := range map[string]debug.BuildInfo{
		"v1.2.3":                           {Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{commit}},
		"development":                      {Main: debug.Module{Version: "(devel)"}},
		"development, commit 0123456789ab": {Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "false"}}},
		"development, commit 0123456789ab with changes": {
			Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}},
	} {
		require.Equal(t, want, versionOf(&info))
	}
}
