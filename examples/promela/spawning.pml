/* Processes that create processes and end youngest first. */
/* expect: 136 states, 276 transitions, 0 errors */
byte alive, born;

proctype child(byte depth) {
	pid one;
	alive++;
	if
	:: depth > 0 -> one = run child(depth - 1); assert(one == _nr_pr - 1 || one > _pid)
	:: depth > 0 -> run child(depth - 1); run child(depth - 1)
	:: else
	fi;
	alive--;
	atomic { born++; one = 0 }
}

init {
	run child(1);
	(_nr_pr == 1);
	assert(alive == 0)
}
