/* Peterson's algorithm with the two assignments in the wrong order: both processes enter the critical section. */
/* expect: 98 states, 187 transitions, 8 errors */
bool wants[2];
byte turn, inside;

active [2] proctype user() {
	byte other = 1 - _pid;
	do
	:: turn = other;
	   wants[_pid] = true;
	   (!wants[other] || turn == _pid);
	   inside++;
	   assert(inside == 1);
	   inside--;
	   wants[_pid] = false
	od
}
