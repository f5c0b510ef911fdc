#!/usr/bin/env bash
# Proves the tree stage by stage; docs/testing.md says what each stage proves.
#   test.sh              the stages of make test, several at a time
#   test.sh STAGE...     these stages, one after the other, until one fails
#   test.sh --full       the stages of make test-full, likewise
#   test.sh --list       their names
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/vulkan.sh

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2 # release 2026.2.2
# What runs goroutines of its own. Other packages are straight-line code of one goroutine over the host backend, whose
# tests run all kernels in parallel, or over engines, which have tests of their own.
threaded_packages=(./engine ./task ./team ./groupby ./exchange/peers ./host ./query ./groupjoin ./relation/... ./exchange ./exchange/codec ./exchange/runs
	./exec ./deliver ./backend ./cluster/... ./exchange/shuffle ./ranks ./internal/leak ./internal/offheap)
# What runs shaders. In this order, so that none that takes long begins last.
device_packages=(./kernel ./join/hash ./primitive ./engine ./vulkan/... ./planner ./join/sortmerge ./join/hmg
	./join/graphics ./relation ./relation/keys ./operator ./ranges ./groupby/... ./groupjoin ./query ./deliver
	./exchange ./exchange/codec ./exchange/peers ./exchange/shuffle ./ranks .)
# The backend, kernels, what calls them, and joins of tables.
driver_packages=(./kernel ./join/hash ./primitive ./join/sortmerge ./join/graphics ./groupby/reduce ./vulkan/... ./ranges .)
# What runs kernels that the packages above have tested.
bench_packages=(./bench/primitive ./bench/graphics ./bench/joins ./bench/endtoend)
# What runs every kernel and every draw.
shader_packages=(./vulkan/... ./kernel ./primitive ./join/graphics ./groupby/reduce)
# What an OpenCL driver runs: kernels, primitives, algorithms, the translator, the backend, and joins and group-bys of
# tables.
opencl_packages=(./primitive ./join/hash ./kernel ./groupby/reduce ./join/sortmerge ./kernel/generate/clc
	./opencl/... .)
# With the seconds that each takes on two cores with empty caches while two others run (docs/testing.md), longest first,
# but for static.
quick=(static=215 race=560 host=530 lavapipe=450 opencl=210 swiftshader=220 duckdb=80 gpu=70 fuzz=50)
full=(static shaders race host devices swiftshader opencl sync gpu threads duckdb fuzz)

export SPIRJOIN_TUNING=off # what was measured on this machine changes no test
# With OpenCL, as make build does.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-tags=opencl" PKG_CONFIG_PATH=$PWD/opencl/pkgconfig
# A whole run thins out every matrix and sweep; stages that are named do not.
short=${SPIRJOIN_TEST_SHORT:-}
timeout=25m
[[ ${SPIRJOIN_MATRIX:-} != full ]] || timeout=6h
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
# the host alone run where it is named. Two packages run at a time, because drivers compile shaders in one thread: two
# of a stage, or one of each of two stages. Memory is
# collected seldom, as tests have little. Stage static has vetted the code.
on() {
	SPIRJOIN_TEST_DEVICES=$1 SPIRJOIN_TEST_VALIDATION=$2 GOGC=${GOGC:-400} \
		go test -count=1 -vet=off -p "${packages_at_a_time:-2}" $short -timeout "$timeout" "${@:3}"
}

format() {
	local diff
	diff=$(gofmt -d . 2>&1) || true
	[[ -z $diff ]] || { echo "$diff" && return 1; }
}
vet() { go vet ./...; }
without_opencl() { go vet -tags= ./opencl/... .; }
staticcheck() { go run "$staticcheck" ./...; }
static() { format && vet && without_opencl && staticcheck && go test -count=1 ./internal/arch; }
shaders() { tools/glslc.sh --check; }
unit() { go test -timeout "$timeout" ./...; }
# Always thinned out: the race detector asks about goroutines. No Go pointer may be stored in C memory either.
race() {
	local packages=("${threaded_packages[@]}")
	[[ $short ]] || packages+=(. ./files ./tableio ./tableio/{core,csv,dataset,ipc,parquet} ./cmd/... ./internal/command
		./join/hmg ./join/graphics ./internal/machines ./bench/distributed ./bench/endtoend ./bench/scaling)
	local -x GOEXPERIMENT=cgocheck2
	on host off -race -short "${packages[@]}"
	LP_NUM_THREADS=4 on lavapipe off -race -short ./vulkan/...
}
host() { on host off ./engine ./groupby ./cmd/spirjoin ./...; }
lavapipe() { on lavapipe sync "${device_packages[@]}"; }
devices() { on lavapipe off "${device_packages[@]}" "${bench_packages[@]}"; }
swiftshader() {
	local drivers packages=("${device_packages[@]}")
	[[ ! $short ]] || packages=("${driver_packages[@]}")
	drivers=$(tools/swiftshader.sh) || {
		skip "SwiftShader is not fetched (tools/setup.sh test does it, through npm): nothing ran on it" && return
	}
	drivers+=:$(lavapipe_driver | paste -sd:) # two drivers in one instance
	VK_DRIVER_FILES=$drivers VK_ICD_FILENAMES=$drivers on swiftshader off -short "${packages[@]}"
}
# PoCL keeps compiled kernels in a cache that all packages share. A short run compiles them without optimization. What
# would run for an hour otherwise is short in every run.
opencl() {
	compgen -G '/etc/OpenCL/vendors/pocl*.icd' >/dev/null || {
		skip "PoCL is not installed (tools/setup.sh test does it): nothing ran on OpenCL" && return
	}
	local -x POCL_CACHE_DIR=${POCL_CACHE_DIR:-$user_cache/spirjoin/pocl}
	mkdir -p "$POCL_CACHE_DIR"
	if [[ $short ]]; then
		on pocl off "${opencl_packages[@]}"
	else
		on pocl off ./opencl/... ./kernel ./join/sortmerge ./groupby ./kernel/generate/clc ./ranges ./deliver .
		on pocl off -run '^TestJoinMatrix$' ./engine
		on pocl off -short ./primitive ./join/hash ./groupby/reduce
	fi
	on host,lavapipe,pocl off -short -run '^TestSeveralBackends$' ./engine # a device of each backend in one join
}
sync() { on lavapipe sync -short "${device_packages[@]}"; }
gpu() {
	[[ ! $short ]] || { on lavapipe gpu -run '^TestDevices$' ./kernel && return; }
	on lavapipe gpu -short "${shader_packages[@]}"
}
threads() { LP_NUM_THREADS=4 on lavapipe off -short ./kernel ./primitive ./join/hash; }
duckdb() {
	echo 'int main() {}' | $(go env CXX) -x c++ - -o /dev/null || {
		skip "no C++ compiler links here (tools/setup.sh test installs g++): nothing was compared with DuckDB"
		return
	}
	(cd bench/duckdb && vet && staticcheck && go test -count=1 $short -timeout "$timeout" ./...)
}
# Every target runs a number of inputs: at the end of so many seconds, Go 1.26 now and then fails with its own "context
# deadline exceeded" (go.dev/issue/75804).
fuzz() {
	local file name runs found=
	local -x SPIRJOIN_TEST_DEVICES=host
	while IFS=: read -r file name; do
		found=1 runs=5000
		[[ $name != FuzzJoin ]] || runs=500 # of some 4 ms each
		# A short run does without counters of coverage, for which all packages would be compiled again.
		if [[ $short ]]; then
			go test -count=1 -vet=off -run '^$' "./$(dirname "$file")" -args -test.fuzz "^$name\$" \
				-test.fuzztime "${runs}x" -test.fuzzminimizetime 10x -test.fuzzcachedir "$(go env GOCACHE)/fuzz"
		else
			go test -run '^$' -fuzz "^$name\$" -fuzztime "$((10 * runs))x" -fuzzminimizetime 10x "./$(dirname "$file")"
		fi
	done < <(grep -roE --include='*_test.go' --exclude-dir='.?*' '^func Fuzz\w+' . | sed 's/^\.\///; s/func //' | sort)
	[[ $found ]] || { echo "no fuzz target found" && return 1; }
}

# logged DIR STAGE runs a stage in a process of its own and then prints what it said. A failure ends xargs.
logged() {
	local began=$SECONDS failed=
	"$0" "$2" >"$1/$2" 2>&1 || failed=1
	echo "$((SECONDS - began))" >"$1/$2.seconds"
	cat "$1/$2"
	[[ ! $failed ]] || exit 255
}

# quickly runs all stages of make test and prints how long each took. The first one compiles what the others share, with
# as many processes as there are cores; then three run at a time, because tests also wait.
quickly() {
	local failed= of name share seconds grown=()
	logs=$(mktemp -d)
	trap 'rm -rf "$logs"' EXIT
	export SPIRJOIN_TEST_SHORT=-short packages_at_a_time=1
	"$0" --logged "$logs" "${quick[0]%=*}" || failed=1
	[[ $failed ]] || printf '%s\n' "${quick[@]:1}" | sed 's/=.*//' | xargs -P 3 -n 1 "$0" --logged "$logs" || failed=1
	printf '\n%-12s %8s %8s\n' stage seconds share
	for of in "${quick[@]}"; do
		name=${of%=*} share=${of#*=}
		seconds=$(cat "$logs/$name.seconds" 2>/dev/null || echo -)
		printf '%-12s %8s %8s\n' "$name" "$seconds" "$share"
		[[ $seconds == - ]] || ((2 * seconds <= 3 * share)) ||
			grown+=("$name took $seconds s, its share is $share s (docs/testing.md)")
	done
	grep -h '^== SKIPPED' "$logs"/* >&2 || true
	for of in ${grown[@]+"${grown[@]}"}; do echo "== WARNING: stage $of" >&2; done
	[[ ! $failed ]] || { grep -h '^== .* FAILED' "$logs"/* >&2 || echo "== FAILED" >&2; exit 1; }
	echo "== passed in $SECONDS s"
}

stages=" $(printf '%s ' "${quick[@]%=*}" "${full[@]}" format vet staticcheck sync unit)"
case ${1:-} in
'') quickly && exit ;;
--logged) logged "$2" "$3" && exit ;;
--list) printf '%s\n' $stages | sort -u && exit ;;
--full) set -- "${full[@]}" ;;
esac
for stage; do
	[[ $stages == *" $stage "* ]] || { echo "test.sh: no stage $stage; there are:$stages" >&2 && exit 2; }
done

trap '(($? == 0)) || echo "== $stage FAILED after $((SECONDS - began)) s" >&2' EXIT
for stage; do
	began=$SECONDS
	echo "== $stage"
	"$stage"
	echo "== $stage: $((SECONDS - began)) s"
done
for reason in ${skipped[@]+"${skipped[@]}"}; do echo "== SKIPPED: $reason" >&2; done
