/* Dekker's algorithm, with jumps. */
/* expect: 126 states, 237 transitions, 0 errors */
bool flag[2];
bit turn;
byte critical;

active [2] proctype worker() {
	pid other = 1 - _pid;
again:
	flag[_pid] = 1;
	do
	:: flag[other] ->
		if
		:: turn == other ->
			flag[_pid] = 0;
			turn == _pid;
			flag[_pid] = 1
		:: else
		fi
	:: else -> break
	od;
	atomic { critical++; assert(critical == 1) };
	critical--;
	turn = other;
	flag[_pid] = 0;
	goto again
}
