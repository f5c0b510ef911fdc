// Package workload makes the tables that examples, tests and benchmarks join:
// primary and foreign keys with chosen skew and match ratio ([PKFK]), and
// TPC-H's orders and lineitem ([TPCH]). All generators are seeded: the same
// specification gives the same rows, whatever the number of cores. (Skewed keys
// are drawn in floating point, which another processor architecture may round
// differently, so single rows may differ there.)
package workload
