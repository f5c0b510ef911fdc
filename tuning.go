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

// TuningFile is where rows that were measured on this machine are kept: the file that SPIRJOIN_TUNING names, otherwise
// tuning.json in the user's cache folder for spirjoin. It is empty where SPIRJOIN_TUNING is "off" or there is no such folder.
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

// ReadTuning reads the rows of a tuning file. A file that is not there has none.
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

// WriteTuning replaces a tuning file as a whole.
func WriteTuning(path string, rows []primitive.UserRow) error {
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(path, append(text, '\n'))
}

// UserTuning returns the rows of the tuning file that count on a device. What is wrong with the file or its rows for the device
// is in problems; the device then runs by its tables.
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
