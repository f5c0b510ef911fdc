#!/usr/bin/env bash
# GLSL -> SPIR-V, reproducibly.
#   glslc.sh [DIR]           compiles every variant of DIR/variants.txt into DIR/spv and writes DIR/spv/SOURCES.sha256
#   glslc.sh --check [DIR]   changes nothing; fails where sources and binaries no longer belong together
# DIR is shaders unless given. A line of variants.txt: <output.spv> <source> [-DNAME=VALUE ...]; # begins a comment.
#
# SOURCES.sha256 begins with the versions of the compilers; then "<sha256>  <path>" for every source and binary, sorted by
# path, so that a plain test finds a stale binary without them. With the same versions --check compiles again and compares.
set -euo pipefail
export LC_ALL=C

check=
[[ ${1:-} == --check ]] && check=1 && shift
cd "${1:-$(dirname "$0")/../shaders}"

fail() { echo "glslc.sh: $*" >&2; exit 1; }

sums() { find . \( -name '*.comp' -o -name '*.vert' -o -name '*.frag' -o -name '*.glsl' -o -path ./variants.txt -o -path './spv/*.spv' \) -type f -printf '%P\0' | sort -z | xargs -0r sha256sum; }

# compiler prints the versions of both compilers in one line, nothing where one is missing.
compiler() {
	command -v glslc >/dev/null && command -v spirv-opt >/dev/null || return 0
	echo "# $(glslc --version | sed '/^$/,$d' | paste -sd, | sed 's/,/, /g'); spirv-opt $(spirv-opt --version 2>&1 | awk '{print $2; exit}')"
}

# compile OUT LINE builds one variant. glslc -O would strip the names that the tests read from the push-constant block;
# spirv-opt runs the same passes and keeps them.
compile() {
	local output source defines
	read -r output source defines <<<"$2"
	[[ $output =~ ^[A-Za-z0-9_.-]+\.spv$ && -f $source ]] || fail "bad line in variants.txt: $2"
	read -ra defines <<<"$defines"
	glslc --target-env=vulkan1.2 -I include "${defines[@]}" "$source" -o - | spirv-opt --target-env=vulkan1.2 -O - -o "$1/$output" &&
		{ ! command -v spirv-val >/dev/null || spirv-val --target-env vulkan1.2 "$1/$output"; } || fail "$2: failed"
}
export -f compile fail

# build OUT compiles all variants, one process per core.
build() {
	local lines duplicates
	lines=$(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' variants.txt)
	duplicates=$(awk '{print $1}' <<<"$lines" | sort | uniq -d)
	[[ -z $duplicates ]] || fail "variants.txt names an output twice:" $duplicates
	xargs -r -d '\n' -P "$(nproc)" -I '{}' bash -euo pipefail -c 'compile "$0" "$1"' "$1" '{}' <<<"$lines"
}

version=$(compiler)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

if [[ $check ]]; then
	diff -u --label recorded --label found <(grep -v '^#' spv/SOURCES.sha256) <(sums) >&2 ||
		fail "shaders/spv is stale: run make generate"
	recorded=$(head -n 1 spv/SOURCES.sha256)
	if [[ $version != "$recorded" ]]; then
		echo "glslc.sh: compared by hash only: compiled by ${recorded#\# }; here: ${version#\# }" # empty without compilers
		exit
	fi
	build "$built"
	diff -rq --exclude=SOURCES.sha256 spv "$built" >&2 || fail "the sources compile to other binaries than those in spv: run make generate"
	exit
fi

[[ $version ]] || fail "needs glslc and spirv-opt: tools/setup.sh test installs them"
build "$built"
mkdir -p spv
for old in spv/*.spv; do [[ -f $built/${old##*/} ]] || rm -f "$old"; done
for new in "$built"/*.spv; do cmp -s "$new" "spv/${new##*/}" || cp "$new" spv/; done
{ echo "$version"; sums; } >"$built/SOURCES.sha256"
cp "$built/SOURCES.sha256" spv/
