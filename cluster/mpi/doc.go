// Package mpi is the contract of package cluster on MPI: a rank is a process that mpirun, mpiexec or srun has started.
//
// The library of MPI is opened at run time, so that programs build and start without it, and only if a launcher has
// left its variables. Open MPI 4.1 and MPICH 4.0 are tested. The values for Open MPI 5, for the relatives of MPICH and
// for the ABI of MPI 5 follow their headers, and are tested against a library that stands in for them.
//
// One goroutine owns the library (driver.go). Everything that it does returns at once: bodies travel in pieces of at
// most 4 MiB by MPI_Issend, which ends when the receiver has posted its receive, so that neither side buffers what
// nobody has asked for.
package mpi
