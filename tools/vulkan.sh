# Sourced by the scripts beside it: what the Vulkan loader of this machine would find.

# library NAME: succeeds where the dynamic linker finds NAME.
library() {
	local dir
	PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep -F "$1 " >/dev/null && return
	while IFS= read -rd: dir; do [[ -n $dir && -e $dir/$1 ]] && return; done <<<"${LD_LIBRARY_PATH:-}:"
	return 1
}

# manifests KIND TEXT: the installed manifests (KIND is icd.d or explicit_layer.d) that contain TEXT, one path a line;
# fails where there is none.
manifests() {
	local dirs layers=
	[[ $1 == explicit_layer.d ]] && layers=${VK_LAYER_PATH:-}:${VK_ADD_LAYER_PATH:-}
	IFS=: read -ra dirs <<<"${XDG_CONFIG_HOME:-${HOME:-}/.config}:${XDG_CONFIG_DIRS:-/etc/xdg}:/usr/local/etc:/etc:${XDG_DATA_HOME:-${HOME:-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
	dirs=("${dirs[@]/%//vulkan/$1}")
	IFS=: read -ra layers <<<"$layers"
	{ grep -rlsF --include='*.json' -e "$2" "${dirs[@]}" ${layers[@]+"${layers[@]}"} || true; } | grep . # -s: most do not exist
}

lavapipe_driver() { manifests icd.d libvulkan_lvp; }
validation_layer() { manifests explicit_layer.d VK_LAYER_KHRONOS_validation; }
any_driver() { [[ -n ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}${VK_ADD_DRIVER_FILES:-} ]] || manifests icd.d library_path; }
