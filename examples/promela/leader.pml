/* Election of a leader on a ring of one direction: a process that receives a number larger than its own gives up. */
/* expect: 330 states, 817 transitions, 0 errors */
#define N 4
#define SIZE 2

mtype = { candidate, elected };
chan link[N] = [SIZE] of { mtype, byte };
byte leaders;

proctype node(byte me; byte number) {
	chan input = link[me];
	chan output = link[(me + 1) % N];
	mtype kind;
	byte heard;
	xr input;
	xs output;
	output!candidate(number);
end:	do
	:: input?candidate, heard ->
		if
		:: heard > number -> output!candidate(heard)
		:: heard < number
		:: heard == number ->
			leaders++;
			assert(leaders == 1);
			output!elected(number)
		fi
	:: input?elected, heard ->
		if
		:: heard != number -> output!elected(heard)
		:: else
		fi;
		break
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. N - 1) {
			run node(i, (i * 3 + 1) % 7)
		}
	}
}
