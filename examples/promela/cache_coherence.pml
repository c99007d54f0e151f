/* Three caches of one line with the states of a write-back protocol and an atomic bus. */
/* expect: 46 states, 196 transitions, 0 errors */
#define CACHES 3
mtype = { invalid, shared, modified };
mtype line[CACHES];
byte holders;

inline snoop(me) {
	byte k;
	for (k in line) {
		if
		:: k != me -> line[k] = invalid
		:: else
		fi
	}
	k = 0
}

inline weaken(me) {
	byte j;
	for (j in line) {
		if
		:: j != me && line[j] == modified -> line[j] = shared
		:: else
		fi
	}
	j = 0
}

inline at_most_one_writer() {
	assert(!(line[0] == modified && line[1] != invalid) || line[1] == 0);
	assert(!(line[1] == modified && line[2] == modified));
	assert(!(line[0] == modified && line[2] == modified))
}

active [CACHES] proctype cache() {
	d_step { line[_pid] = invalid; holders++ };
	(holders == CACHES);
	do
	:: atomic { line[_pid] == invalid -> weaken(_pid); line[_pid] = shared }
	:: atomic { line[_pid] != modified -> snoop(_pid); line[_pid] = modified; at_most_one_writer() }
	:: atomic { line[_pid] != invalid -> line[_pid] = invalid }
	od
}
