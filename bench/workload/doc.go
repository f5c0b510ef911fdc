// Package workload generates the tables that examples, tests and benchmarks join: primary and foreign keys with a given
// skew and match ratio ([PKFK]), a fact table with several dimensions ([MakeStar]), and TPC-H's orders and lineitem
// ([TPCH]), from which [TPCHJoin] derives the relations of joins. All generators are seeded: the same specification
// gives the same rows, whatever the number of cores. (Skewed keys are drawn in floating point, which another processor
// architecture may round differently, so individual rows may differ there.)
package workload
