package endtoend

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spirjoin/spirjoin/internal/offheap"
)

const (
	copyPieceBytes = 16 << 20 // large enough for stores that bypass the caches
	filePieceBytes = 1 << 20
)

// host measures copies between blocks of host memory, mapped like the memory of tables and batches.
func (r *Rates) host(ctx context.Context) error {
	from, to, unmap, err := hostBlocks()
	if err != nil {
		return err
	}
	defer unmap()
	cores := runtime.GOMAXPROCS(0)
	if err := shares(ctx, cores, copyPieceBytes, func(_ int, at, end uint64) error {
		for i := range from[at:end] {
			from[at+uint64(i)] = byte(i) // otherwise all of it is one page of zeros
		}
		return nil
	}); err != nil {
		return err
	}
	copied := func(workers int) (float64, error) {
		return fastest(2*rateBytes, wall(func() error {
			return shares(ctx, workers, copyPieceBytes, func(_ int, at, end uint64) error {
				copy(to[at:end], from[at:end])
				return nil
			})
		}))
	}
	if r.OneCore, err = copied(1); err != nil {
		return err
	}
	if r.Host = r.OneCore; cores > 1 {
		r.Host, err = copied(cores)
	}
	return err
}

// hostBlocks maps two blocks of rateBytes.
func hostBlocks() (from, to []byte, unmap func(), err error) {
	from, unmapFrom, err := offheap.Map(int(rateBytes))
	if err != nil {
		return nil, nil, nil, err
	}
	to, unmapTo, err := offheap.Map(int(rateBytes))
	if err != nil {
		unmapFrom()
		return nil, nil, nil, err
	}
	return from, to, func() { unmapFrom(); unmapTo() }, nil
}

// files measures a file of the folder.
func (r *Rates) files(ctx context.Context, folder string) (err error) {
	path := filepath.Join(folder, "rate")
	defer os.Remove(path)
	content := make([]byte, filePieceBytes)
	if r.FileWrite, err = fastest(rateBytes, wall(func() error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return shares(ctx, 1, filePieceBytes, func(_ int, at, end uint64) error {
			_, err := file.Write(content[:end-at])
			return err
		})
	})); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	into := make([][filePieceBytes]byte, runtime.GOMAXPROCS(0))
	r.FileRead, err = fastest(rateBytes, wall(func() error {
		return shares(ctx, len(into), filePieceBytes, func(worker int, at, end uint64) error {
			_, err := file.ReadAt(into[worker][:end-at], int64(at))
			return err
		})
	}))
	return err
}
