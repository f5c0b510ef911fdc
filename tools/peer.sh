#!/usr/bin/env bash
# Joins by spirjoin and by DuckDB (bench/duckdb) on the same cores, taken in turn in one run:
#   memory   of tables in memory: the medians of both, and DuckDB's time by ours
# and whole programs, start to end: the least wall and CPU seconds of both, the most resident memory in MiB, and our
# wall seconds by DuckDB's:
#   files    Parquet to Parquet
#   csv      CSV to CSV
#   texts    10 M x 10 M rows (TEXTS) with three short texts on each side, Parquet to an Arrow stream, which DuckDB
#            lacks: it makes a table in memory
#   pipes    Arrow streams from two pipes to a third; without DuckDB
#   peer.sh [DIR]     makes the tables in DIR (default: run/peer) where they are missing
# Variables: WHAT (some of these, or all), DEVICE (host), RUNS (5), SF of TPC-H (1), ROWS of primary keys (10M, in
# millions; four times as many foreign ones), TEXTS (10M).
set -euo pipefail
cd "$(dirname "$0")/.."

dir=${1:-run/peer} device=${DEVICE:-host} runs=${RUNS:-5} sf=${SF:-1} rows=${ROWS:-10M} text_rows=${TEXTS:-10M}
all='memory files csv texts pipes' what=${WHAT:-all}
[[ $what == all ]] && what=$all
for w in $what; do
	[[ " $all " == *" $w "* ]] || { echo "peer.sh: WHAT has $w; there are $all and all" >&2; exit 2; }
done
wants() { [[ " $what " == *" $1 "* ]]; }
keys=$dir/pkfk-sum-$rows tpch=$dir/tpch-$sf texts=$dir/texts-$text_rows
timer=$(type -P time) && "$timer" -f %M true 2>/dev/null || timer= # GNU's; without it memory is unknown and shown as 0
mkdir -p "$dir"
make --no-print-directory build && cp bin/spirjoin "$dir/"
(cd bench/duckdb && go build -o duckdb-peer .) && mv bench/duckdb/duckdb-peer "$dir/"
trap 'rm -f "$dir"/{ours,theirs,clock,stats} "$dir"/{out,peer}.{parquet,csv}' EXIT

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

# join NAME LEFT RIGHT KEY [COLUMNS] sets the join for what follows: $mine and $peer write files. Without columns the
# matches are counted; "all" stands for all; with sum=COLUMN DuckDB sums it, and we make the column.
join() {
	name=$1 columns=${5:-} out=$dir/out.${2##*.} peer_out=$dir/peer.${2##*.}
	mine=("$dir/spirjoin" join "$2" "$3" --on "$4" --device "$device" --stats json --quiet)
	peer=("$dir/duckdb-peer" --left "$2" --right "$3" --on "$4")
	case $columns in
	'') mine+=(--count) peer+=(--count) ;;
	all) mine+=(-o "$out") ;;
	sum=*) mine+=(--columns "${columns#sum=}" -o "$out") peer+=(--sum "${columns#sum=}") ;;
	*) mine+=(--columns "$columns" -o "$out") peer+=(--columns "$columns") ;;
	esac
	streamed=("${mine[@]/#$out//dev/null}") # rows that are thrown away
	[[ $columns ]] && streamed+=(--format arrow-stream)
	: >"$dir/ours" >"$dir/theirs"
}

# same_rows compares the file that $mine makes with the table that DuckDB makes.
same_rows() {
	"${mine[@]}" >/dev/null
	same "$name" rows "$("$dir/duckdb-peer" --checksum-file "$out" | field row_sum)" \
		"$("${peer[@]}" --checksum | field row_sum)"
}

memory() {
	join "$@"
	local ours theirs i
	for ((i = 0; i < runs; i++)); do
		ours=$("${streamed[@]}" | tr -d '\n ')
		for f in match output write; do field ${f}_seconds <<<"$ours"; done | paste -sd' ' |
			awk '{ print $1 + $2 - $3 }' >>"$dir/ours"
		theirs=$("${peer[@]}")
		field seconds_median <<<"$theirs" >>"$dir/theirs"
	done
	same "$name" "numbers of rows" "$(field output_rows <<<"$ours")" "$(field rows_out <<<"$theirs")"
	[[ -z $columns || $columns == sum=* ]] || same_rows
	paste <(median <"$dir/ours") <(median <"$dir/theirs") |
		awk -v name="$name" '{ printf "%-44s %10.3f s %10.3f s %8.2f\n", name, $1, $2, $2 / $1 }'
}

# race OURS... runs our program and $peer in turn.
race() {
	local ours theirs i
	for ((i = 0; i < runs; i++)); do
		ours=$(clocked "$dir/ours" "$@" | tr -d '\n ')
		theirs=$(clocked "$dir/theirs" "${peer[@]}")
	done
	same "$name" "numbers of rows" "$(field output_rows <<<"$ours")" "$(field rows_out <<<"$theirs")"
}

table() { printf '%-28s %9s %9s %6s %9s %9s %6s %7s\n' "$1 ($device)" SPIRJOIN CPU MIB DUCKDB CPU MIB RATIO; }
line() {
	paste <(least <"$dir/ours") <(least <"$dir/theirs") | awk -v name="$name" '
		{ printf "%-28s %7.2f s %7.2f s %6d %7.2f s %7.2f s %6d %7.2f\n", name, $1, $2, $3, $4, $5, $6, $1 / $4 }'
}

files() {
	join "$@"
	peer+=(--direct)
	[[ $columns ]] && peer+=(-o "$peer_out")
	race "${mine[@]}"
	[[ -z $columns ]] || same "$name" rows "$("$dir/duckdb-peer" --checksum-file "$out" | field row_sum)" \
		"$("$dir/duckdb-peer" --checksum-file "$peer_out" | field row_sum)"
	line
}

to_table() {
	join "$@"
	peer+=(--direct)
	race "${streamed[@]}"
	same_rows
	line
}

# convert FILE FORMAT makes a file of another format, where it is missing: a table joined with itself.
convert() {
	local key=l_orderkey
	[[ $1 == */orders ]] && key=o_orderkey
	[[ -f $1.$2 ]] || "$dir/spirjoin" join "$1.parquet" "$1.parquet" --on "$key" --how semi --device host --quiet \
		-o "$1.$2"
}

pipes() {
	name=$1
	local i
	: >"$dir/ours"
	for ((i = 0; i < runs; i++)); do
		clocked "$dir/ours" bash -o pipefail -c '"$0" join <(cat "$2") <(cat "$3") --on "$4" \
			--device "$5" --quiet --stats json -o - 2>"$1" | cat >/dev/null' \
			"$dir/spirjoin" "$dir/stats" "$2" "$3" "$4" "$device"
	done
	same "$name" "numbers of rows" "$(tr -d '\n ' <"$dir/stats" | field output_rows)" \
		"$("$dir/spirjoin" join "${2%.*}.parquet" "${3%.*}.parquet" --on "$4" --count --quiet)"
	least <"$dir/ours" | awk -v name="$name" '{ printf "%-28s %7.2f s %7.2f s %6d\n", name, $1, $2, $3 }'
}

four=o_orderkey,o_orderdate,l_extendedprice,l_discount on=o_orderkey=l_orderkey
tables=("$tpch/orders.parquet" "$tpch/lineitem.parquet" "$on")
if [[ $what != texts && ! -f $tpch/lineitem.parquet ]]; then
	"$dir/spirjoin" gen tpch --sf "$sf" -o "$tpch"
fi
if wants memory; then
	[[ -f $keys/s.parquet ]] || "$dir/spirjoin" gen pkfk -r "$rows" -s "$(("${rows%M}" * 4))M" \
		--key-bytes 8 --payload-bytes 8 --r-payloads 0 --s-payloads 1 -o "$keys"
	printf '%-44s %12s %12s %8s\n' "JOIN ($device)" SPIRJOIN DUCKDB RATIO
	memory "count, $rows x 4 times as many" "$keys/r.parquet" "$keys/s.parquet" r_key=s_key
	memory "count and sum, $rows x 4 times as many" "$keys/r.parquet" "$keys/s.parquet" r_key=s_key sum=s_1
	memory "count, TPC-H SF $sf" "${tables[@]}"
	memory "four columns, TPC-H SF $sf" "${tables[@]}" "$four"
fi
if wants files; then
	table "FILE TO FILE"
	files "all columns, TPC-H SF $sf" "${tables[@]}" all
	files "four columns, TPC-H SF $sf" "${tables[@]}" "$four"
	files "count, TPC-H SF $sf" "${tables[@]}"
fi
if wants csv; then
	for t in orders lineitem; do convert "$tpch/$t" csv; done
	table "CSV TO CSV"
	files "all columns, TPC-H SF $sf" "$tpch/orders.csv" "$tpch/lineitem.csv" "$on" all
	files "four columns, TPC-H SF $sf" "$tpch/orders.csv" "$tpch/lineitem.csv" "$on" "$four"
fi
if wants texts; then
	[[ -f $texts/s.parquet ]] || "$dir/spirjoin" gen pkfk -r "$text_rows" -s "$text_rows" --key-bytes 8 \
		--r-payloads 3 --s-payloads 3 --payload-texts -o "$texts"
	table "FILE TO TABLE"
	to_table "three texts, $text_rows x $text_rows" "$texts/r.parquet" "$texts/s.parquet" r_key=s_key all
fi
if wants pipes; then
	for t in orders lineitem; do convert "$tpch/$t" arrows; done
	printf '%-28s %9s %9s %6s\n' "PIPE TO PIPE ($device)" SPIRJOIN CPU MIB
	pipes "all columns, TPC-H SF $sf" "$tpch/orders.arrows" "$tpch/lineitem.arrows" "$on"
fi
