/* A token on a ring of rendezvous channels; new processes get channels as parameters. */
/* expect: 69 states, 143 transitions, 0 errors */
#define N 4
chan ring[N] = [0] of { bit };
byte holders;

proctype station(chan input; chan output; bit starts) {
	if
	:: starts -> goto hold
	:: else
	fi;
end:	do
	:: input?1;
hold:	   holders++;
	   assert(holders == 1);
	   holders--;
	   output!1
	od
}

init {
	atomic {
		byte i = 0;
		do
		:: i < N -> run station(ring[i], ring[(i + 1) % N], i == 0); i++
		:: else -> break
		od
	}
}
