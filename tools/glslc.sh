#!/usr/bin/env bash
# GLSL -> SPIR-V and OpenCL C, reproducibly.
#   glslc.sh           compiles every variant of shaders/variants.txt into shaders/spv, and translates the kernels into
#                      opencl/kernels
#   glslc.sh --check   changes nothing; fails where sources and outputs no longer belong together
# A line of variants.txt: <output.spv> <source> [-DNAME=VALUE ...]; # begins a comment.
#
# shaders/spv/SOURCES.sha256 begins with the versions of the compilers; then "<sha256>  <path>" for every source and
# binary, sorted by path, so that a plain test finds a stale binary without them. opencl/kernels/SOURCES.sha256 has the
# sums of that file, of the translator and of what it wrote. With the same versions --check compiles and translates
# again and compares.
set -euo pipefail
export LC_ALL=C

check=
[[ ${1:-} == --check ]] && check=1 && shift
cd "$(dirname "$0")/../shaders"
opencl=../opencl/kernels

fail() { echo "glslc.sh: $*" >&2; exit 1; }

sums() { find . \( -name '*.comp' -o -name '*.vert' -o -name '*.frag' -o -name '*.glsl' -o -path ./variants.txt -o -path './spv/*.spv' \) -type f -printf '%P\0' | sort -z | xargs -0r sha256sum; }

# opencl_sums hashes the OpenCL sources and what they follow from.
opencl_sums() (
	cd ..
	find shaders/spv/SOURCES.sha256 kernel/generate/{clc,opencl}/*.go opencl/kernels/*.{cl,h} ! -name '*_test.go' -print0 |
		sort -z | xargs -0r sha256sum
)

# compiler prints the versions of both compilers in one line, nothing where one is missing.
compiler() {
	command -v glslc >/dev/null && command -v spirv-opt >/dev/null || return 0
	echo "# $(glslc --version | sed '/^$/,$d' | paste -sd, | sed 's/,/, /g'); spirv-opt $(spirv-opt --version 2>&1 | awk '{print $2; exit}')"
}

# compile OUT LINE builds one variant. glslc -O would strip the names that the tests read from the push-constant block;
# spirv-opt runs the same passes and keeps them. Kernels are kept without optimisation, too, for their translation.
compile() {
	local output source defines
	read -r output source defines <<<"$2"
	[[ $output =~ ^[A-Za-z0-9_.-]+\.spv$ && -f $source ]] || fail "bad line in variants.txt: $2"
	read -ra defines <<<"$defines"
	glslc --target-env=vulkan1.2 -I include "${defines[@]}" "$source" -o "$1/plain/$output" &&
		spirv-opt --target-env=vulkan1.2 -O "$1/plain/$output" -o "$1/spv/$output" &&
		{ ! command -v spirv-val >/dev/null || spirv-val --target-env vulkan1.2 "$1/spv/$output"; } || fail "$2: failed"
}
export -f compile fail

# build OUT compiles all variants into OUT/spv, one process per core, and translates the kernels into OUT/opencl.
build() {
	local lines duplicates
	lines=$(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' variants.txt)
	duplicates=$(awk '{print $1}' <<<"$lines" | sort | uniq -d)
	[[ -z $duplicates ]] || fail "variants.txt names an output twice:" $duplicates
	mkdir "$1/plain" "$1/spv" "$1/opencl"
	xargs -r -d '\n' -P "$(nproc)" -I '{}' bash -euo pipefail -c 'compile "$0" "$1"' "$1" '{}' <<<"$lines"
	go run ../kernel/generate/opencl "$1/plain" "$opencl/subgroup_one.h" "$1/opencl"
}

version=$(compiler)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

if [[ $check ]]; then
	diff -u --label recorded --label found <(grep -v '^#' spv/SOURCES.sha256) <(sums) >&2 ||
		fail "shaders/spv is stale: run make generate"
	diff -u --label recorded --label found "$opencl/SOURCES.sha256" <(opencl_sums) >&2 ||
		fail "opencl/kernels is stale: run make generate"
	recorded=$(head -n 1 spv/SOURCES.sha256)
	if [[ $version != "$recorded" ]]; then
		echo "glslc.sh: compared by hash only: compiled by ${recorded#\# }; here: ${version#\# }" # empty without compilers
		exit
	fi
	build "$built"
	diff -rq --exclude=SOURCES.sha256 spv "$built/spv" >&2 || fail "the sources compile to other binaries than those in spv: run make generate"
	for new in "$built"/opencl/*.cl; do
		cmp "$new" "$opencl/${new##*/}" >&2 || fail "kernels translate to other sources than those in opencl/kernels: run make generate"
	done
	exit
fi

[[ $version ]] || fail "needs glslc and spirv-opt: tools/setup.sh test installs them"
build "$built"
# replace NEW OLD SUFFIX makes folder OLD hold the files of NEW, and leaves alone those that are equal.
replace() {
	mkdir -p "$2"
	for old in "$2"/*."$3"; do [[ -f $1/${old##*/} ]] || rm -f "$old"; done
	for new in "$1"/*."$3"; do cmp -s "$new" "$2/${new##*/}" || cp "$new" "$2/"; done
}
replace "$built/spv" spv spv
replace "$built/opencl" "$opencl" cl
{ echo "$version"; sums; } >"$built/SOURCES.sha256"
cp "$built/SOURCES.sha256" spv/
opencl_sums >"$built/SOURCES.sha256"
cp "$built/SOURCES.sha256" "$opencl/"
