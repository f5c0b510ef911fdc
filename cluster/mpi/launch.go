package mpi

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// launcher is who has started this process.
type launcher struct {
	name      string
	size      int      // number of processes; 0: it does not tell
	libraries []string // libraries of MPI that fit, in the order of preference
	refuses   string   // the MPI whose library cannot work with it: the begin of what the library says of itself
}

// LaunchedRanks returns how many processes the launcher of MPI has started that has started this one; 0 if there is no
// launcher. One that does not tell the number has started several.
func LaunchedRanks() int {
	by, launched := launchedBy(os.Getenv)
	if launched && by.size == 0 {
		return math.MaxInt
	}
	return by.size
}

// launchedBy finds the launcher by the variables that it leaves, if there is one. SLURM_NTASKS is none of them: a batch
// script has it, too, without srun.
func launchedBy(getenv func(string) string) (launcher, bool) {
	number := func(name string) int {
		n, err := strconv.Atoi(getenv(name))
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	const open, abi = "libmpi.so.40", "libmpi_abi.so.1"
	slurm := getenv("SLURM_STEP_ID") != ""
	switch {
	case number("OMPI_COMM_WORLD_SIZE") > 0:
		return launcher{"mpirun of Open MPI", number("OMPI_COMM_WORLD_SIZE"), []string{open, abi}, "MPICH"}, true
	case getenv("PMI_RANK") != "" && number("PMI_SIZE") > 0:
		l := launcher{"mpiexec of MPICH", number("PMI_SIZE"), []string{"libmpich.so.12", "libmpi.so.12", abi},
			"Open MPI"}
		if slurm {
			l.name, l.refuses, l.libraries = "srun", "", append(l.libraries, open)
		}
		return l, true
	case getenv("PMIX_RANK") != "":
		l := launcher{"a PMIx launcher", 0, []string{open, abi, "libmpich.so.12", "libmpi.so.12"}, ""}
		if slurm {
			l.name, l.size = "srun", number("SLURM_STEP_NUM_TASKS")
		}
		return l, true
	}
	return launcher{}, false
}

// fits reports whether a library that says this of itself can work with the launcher.
func (l launcher) fits(version string) bool {
	return l.refuses == "" || !strings.HasPrefix(version, l.refuses)
}

// title is the first words of what a library says of itself: its name and version.
func title(version string) string {
	line, _, _ := strings.Cut(version, "\n")
	line, _, _ = strings.Cut(line, ",")
	return strings.Join(strings.Fields(line), " ")
}
