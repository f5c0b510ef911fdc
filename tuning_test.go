package spirjoin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// A row of the tuning file changes what an engine runs. Options override it. A row with an error is reported and
// changes nothing.
func TestUserTuning(t *testing.T) {
	system, err := Discover(SystemOptions{HostOnly: true})
	require.NoError(t, err)
	defer system.Close()
	path := filepath.Join(t.TempDir(), "folder", "tuning.json")
	t.Setenv("SPIRJOIN_TUNING", path)
	configIn := func(options Options) (backend.Config, []error) {
		engine, err := system.Engine(t.Context(), options)
		require.NoError(t, err)
		defer func() { require.NoError(t, engine.Close()) }()
		return engine.join.Ops.Tuning().Config("gather", nil), engine.TuningProblems()
	}
	built, problems := configIn(Options{})
	require.Empty(t, problems)
	require.NotEmpty(t, built)

	info := system.Devices[0]
	row := primitive.UserRow{Device: info.Name, Driver: info.Driver, DriverVersion: info.DriverVersion,
		Primitive: "gather",
		Config:    backend.Config{"workgroup": 1, "items": 96}, Measured: "by hand"}
	require.NoError(t, WriteTuning(path, []primitive.UserRow{row}))
	user, problems := configIn(Options{})
	require.Empty(t, problems)
	require.Equal(t, row.Config, user)
	chosen := backend.Config{"workgroup": 1, "items": 64}
	named, _ := configIn(Options{Tuning: primitive.Override(chosen, "gather")})
	require.Equal(t, chosen, named)

	row.DriverVersion = "of yesterday"
	require.NoError(t, WriteTuning(path, []primitive.UserRow{row}))
	outdated, problems := configIn(Options{})
	require.Equal(t, built, outdated)
	require.Len(t, problems, 1)
	require.ErrorContains(t, problems[0], path+", row 1: gather was measured")

	require.NoError(t, os.WriteFile(path, []byte("[{"), 0o666))
	broken, problems := configIn(Options{})
	require.Equal(t, built, broken)
	require.Len(t, problems, 1)
	require.ErrorContains(t, problems[0], path)

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o777))
	_, problems = configIn(Options{})
	require.Len(t, problems, 1, "a file that cannot be read")

	t.Setenv("SPIRJOIN_TUNING", "off")
	require.Empty(t, TuningFile())
	off, problems := configIn(Options{})
	require.Equal(t, built, off)
	require.Empty(t, problems)

	t.Setenv("SPIRJOIN_TUNING", "")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/home")
	require.Equal(t, "tuning.json", filepath.Base(TuningFile()))
	require.Equal(t, "spirjoin", filepath.Base(filepath.Dir(TuningFile())))
}
