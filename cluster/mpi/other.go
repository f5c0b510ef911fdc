//go:build !linux

package mpi

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
)

// Job is a job of MPI, which this system lacks.
type Job struct{ cluster.Job }

// LowestFailed returns 0.
func (*Job) LowestFailed() int { return 0 }

// LauncherCores returns 0: it is not known.
func LauncherCores() int { return 0 }

// Start returns ErrUnsupported: ranks of MPI need Linux.
func Start(cluster.Options) (*Job, error) {
	return nil, &backend.OpError{Op: "open MPI", Err: backend.ErrUnsupported, Detail: "ranks of MPI need Linux"}
}
