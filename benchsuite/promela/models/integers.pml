/* N processes do sums modulo P in integers of 32 bits and write them into a shared array. */
#define N 3
#define P 7
int total[N];

active [N] proctype adder() {
	int x = _pid + 1, y;
	do
	:: x = (x * 3 + total[(_pid + 1) % N]) % P
	:: y = (x * x + 5 * y - 1) % P
	:: y > x -> total[_pid] = (total[_pid] + y - x) % P
	:: x > y && total[_pid] != 0 -> total[_pid] = (total[_pid] << 1) % P; y = x
	od
}
