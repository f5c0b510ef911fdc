// Package workload makes the tables that examples, tests and benchmarks join:
// primary and foreign keys with chosen skew and match ratio ([PKFK]), facts with
// several dimensions ([MakeStar]), and TPC-H's orders and lineitem ([TPCH]), of
// which [TPCHJoin] makes the relations of joins. All generators are seeded: the same
// specification gives the same rows, whatever the number of cores. (Skewed keys
// are drawn in floating point, which another processor architecture may round
// differently, so single rows may differ there.)
package workload
