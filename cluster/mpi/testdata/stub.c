// A library of MPI for the tests of ABIs: a job of two ranks, of which rank 1 says and sends what rank 0 does. Every
// call checks the handles and constants of its ABI, which are those of other headers than ours, and ends the process if
// one is wrong. ABI: 1 is the ABI of MPI 5.0, 5 that of Open MPI 5.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "stub: %s: %s\n", __func__, #condition); \
			exit(99); \
		} \
	} while (0)

typedef void *handle;

#if ABI == 1
#define WORLD ((handle)0x101)
#define BYTE ((handle)0x247)
#define ERRORS_RETURN ((handle)0x143)
#define REQUEST_NULL ((handle)0x180)
enum { FUNNELED = 1024, TAG_UB = 501 };
#define VERSION "Some MPI 1.0"
int MPI_Abi_get_version(int *major, int *minor) {
	*major = 1;
	*minor = 0;
	return 0;
}
#else
char ompi_mpi_comm_world[1024], ompi_mpi_byte[1024], ompi_mpi_errors_return[1024], ompi_request_null[1024];
#define WORLD ((handle)ompi_mpi_comm_world)
#define BYTE ((handle)ompi_mpi_byte)
#define ERRORS_RETURN ((handle)ompi_mpi_errors_return)
#define REQUEST_NULL ((handle)ompi_request_null)
enum { FUNNELED = 1, TAG_UB = 0 };
#define VERSION "Open MPI v5.0.9, package: a stub"
#endif

// Request i has the handle requests + i.
static struct request {
	int active, ended, receives, tag, bytes;
	char *memory;
} requests[1000];
static char copy_of_world[8];
#define COPY ((handle)copy_of_world)

int MPI_Get_library_version(char *version, int *length) {
	*length = sprintf(version, "%s", VERSION);
	return 0;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
	CHECK(!argc && !argv && required == FUNNELED);
	*provided = required;
	return 0;
}

int MPI_Comm_set_errhandler(handle comm, handle errhandler) {
	CHECK((comm == WORLD || comm == COPY) && errhandler == ERRORS_RETURN);
	return 0;
}

int MPI_Comm_dup(handle comm, handle *copy) {
	CHECK(comm == WORLD);
	*copy = COPY;
	return 0;
}

int MPI_Comm_rank(handle comm, int *rank) {
	CHECK(comm == COPY);
	*rank = 0;
	return 0;
}

int MPI_Comm_size(handle comm, int *size) {
	CHECK(comm == COPY);
	*size = 2;
	return 0;
}

int MPI_Comm_get_attr(handle comm, int key, void *value, int *flag) {
	static int limit = 100000;
	CHECK((comm == WORLD || comm == COPY) && key == TAG_UB);
	*(int **)value = &limit;
	*flag = 1;
	return 0;
}

int MPI_Error_string(int code, char *text, int *length) {
	*length = sprintf(text, "error %d", code);
	return 0;
}

static struct request *begin(handle *out, handle comm, handle type) {
	CHECK(comm == COPY && type == BYTE);
	for (struct request *r = requests; r < requests + 1000; r++)
		if (!r->active) {
			*r = (struct request){.active = 1};
			*out = r;
			return r;
		}
	exit(98);
}

static void match(void) {
	for (struct request *s = requests; s < requests + 1000; s++)
		for (struct request *r = requests; r < requests + 1000; r++)
			if (s->active && !s->ended && s->memory && !s->receives && r->active && !r->ended && r->receives &&
				s->tag == r->tag) {
				CHECK(s->bytes <= r->bytes);
				memcpy(r->memory, s->memory, s->bytes);
				s->ended = r->ended = 1;
				break;
			}
}

static int transfer(int receives, void *memory, int count, handle type, int peer, int tag, handle comm, handle *out) {
	CHECK(peer == 1 && tag > 0 && tag <= 100000);
	struct request *r = begin(out, comm, type);
	r->receives = receives, r->tag = tag, r->bytes = count, r->memory = memory;
	return 0;
}

int MPI_Issend(const void *from, int count, handle type, int to, int tag, handle comm, handle *out) {
	return transfer(0, (void *)from, count, type, to, tag, comm, out);
}

int MPI_Irecv(void *to, int count, handle type, int from, int tag, handle comm, handle *out) {
	return transfer(1, to, count, type, from, tag, comm, out);
}

int MPI_Testsome(int count, handle *handles, int *ended, int *indices, void *statuses) {
	CHECK(statuses == 0);
	match();
	*ended = 0;
	for (int i = 0; i < count; i++) {
		struct request *r = handles[i];
		CHECK(r >= requests && r < requests + 1000 && r->active);
		if (r->ended) {
			r->active = 0;
			handles[i] = REQUEST_NULL;
			indices[(*ended)++] = i;
		}
	}
	return 0;
}

int MPI_Iallgather(const void *mine, int count, handle type, void *all, int each, handle type2, handle comm,
	handle *out) {
	CHECK(count == each && type2 == BYTE);
	begin(out, comm, type)->ended = 1;
	memcpy(all, mine, count);
	memcpy((char *)all + count, mine, count);
	return 0;
}

int MPI_Iallgatherv(const void *mine, int count, handle type, void *all, const int *counts, const int *starts,
	handle type2, handle comm, handle *out) {
	CHECK(count == counts[0] && count == counts[1] && type2 == BYTE);
	begin(out, comm, type)->ended = 1;
	for (int rank = 0; rank < 2; rank++)
		memcpy((char *)all + starts[rank], mine, count);
	return 0;
}

int MPI_Cancel(handle *request) {
	((struct request *)*request)->ended = 1;
	return 0;
}

int MPI_Abort(handle comm, int code) {
	CHECK(comm == COPY);
	exit(code);
}

int MPI_Finalize(void) {
	for (struct request *r = requests; r < requests + 1000; r++)
		CHECK(!r->active);
	return 0;
}
