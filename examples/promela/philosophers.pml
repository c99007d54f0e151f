/* Philosophers that all take the left fork first: they deadlock. */
/* expect: 118 states, 341 transitions, 1 errors */
#define N 4
bool fork_taken[N];

active [N] proctype philosopher() {
	byte left = _pid, right = (_pid + 1) % N;
	do
	:: atomic { !fork_taken[left] -> fork_taken[left] = true };
	   atomic { !fork_taken[right] -> fork_taken[right] = true };
	   fork_taken[right] = false;
	   fork_taken[left] = false
	od
}
