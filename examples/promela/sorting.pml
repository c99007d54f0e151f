/* Odd-even sorting by neighbours that exchange in d_steps. */
/* expect: 13588 states, 37698 transitions, 0 errors */
#define N 4
byte cells[N] = { 3, 1, 0, 2 };
byte done;

proctype comparer(byte at) {
	byte round, old;
	do
	:: round < N ->
		d_step {
			if
			:: cells[at] > cells[at + 1] -> old = cells[at]; cells[at] = cells[at + 1]; cells[at + 1] = old
			:: else
			fi;
			old = 0
		};
		round++
	:: else -> break
	od;
	done++
}

init {
	atomic { run comparer(0); run comparer(1); run comparer(2) };
	(done == 3);
	assert(cells[0] <= cells[3] || cells[0] > cells[3])
}
