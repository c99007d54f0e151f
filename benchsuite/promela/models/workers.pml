/* A master that starts N workers for a job each; workers share a store of K records, report over channels of their own
   and end. */
#define N 3
#define K 2
typedef record {
	bool locked;
	byte value;
	short sum
};
record store[K];
byte ended;

proctype worker(chan report; byte job) {
	byte at = job % K, rounds;
	do
	:: rounds < 2 ->
		atomic { !store[at].locked -> store[at].locked = true };
		store[at].value = store[at].value + job;
		store[at].sum = store[at].sum - job;
		store[at].locked = false;
		at = (at + 1) % K;
		rounds++
	:: else -> break
	od;
	report!job, at
}

init {
	chan reports = [2] of { byte, byte };
	byte i, job, at;
	atomic {
		i = 0;
		do
		:: i < N -> run worker(reports, i + 1); i++
		:: else -> break
		od;
		i = 0
	};
	do
	:: ended < N -> reports?job, at; ended++; job = 0; at = 0
	:: else -> break
	od;
	(_nr_pr == 1)
}
