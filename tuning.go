package spirjoin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/cache"
	"github.com/spirjoin/spirjoin/primitive"
)

// tuningVariable is the environment variable that names the tuning file, or is "off".
const tuningVariable = "SPIRJOIN_TUNING"

// TuningFile returns the path of the file with the tuning rows that were measured on this machine: the value of
// SPIRJOIN_TUNING, otherwise tuning.json in spirjoin's folder of the user's cache. It is empty if SPIRJOIN_TUNING is
// "off" or there is no such folder.
func TuningFile() string {
	path := os.Getenv(tuningVariable)
	if path == "off" {
		return ""
	}
	if path == "" {
		path, _ = cache.Path("tuning.json") // no folder, no file
	}
	return path
}

// ReadTuning reads the rows of a tuning file. A missing file has none.
func ReadTuning(path string) ([]primitive.UserRow, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := primitive.ParseUserRows(text)
	if err != nil {
		return nil, fmt.Errorf("tuning file %s: %w: %w", path, backend.ErrInvalidInput, err)
	}
	return rows, nil
}

// WriteTuning replaces a tuning file atomically.
func WriteTuning(path string, rows []primitive.UserRow) error {
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(path, append(text, '\n'))
}

// UserTuning returns the rows of the tuning file that apply to a device. Problems with the file, or with its rows for
// the device, are in problems; the device then uses its built-in tables.
func UserTuning(info *backend.DeviceInfo) (tuning primitive.Tuning, problems []error) {
	path := TuningFile()
	rows, err := ReadTuning(path)
	if err != nil {
		return nil, []error{err}
	}
	tuning, problems = primitive.UserTuning(rows, info)
	for i, problem := range problems {
		problems[i] = fmt.Errorf("tuning file %s, %w; `spirjoin tune` measures again", path, problem)
	}
	return tuning, problems
}
