/* Caches that ask a directory for a line: shared by many, or one may write. Requests and answers are buffered. */
#define N 3
#define B 1
mtype = { read, write, drop, data, fresh, done, gone };
mtype = { invalid, shared, modified };
chan ask = [B] of { mtype, byte };
chan answer[N] = [B] of { mtype };
mtype line[N];

active [N] proctype cache() {
	line[_pid] = invalid;
end:	do
	:: line[_pid] == invalid -> ask!read(_pid); answer[_pid]?data; line[_pid] = shared
	:: line[_pid] != modified -> ask!write(_pid); answer[_pid]?fresh; line[_pid] = modified
	:: line[_pid] == shared -> ask!drop(_pid); answer[_pid]?gone
	od
}

active proctype directory() {
	byte who, k;
end:	do
	:: ask?read(who) ->
		d_step {
			k = 0;
			do
			:: k < N ->
				if
				:: line[k] == modified -> line[k] = shared
				:: else
				fi;
				k++
			:: else -> break
			od;
			k = 0
		};
		answer[who]!data; who = 0
	:: ask?write(who) ->
		atomic {
			k = 0;
			do
			:: k < N -> line[k] = invalid; k++
			:: else -> break
			od;
			k = 0
		};
		answer[who]!fresh; who = 0
	:: ask?drop(who) ->
		line[who] = invalid;
		answer[who]!gone; who = 0
	od
}
