/* A reusable barrier: processes count themselves in and out. */
/* expect: 361 states, 835 transitions, 0 errors */
#define N 3
byte arrived, leaving, round;

active [N] proctype worker() {
	byte mine;
	do
	:: mine < 2 ->
		atomic {
			arrived++;
			if
			:: arrived == N -> leaving = N; round++
			:: else
			fi
		};
		(leaving > 0);
		assert(round >= mine + 1);
		atomic {
			leaving--;
			if
			:: leaving == 0 -> arrived = 0
			:: else
			fi
		};
		(arrived == 0 || leaving == 0);
		mine++
	:: else -> break
	od
}
