#!/usr/bin/env bash
# Proves the tree stage by stage and stops at the first failure; docs/testing.md says what each stage proves.
#   test.sh              all stages
#   test.sh STAGE...     these stages, in this order
#   test.sh --list       their names
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/vulkan.sh

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2 # release 2026.2.2
# Straight-line code of one goroutine, at most over the host backend, whose tests run all kernels in parallel, or over
# engines, which have tests of their own.
without_threads=(./kernel/... ./primitive ./operator ./ranges ./planner ./join/hash ./join/sortmerge ./bench/graphics
	./bench/joins ./bench/planner ./bench/primitive ./bench/scaling ./groupby/reduce ./internal/jointest
	./internal/recorded ./internal/selftest ./tableio/columnchunk)
# In this order, so that none that takes long begins last.
device_packages=(./vulkan/... ./join ./primitive ./kernel ./join/hash ./planner ./join/sortmerge ./join/hmg
	./join/graphics ./relation ./operator ./ranges ./groupby/... ./groupjoin ./query ./deliver
	./exchange ./exchange/peers .)
# What runs kernels that the packages above have tested.
bench_packages=(./bench/primitive ./bench/graphics ./bench/joins ./bench/endtoend)
# What runs every kernel and every draw.
shader_packages=(./vulkan/... ./kernel ./primitive ./join/graphics ./groupby/reduce)
all=(format vet staticcheck imports shaders race host devices swiftshader sync gpu threads cgocheck duckdb fuzz)

export SPIRJOIN_TUNING=off # what was measured on this machine changes no test
export SPIRJOIN_MATRIX=${SPIRJOIN_MATRIX:-pruned}
case $SPIRJOIN_MATRIX in
pruned) timeout=25m short=-short ;; # of each matrix every value once; docs/testing.md says why these stages need no more
full) timeout=6h short= ;;
*) echo "test.sh: SPIRJOIN_MATRIX is pruned or full, not $SPIRJOIN_MATRIX" >&2 && exit 2 ;;
esac
# Most stages let lavapipe run the workgroups of small tests one after the other, without threads, which take longer to
# wake up than a workgroup takes.
export LP_NUM_THREADS=${LP_NUM_THREADS:-0}
# lavapipe at subgroups of 8, which no other driver here has; kernel tests run its other sizes themselves. Its compiled
# shaders survive in the user's cache, whatever home a test pretends to have, in a folder of their own for each width:
# all stages share them, so that a shader is compiled once, and once more where GPU-assisted validation instruments it.
export LP_NATIVE_VECTOR_WIDTH=${LP_NATIVE_VECTOR_WIDTH:-256}
user_cache=${XDG_CACHE_HOME:-$HOME/.cache}
export MESA_SHADER_CACHE_DIR=${MESA_SHADER_CACHE_DIR:-$user_cache/spirjoin/mesa-$LP_NATIVE_VECTOR_WIDTH}

skipped=()
skip() {
	skipped+=("$1")
	echo "== SKIPPED: $1" >&2
}

# on DEVICES VALIDATION GO-TEST-ARGUMENT... runs device tests on exactly these devices; a missing one fails. Tests of
# the host alone run where it is named. Two packages at a time, because drivers compile shaders in one thread. Memory is
# collected seldom, as tests have little. Stage vet has vetted the code.
on() {
	SPIRJOIN_TEST_DEVICES=$1 SPIRJOIN_TEST_VALIDATION=$2 GOGC=${GOGC:-400} \
		go test -count=1 -vet=off -p 2 -timeout "$timeout" "${@:3}"
}

format() {
	local diff
	diff=$(gofmt -d . 2>&1) || true
	[[ -z $diff ]] || { echo "$diff" && return 1; }
}
vet() { go vet ./...; }
staticcheck() { go run "$staticcheck" ./...; }
imports() { go test -count=1 ./internal/arch; }
shaders() { tools/glslc.sh --check; }
unit() { go test -timeout "$timeout" ./...; }
race() {
	local packages
	packages=$(go list ./... | grep -vxFf <(go list "${without_threads[@]}"))
	on host off -race $short ./join ./host ./cmd/spirjoin ./relation ./tableio $packages
	on lavapipe off -race $short ./vulkan/...
}
host() { on host off ./join ./...; }
devices() { on lavapipe off "${device_packages[@]:1}" "${bench_packages[@]}"; } # cgocheck runs the first, ./vulkan/...
swiftshader() {
	local drivers
	drivers=$(tools/swiftshader.sh) || {
		skip "SwiftShader is not fetched (tools/setup.sh test does it, through npm): nothing ran on it" && return
	}
	drivers+=:$(lavapipe_driver | paste -sd:) # two drivers in one instance
	VK_DRIVER_FILES=$drivers VK_ICD_FILENAMES=$drivers on swiftshader off $short "${device_packages[@]}"
}
sync() { on lavapipe sync $short "${device_packages[@]}"; }
gpu() { on lavapipe gpu $short "${shader_packages[@]}"; }
threads() { LP_NUM_THREADS=4 on lavapipe off $short ./kernel ./primitive ./join/hash; }
duckdb() {
	echo 'int main() {}' | $(go env CXX) -x c++ - -o /dev/null || {
		skip "no C++ compiler links here (tools/setup.sh test installs g++): nothing was compared with DuckDB"
		return
	}
	(cd bench/duckdb && vet && staticcheck && go test -count=1 -timeout "$timeout" ./...)
}
cgocheck() { GOEXPERIMENT=cgocheck2 LP_NUM_THREADS=4 on lavapipe off ./vulkan/...; }
fuzz() {
	local file name found=
	while IFS=: read -r file name; do
		found=1
		SPIRJOIN_TEST_DEVICES=host go test -run '^$' -fuzz "^$name\$" -fuzztime 10s -fuzzminimizetime 10x \
			"./$(dirname "$file")"
	done < <(grep -roE --include='*_test.go' --exclude-dir='.?*' '^func Fuzz\w+' . | sed 's/^\.\///; s/func //' | sort)
	[[ $found ]] || { echo "no fuzz target found" && return 1; }
}

case ${1:-} in
--list) printf '%s\n' "${all[@]}" unit && exit ;;
'') set -- "${all[@]}" ;;
esac
for stage; do
	[[ " ${all[*]} unit " == *" $stage "* ]] || {
		echo "test.sh: no stage $stage; there are: ${all[*]} unit" >&2 && exit 2
	}
done

trap '(($? == 0)) || echo "== $stage FAILED after $((SECONDS - began)) s" >&2' EXIT
for stage; do
	began=$SECONDS
	echo "== $stage"
	"$stage"
	echo "== $stage: $((SECONDS - began)) s"
done
for reason in ${skipped[@]+"${skipped[@]}"}; do echo "== SKIPPED: $reason" >&2; done
echo "== passed in $SECONDS s: $*"
