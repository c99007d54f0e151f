/* A ring of philosophers who take the fork of their own seat first: they deadlock. With ASYMMETRIC 1 the first one
   takes the other fork first, and they do not. */
#define N 4
#define ASYMMETRIC 0
bool taken[N];

active [N] proctype philosopher() {
	byte first = ((ASYMMETRIC && _pid == 0) -> (_pid + 1) % N : _pid);
	byte second = ((ASYMMETRIC && _pid == 0) -> _pid : (_pid + 1) % N);
	do
	:: atomic { !taken[first] -> taken[first] = true };
	   atomic { !taken[second] -> taken[second] = true };
	   taken[second] = false;
	   taken[first] = false
	od
}
