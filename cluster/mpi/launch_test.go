package mpi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type vars map[string]string

func TestLaunchedBy(t *testing.T) {
	for _, c := range []struct {
		variables vars
		name      string
		size      int
		library   string // the first
		mpich     bool   // a library of MPICH fits
		open      bool   // one of Open MPI does
	}{
		{vars{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "1"}, "mpirun of Open MPI", 4, "libmpi.so.40", false, true},
		{vars{"PMI_SIZE": "3", "PMI_RANK": "0"}, "mpiexec of MPICH", 3, "libmpich.so.12", true, false},
		{vars{"PMI_SIZE": "3", "PMI_RANK": "0", "SLURM_STEP_ID": "0"}, "srun", 3, "libmpich.so.12", true, true},
		{vars{"PMIX_RANK": "0", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8"}, "srun", 8, "libmpi.so.40",
			true, true},
		{vars{"PMIX_RANK": "5"}, "a PMIx launcher", 0, "libmpi.so.40", true, true},
		// A batch script without srun.
		{vars{"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, "", 0, "", false, false},
		{vars{"PMI_SIZE": "3"}, "", 0, "", false, false},
		{vars{"OMPI_COMM_WORLD_SIZE": "many"}, "", 0, "", false, false},
		{nil, "", 0, "", false, false},
	} {
		got, launched := launchedBy(func(name string) string { return c.variables[name] })
		require.Equal(t, c.name != "", launched, c.variables)
		if !launched {
			continue
		}
		require.Equal(t, c.name, got.name)
		require.Equal(t, c.size, got.size)
		require.Equal(t, c.library, got.libraries[0])
		require.Equal(t, c.mpich, got.fits("MPICH Version:\t4.0.2"), c.name)
		require.Equal(t, c.open, got.fits("Open MPI v4.1.4, package"), c.name)
		require.True(t, got.fits("Some MPI"))
	}
}
