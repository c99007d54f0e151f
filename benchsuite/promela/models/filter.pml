/* Peterson's algorithm for N processes: each climbs N - 1 floors, and on every floor one process is left behind. */
#define N 3
byte floor_of[N];
byte last_at[N];
byte inside;

active [N] proctype climber() {
	byte level, other;
again:
	level = 1;
	do
	:: level < N ->
		floor_of[_pid] = level;
		last_at[level] = _pid;
wait:		other = 0;
		do
		:: other < N ->
			if
			:: other != _pid && floor_of[other] >= level && last_at[level] == _pid -> goto wait
			:: else -> other++
			fi
		:: else -> break
		od;
		level++
	:: else -> break
	od;
	inside++;
	assert(inside == 1);
	inside--;
	floor_of[_pid] = 0;
	goto again
}
