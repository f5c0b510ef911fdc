//go:build linux

package mpi

import "strings"

// abi is the values of the handles and constants that a family of MPI libraries has compiled into its users.
type abi struct {
	name         string
	handleBytes  int    // size of MPI_Comm, MPI_Datatype and MPI_Request
	world        handle // MPI_COMM_WORLD
	bytes        handle // MPI_BYTE
	errorsReturn handle // MPI_ERRORS_RETURN
	noStatuses   uintptr
	funneled     uintptr // MPI_THREAD_FUNNELED: one thread makes all calls
	tagLimit     uintptr // MPI_TAG_UB, key of an attribute
}

// handle is a handle of MPI: a number, or the address of a symbol of the library.
type handle struct {
	number uintptr
	symbol string
}

var (
	// openMPI are the values of ompi/include/mpi.h.in of Open MPI 4.1 and 5.0.
	openMPI = abi{
		name:         "Open MPI",
		handleBytes:  8,
		world:        handle{symbol: "ompi_mpi_comm_world"},
		bytes:        handle{symbol: "ompi_mpi_byte"},
		errorsReturn: handle{symbol: "ompi_mpi_errors_return"},
		noStatuses:   0,
		funneled:     1,
		tagLimit:     0,
	}
	// mpich are the values of src/include/mpi.h.in of MPICH 4.0. Intel MPI, Cray MPICH and MVAPICH have the same (MPICH
	// ABI Compatibility Initiative).
	mpich = abi{
		name:         "MPICH",
		handleBytes:  4,
		world:        handle{number: 0x44000000},
		bytes:        handle{number: 0x4c00010d},
		errorsReturn: handle{number: 0x54000001},
		noStatuses:   1,
		funneled:     1,
		tagLimit:     0x64400001,
	}
	// standard are the values of the ABI of MPI 5.0 (chapter 20; mpi.h of github.com/mpi-forum/mpi-abi-stubs), which
	// libmpi_abi.so of any implementation has.
	standard = abi{
		name:         "MPI ABI 1",
		handleBytes:  8,
		world:        handle{number: 0x101},
		bytes:        handle{number: 0x247},
		errorsReturn: handle{number: 0x143},
		noStatuses:   0,
		funneled:     1024,
		tagLimit:     501,
	}
)

// abiOf returns the ABI of a library that says this of itself. standardMajor is the result of MPI_Abi_get_version, 0 if
// the library lacks it.
func abiOf(version string, standardMajor int) (abi, bool) {
	switch {
	case standardMajor == 1:
		return standard, true
	case strings.HasPrefix(version, "Open MPI"):
		return openMPI, true
	}
	for _, name := range []string{"MPICH", "Intel(R) MPI", "MVAPICH"} {
		if strings.Contains(version, name) {
			return mpich, true
		}
	}
	return abi{}, false
}
