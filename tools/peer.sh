#!/usr/bin/env bash
# Joins of tables in memory by spirjoin and by DuckDB (bench/duckdb) on the same cores, taken in turn in one run; prints both medians
# and DuckDB's time by ours.
#   peer.sh [DIR]     makes the tables in DIR (default: run/peer) where they are missing
# Variables: DEVICE (host), RUNS (5), SF of TPC-H (1), ROWS of primary keys (10M, in millions; four times as many foreign ones).
set -euo pipefail
cd "$(dirname "$0")/.."

dir=${1:-run/peer} device=${DEVICE:-host} runs=${RUNS:-5} sf=${SF:-1} rows=${ROWS:-10M}
keys=$dir/pkfk-sum-$rows tpch=$dir/tpch-$sf
mkdir -p "$dir"
go build -o "$dir/spirjoin" ./cmd/spirjoin
(cd bench/duckdb && go build -o duckdb-peer .) && mv bench/duckdb/duckdb-peer "$dir/"
[[ -f $keys/s.parquet ]] || "$dir/spirjoin" gen pkfk -r "$rows" -s "$(("${rows%M}" * 4))M" --key-bytes 8 --payload-bytes 8 --r-payloads 0 --s-payloads 1 -o "$keys"
[[ -f $tpch/lineitem.parquet ]] || "$dir/spirjoin" gen tpch --sf "$sf" -o "$tpch"

field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,}\"]*\).*/\1/p" | head -1; } # of a line of JSON
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# same NAME WHAT OURS THEIRS ends the run where answers differ or are missing.
same() { [[ $3 && $3 == "$4" ]] || { echo "$1: different $2: $3 and $4" >&2; exit 1; }; }

# compare NAME LEFT RIGHT KEY [COLUMNS]: without columns the matches are counted. With sum=COLUMN DuckDB sums it, and we make the column.
compare() {
	local name=$1 left=$2 right=$3 on=$4 columns=${5:-} ours=() theirs=() mine peer out=$dir/out.parquet
	local want=(--count) peer_want=(--count)
	[[ $columns ]] && want=(--columns "$columns" -o "$out") peer_want=(--columns "$columns")
	[[ $columns == sum=* ]] && want=(--columns "${columns#sum=}" -o "$out") peer_want=(--sum "${columns#sum=}") columns=
	for ((i = 0; i < runs; i++)); do
		mine=$("$dir/spirjoin" join "$left" "$right" --on "$on" --device "$device" --stats json --quiet "${want[@]}" | tr -d '\n ')
		ours+=("$(for f in match output write; do field ${f}_seconds <<<"$mine"; done | paste -sd' ' | awk '{ print $1 + $2 - $3 }')")
		peer=$("$dir/duckdb-peer" --left "$left" --right "$right" --on "$on" "${peer_want[@]}")
		theirs+=("$(field seconds_median <<<"$peer")")
	done
	same "$name" "numbers of rows" "$(field output_rows <<<"$mine")" "$(field rows_out <<<"$peer")"
	if [[ $columns ]]; then # the rows themselves, once
		peer=$("$dir/duckdb-peer" --left "$left" --right "$right" --on "$on" "${peer_want[@]}" --checksum)
		same "$name" rows "$("$dir/duckdb-peer" --checksum-file "$out" | field row_sum)" "$(field row_sum <<<"$peer")"
	fi
	rm -f "$out"
	printf '%s\n' "${ours[@]}" | median >"$dir/ours"
	printf '%s\n' "${theirs[@]}" | median >"$dir/theirs"
	paste "$dir/ours" "$dir/theirs" | awk -v name="$name" '{ printf "%-44s %10.3f s %10.3f s %8.2f\n", name, $1, $2, $2 / $1 }'
}

printf '%-44s %12s %12s %8s\n' "JOIN ($device)" SPIRJOIN DUCKDB RATIO
compare "count, $rows x 4 times as many" "$keys/r.parquet" "$keys/s.parquet" r_key=s_key
compare "count and sum, $rows x 4 times as many" "$keys/r.parquet" "$keys/s.parquet" r_key=s_key sum=s_1
compare "count, TPC-H SF $sf" "$tpch/orders.parquet" "$tpch/lineitem.parquet" o_orderkey=l_orderkey
compare "four columns, TPC-H SF $sf" "$tpch/orders.parquet" "$tpch/lineitem.parquet" o_orderkey=l_orderkey \
	o_orderkey,o_orderdate,l_extendedprice,l_discount
