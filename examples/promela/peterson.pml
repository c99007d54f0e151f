/* Peterson's algorithm: two processes and one critical section. */
/* expect: 38 states, 65 transitions, 0 errors */
bool wants[2];
byte turn, inside;

active [2] proctype user() {
	byte other = 1 - _pid;
end:	do
	:: wants[_pid] = true;
	   turn = other;
	   (!wants[other] || turn == _pid);
	   inside++;
	   assert(inside == 1);
	   inside--;
	   wants[_pid] = false
	od
}
