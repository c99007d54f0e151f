/* A ticket office with two clerks and one ticket. A clerk checks, then sells; the other may interleave: sold twice. */
/* expect: 90 states, 143 transitions, 14 errors */
chan office = [2] of { pid };
chan hand = [0] of { pid };
byte left = 1, sold;

proctype clerk() {
	pid who;
	office?who;
	left > 0;
	atomic {
		left--;
		sold++;
		assert(sold <= 1)
	};
	hand!who
}

active [2] proctype visitor() {
	office!_pid;
	hand?eval(_pid)
}

init {
	atomic {
		run clerk();
		run clerk()
	}
}
