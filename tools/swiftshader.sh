#!/usr/bin/env bash
# SwiftShader, the second software Vulkan driver of the tests (subgroups of 4, no 64-bit integers, 256 invocations).
#   swiftshader.sh         prints the path of its driver manifest; prints nothing and fails where it is not fetched
#   swiftshader.sh fetch   fetches it through npm into the user's cache; does nothing where it is there
set -euo pipefail

version=147.0.0 # of the npm package @sparticuz/chromium, which carries the driver
archive_sha256=f957ea867313f9815b71dc2ed30cce301e01db4f3973fbdb31ffa5391b0ec45a
dir=${XDG_CACHE_HOME:-$HOME/.cache}/spirjoin/swiftshader/$version
manifest=$dir/vk_swiftshader_icd.json # names its library relative to itself

if [[ ${1:-} != fetch ]]; then
	[[ -f $manifest ]] && echo "$manifest"
	exit
fi
[[ -f $manifest ]] && exit

cannot() { echo "swiftshader: cannot be fetched: $1" >&2; exit 1; }
[[ $(uname -sm) == "Linux x86_64" ]] || cannot "it is published for Linux on x86_64 only"
command -v npm >/dev/null && command -v node >/dev/null || cannot "npm and node are not installed"

mkdir -p "${dir%/*}"
scratch=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/driver"
npm pack --silent --pack-destination "$scratch" "@sparticuz/chromium@$version" >/dev/null || cannot "npm pack failed"
tar -xzf "$scratch"/*.tgz -C "$scratch" package/bin/swiftshader.tar.br
archive=$scratch/package/bin/swiftshader.tar.br
sha256sum --check --status <<<"$archive_sha256  $archive" || cannot "its archive has another SHA-256 than $archive_sha256"
node -e 'process.stdin.pipe(require("zlib").createBrotliDecompress()).pipe(process.stdout)' <"$archive" |
	tar -x --no-same-owner -C "$scratch/driver" libvk_swiftshader.so vk_swiftshader_icd.json
chmod 755 "$scratch/driver"
mv -T "$scratch/driver" "$dir" 2>/dev/null || [[ -f $manifest ]] # another run may have been faster
echo "swiftshader: fetched to $dir" >&2
