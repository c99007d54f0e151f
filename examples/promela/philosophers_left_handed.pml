/* Philosophers, one of which takes the right fork first. */
/* expect: 418 states, 1420 transitions, 0 errors */
#define N 4
bool fork_taken[N];

active [N] proctype philosopher() {
	byte first = _pid, second = (_pid + 1) % N;
	if
	:: _pid == N - 1 -> d_step { first = 0; second = N - 1 }
	:: else
	fi;
	do
	:: atomic { !fork_taken[first] -> fork_taken[first] = true };
	   atomic { !fork_taken[second] -> fork_taken[second] = true };
	   fork_taken[second] = false;
	   fork_taken[first] = false
	od
}
