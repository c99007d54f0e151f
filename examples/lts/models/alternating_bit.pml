/* The alternating bit protocol over media that lose messages, as in alternating_bit.csp and alternating_bit.mcrl2. */
chan accept = [0] of { bit };		/* data into the protocol */
chan deliver = [0] of { bit };		/* data out of it */
chan frame = [0] of { bit, bit };	/* data and bit into the medium */
chan arrive = [0] of { bit, bit };	/* data and bit out of it */
chan answer = [0] of { bit };		/* the bit back into the other medium */
chan heard = [0] of { bit };		/* the bit out of it */

active proctype Producer() {
	do
	:: accept!0
	:: accept!1
	od
}

active proctype Sender() {
	bit data, mine, old;
	do
	:: heard?old
	:: accept?data;
		do
		:: frame!data, mine
		:: heard?eval(mine) -> mine = 1 - mine; break
		:: heard?eval(1 - mine)
		od
	od
}

active proctype Forward() {
	bit data, number;
	do
	:: frame?data, number;
		if
		:: arrive!data, number
		:: skip	/* lost */
		fi
	od
}

active proctype Receiver() {
	bit data, number, expected;
	do
	:: arrive?data, number;
		if
		:: number == expected -> deliver!data; expected = 1 - expected
		:: else
		fi;
		answer!number
	od
}

active proctype Backward() {
	bit number;
	do
	:: answer?number;
		if
		:: heard!number
		:: skip	/* lost */
		fi
	od
}

active proctype Consumer() {
	bit data;
	do
	:: deliver?data
	od
}
