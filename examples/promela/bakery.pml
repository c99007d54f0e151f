/* Lamport's bakery algorithm; a process takes its ticket in two steps. */
/* expect: 2164 states, 4014 transitions, 0 errors */
#define N 2
#define MOST 5
bool choosing[N];
byte ticket[N];
byte inside;

active [N] proctype customer() {
	byte most, j;
	do
	:: most < MOST ->
		choosing[_pid] = true;
		most = (ticket[0] > ticket[1] -> ticket[0] : ticket[1]);
		ticket[_pid] = most + 1;
		choosing[_pid] = false;
		j = 1 - _pid;
		!choosing[j];
		(ticket[j] == 0 || ticket[j] > ticket[_pid] || (ticket[j] == ticket[_pid] && j > _pid));
		inside++;
		assert(inside == 1);
		inside--;
		ticket[_pid] = 0;
		j = 0
	:: else -> break
	od
}
