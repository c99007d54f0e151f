/* A semaphore as a process that answers on rendezvous channels. */
/* expect: 13 states, 16 transitions, 0 errors */
mtype = { take, give };
chan semaphore = [0] of { mtype };
byte inside;

active proctype keeper() {
end:	do
	:: semaphore!take -> semaphore?give
	od
}

active [3] proctype user() {
end:	do
	:: semaphore?take;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   semaphore!give
	od
}
