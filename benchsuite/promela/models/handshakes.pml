/* A ring of N stations that hand tokens on by rendezvous, K at a time; each counts what it has seen. */
#define N 4
#define K 2
#define MOST 3
chan hand[N] = [0] of { byte };

active [N] proctype station() {
	byte seen, token = (_pid < K -> _pid + 1 : 0), other;
end:	do
	:: token > 0 -> hand[(_pid + 1) % N]!token; token = 0
	:: token == 0 -> hand[_pid]?token; seen = (seen + 1) % MOST
	:: token > 0 && seen > 0 -> seen--
	od
}
