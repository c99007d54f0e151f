/* N nodes send every change to all others over buffered channels, one deep, and collect receipts: wide states. */
#define N 3
#define B 1
mtype = { news, receipt };
chan box[N] = [B] of { mtype, byte, byte };
byte version[N];

active [N] proctype node() {
	byte to, from, got, open;
	mtype what;
end:	do
	:: open == 0 && version[_pid] < 2 ->
		version[_pid]++;
		to = 0;
		do
		:: to < N && to != _pid -> box[to]!news(_pid, version[_pid]); open++; to++
		:: to == _pid -> to++
		:: to == N -> break
		od;
		to = 0
	:: box[_pid]?what(from, got) ->
		if
		:: what == news -> box[from]!receipt(_pid, got)
		:: else -> open--
		fi;
		what = 0; from = 0; got = 0
	od
}
