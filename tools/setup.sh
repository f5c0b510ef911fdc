#!/usr/bin/env bash
# Installs what this machine lacks, and only that; where it cannot, it names what is missing and what goes without it.
#   setup.sh run    pkg-config, the Vulkan loader, and lavapipe where no Vulkan driver is installed
#   setup.sh test   pkg-config, loader, lavapipe, validation layers, shader compiler, OpenCL with PoCL, C++ compiler,
#                   Open MPI, MPICH and SwiftShader
set -euo pipefail
cd "$(dirname "$0")"
source ./vulkan.sh

mode=${1:-}
[[ $mode == run || $mode == test ]] || { echo "usage: tools/setup.sh run|test" >&2; exit 2; }

# look fills missing (Debian package names) and lacking (what does not work without each).
look() {
	missing=() lacking=()
	need pkg-config "make build, which finds C headers with it; go build remains, without OpenCL" command -v pkg-config
	need libvulkan1 "Vulkan devices; the host backend remains" library libvulkan.so.1
	if [[ $mode == run ]]; then
		need mesa-vulkan-drivers "a Vulkan device; the host backend remains" any_driver
		return
	fi
	need mesa-vulkan-drivers "lavapipe, on which the device tests run" lavapipe_driver
	need vulkan-validationlayers "the test passes under validation" validation_layer
	need glslc "compiling the shaders; their committed binaries are compared by hash only" command -v glslc
	need spirv-tools "optimising and validating the shaders" command -v spirv-opt
	need ocl-icd-libopencl1 "OpenCL devices" library libOpenCL.so.1
	need pocl-opencl-icd "PoCL, on which the OpenCL tests run" compgen -G '/etc/OpenCL/vendors/pocl*.icd'
	need openmpi-bin "the tests of ranks on Open MPI" command -v mpirun.openmpi
	need mpich "the tests of ranks on MPICH" command -v mpirun.mpich
	need g++ "the comparison of files with DuckDB, whose library is C++" command -v "${CXX:-g++}"
}

need() {
	"${@:3}" >/dev/null && return
	missing+=("$1") lacking+=("$2")
}

# get PACKAGE... installs from the package lists at hand; speaks only where it fails.
get() {
	local output
	output=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" 2>&1) ||
		{ echo "$output" >&2 && false; }
}

# install tries all at once; failing that, with fresh lists and one by one, so that a package unknown to this release
# does not keep the others away.
install() {
	command -v apt-get >/dev/null || { echo "setup: no apt-get here" >&2; return; }
	as_root=(env)
	if ((EUID != 0)); then
		as_root=(sudo)
		[[ -t 0 ]] || as_root=(sudo -n)
		command -v sudo >/dev/null && "${as_root[@]}" true || { echo "setup: neither root nor sudo" >&2; return; }
	fi
	echo "setup: installing ${missing[*]}" >&2
	get "${missing[@]}" && return
	"${as_root[@]}" apt-get update -qq >&2 || true
	local package
	for package in "${missing[@]}"; do get "$package" || true; done
}

look
if ((${#missing[@]})); then
	install
	look
fi
for i in "${!missing[@]}"; do
	echo "setup: MISSING ${missing[i]} (the name on Debian and Ubuntu): lacking ${lacking[i]}" >&2
done
if [[ $mode == test ]]; then
	./swiftshader.sh fetch || echo "setup: MISSING SwiftShader: the tests on it will be skipped" >&2
fi
