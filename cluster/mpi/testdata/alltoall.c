// All ranks send one another as many bytes, in pieces of 4 MiB by MPI_Issend, 4 under way for each pair, as package mpi
// does. Arguments: bytes a pair, rounds. Rank 0 prints seconds of all rounds and CPU seconds of all ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PIECE = 4 << 20, AHEAD = 4, RANKS = 64 };

static double cpu(void) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
	long bytes = atol(argv[1]);
	int rounds = atoi(argv[2]), rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *out[RANKS], *in[RANKS];
	for (int peer = 0; peer < size; peer++) {
		memset(out[peer] = malloc(bytes), rank, bytes);
		memset(in[peer] = malloc(bytes), rank, bytes);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double began = MPI_Wtime(), used = cpu(), all;
	for (int round = 0; round < rounds; round++) {
		// Request (peer * 2 + direction) * AHEAD + i is piece i modulo AHEAD of a peer.
		MPI_Request requests[RANKS * 2 * AHEAD];
		long next[RANKS * 2 * AHEAD];
		int count = size * 2 * AHEAD, left = 0, ended, indices[RANKS * 2 * AHEAD];
		for (int i = 0; i < count; i++) {
			requests[i] = MPI_REQUEST_NULL;
			next[i] = -1;
		}
		for (int i = 0; i < count; i++) {
			int peer = i / (2 * AHEAD);
			if (peer != rank && (long)(i % AHEAD) * PIECE < bytes) {
				next[i] = (long)(i % AHEAD) * PIECE;
				indices[left++] = i;
			}
		}
		ended = left;
		while (left > 0) {
			for (int e = 0; e < ended; e++) {
				int i = indices[e], peer = i / (2 * AHEAD), sends = i / AHEAD % 2;
				if (next[i] >= bytes) {
					left--;
					continue;
				}
				int n = bytes - next[i] < PIECE ? bytes - next[i] : PIECE;
				if (sends)
					MPI_Issend(out[peer] + next[i], n, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[i]);
				else
					MPI_Irecv(in[peer] + next[i], n, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[i]);
				next[i] += (long)AHEAD * PIECE;
			}
			if (left > 0)
				MPI_Waitsome(count, requests, &ended, indices, MPI_STATUSES_IGNORE);
			if (ended == MPI_UNDEFINED)
				ended = 0;
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double seconds = MPI_Wtime() - began;
	used = cpu() - used;
	MPI_Reduce(&used, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("all to all: %g s, %g CPU s\n", seconds, all);
	MPI_Finalize();
	return 0;
}
