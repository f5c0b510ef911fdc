#!/usr/bin/env bash
# Joins by spirjoin and by DuckDB (bench/duckdb) on the same cores, taken in turn in one run, in two tables:
#   memory   of tables in memory: the medians of both, and DuckDB's time by ours
#   files    of whole programs from Parquet to Parquet, start to end: the least wall and CPU seconds of both, the most
#            resident memory in MiB, and our wall seconds by DuckDB's
#   peer.sh [DIR]     makes the tables in DIR (default: run/peer) where they are missing
# Variables: WHAT (memory, files or all), DEVICE (host), RUNS (5), SF of TPC-H (1), ROWS of primary keys (10M, in
# millions; four times as many foreign ones).
set -euo pipefail
cd "$(dirname "$0")/.."

dir=${1:-run/peer} what=${WHAT:-all} device=${DEVICE:-host} runs=${RUNS:-5} sf=${SF:-1} rows=${ROWS:-10M}
[[ $what == memory || $what == files || $what == all ]] ||
	{ echo "peer.sh: WHAT is memory, files or all, not $what" >&2; exit 2; }
keys=$dir/pkfk-sum-$rows tpch=$dir/tpch-$sf out=$dir/out.parquet peer_out=$dir/peer.parquet
timer=$(type -P time) && "$timer" -f %M true 2>/dev/null || timer= # GNU's; without it memory is unknown and shown as 0
mkdir -p "$dir"
go build -o "$dir/spirjoin" ./cmd/spirjoin
(cd bench/duckdb && go build -o duckdb-peer .) && mv bench/duckdb/duckdb-peer "$dir/"
[[ $what == files || -f $keys/s.parquet ]] || "$dir/spirjoin" gen pkfk -r "$rows" -s "$(("${rows%M}" * 4))M" \
	--key-bytes 8 --payload-bytes 8 --r-payloads 0 --s-payloads 1 -o "$keys"
[[ -f $tpch/lineitem.parquet ]] || "$dir/spirjoin" gen tpch --sf "$sf" -o "$tpch"
trap 'rm -f "$dir"/{ours,theirs,clock} "$out" "$peer_out"' EXIT

field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,}\"]*\).*/\1/p" | head -1; } # of a line of JSON
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
least() { # lines of clocked
	awk 'function less(a, b) { return NR == 1 || a < b ? a : b }
		{ wall = less($1, wall); cpu = less($2, cpu); if ($3 > peak) peak = $3 } END { print wall, cpu, peak + 0 }'
}

# same NAME WHAT OURS THEIRS ends the run where answers differ or are missing.
same() { [[ $3 && $3 == "$4" ]] || { echo "$1: different $2: $3 and $4" >&2; exit 1; }; }

# clocked FILE PROGRAM... runs a program and adds a line to the file: wall seconds, CPU seconds, resident MiB.
clocked() {
	local TIMEFORMAT='%3R %3U %3S 0'
	if [[ $timer ]]; then
		"$timer" -o "$dir/clock" -f '%e %U %S %M' "${@:2}" || return
	else
		{ time "${@:2}" 2>&3 || return; } 3>&2 2>"$dir/clock"
	fi
	awk '{ print $1, $2 + $3, $4 / 1024 }' "$dir/clock" >>"$1"
}

# join NAME LEFT RIGHT KEY [COLUMNS] sets the join for what follows. Without columns the matches are counted; "all"
# stands for all; with sum=COLUMN DuckDB sums it, and we make the column.
join() {
	name=$1 columns=${5:-} mine=("$dir/spirjoin" join "$2" "$3" --on "$4" --device "$device" --stats json --quiet)
	peer=("$dir/duckdb-peer" --left "$2" --right "$3" --on "$4")
	case $columns in
	'') mine+=(--count) peer+=(--count) ;;
	all) mine+=(-o "$out") ;;
	sum=*) mine+=(--columns "${columns#sum=}" -o "$out") peer+=(--sum "${columns#sum=}") ;;
	*) mine+=(--columns "$columns" -o "$out") peer+=(--columns "$columns") ;;
	esac
	: >"$dir/ours" >"$dir/theirs"
}

memory() {
	join "$@"
	local ours theirs i timed=("${mine[@]/#$out//dev/null}") # a file would be encoded while the join is at work
	[[ $columns ]] && timed+=(--format arrow-stream)
	for ((i = 0; i < runs; i++)); do
		ours=$("${timed[@]}" | tr -d '\n ')
		for f in match output write; do field ${f}_seconds <<<"$ours"; done | paste -sd' ' |
			awk '{ print $1 + $2 - $3 }' >>"$dir/ours"
		theirs=$("${peer[@]}")
		field seconds_median <<<"$theirs" >>"$dir/theirs"
	done
	same "$name" "numbers of rows" "$(field output_rows <<<"$ours")" "$(field rows_out <<<"$theirs")"
	if [[ $columns && $columns != sum=* ]]; then # the rows themselves, once
		"${mine[@]}" >/dev/null
		same "$name" rows "$("$dir/duckdb-peer" --checksum-file "$out" | field row_sum)" \
			"$("${peer[@]}" --checksum | field row_sum)"
	fi
	paste <(median <"$dir/ours") <(median <"$dir/theirs") |
		awk -v name="$name" '{ printf "%-44s %10.3f s %10.3f s %8.2f\n", name, $1, $2, $2 / $1 }'
}

files() {
	join "$@"
	local ours theirs i
	peer+=(--direct)
	[[ $columns ]] && peer+=(-o "$peer_out")
	for ((i = 0; i < runs; i++)); do
		ours=$(clocked "$dir/ours" "${mine[@]}" | tr -d '\n ')
		theirs=$(clocked "$dir/theirs" "${peer[@]}")
	done
	same "$name" "numbers of rows" "$(field output_rows <<<"$ours")" "$(field rows_out <<<"$theirs")"
	if [[ $columns ]]; then
		same "$name" rows "$("$dir/duckdb-peer" --checksum-file "$out" | field row_sum)" \
			"$("$dir/duckdb-peer" --checksum-file "$peer_out" | field row_sum)"
	fi
	paste <(least <"$dir/ours") <(least <"$dir/theirs") | awk -v name="$name" '
		{ printf "%-28s %7.2f s %7.2f s %6d %7.2f s %7.2f s %6d %7.2f\n", name, $1, $2, $3, $4, $5, $6, $1 / $4 }'
}

four=o_orderkey,o_orderdate,l_extendedprice,l_discount
tables=("$tpch/orders.parquet" "$tpch/lineitem.parquet" o_orderkey=l_orderkey)
if [[ $what != files ]]; then
	printf '%-44s %12s %12s %8s\n' "JOIN ($device)" SPIRJOIN DUCKDB RATIO
	memory "count, $rows x 4 times as many" "$keys/r.parquet" "$keys/s.parquet" r_key=s_key
	memory "count and sum, $rows x 4 times as many" "$keys/r.parquet" "$keys/s.parquet" r_key=s_key sum=s_1
	memory "count, TPC-H SF $sf" "${tables[@]}"
	memory "four columns, TPC-H SF $sf" "${tables[@]}" "$four"
fi
if [[ $what != memory ]]; then
	printf '%-28s %9s %9s %6s %9s %9s %6s %7s\n' "FILE TO FILE ($device)" SPIRJOIN CPU MIB DUCKDB CPU MIB RATIO
	files "all columns, TPC-H SF $sf" "${tables[@]}" all
	files "four columns, TPC-H SF $sf" "${tables[@]}" "$four"
	files "count, TPC-H SF $sf" "${tables[@]}"
fi
