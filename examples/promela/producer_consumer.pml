/* Producers and consumers over one buffered channel; every received message was sent. */
/* expect: 6428 states, 20221 transitions, 0 errors */
chan buffer = [3] of { byte, bit };
byte sent, received;

active [2] proctype producer() {
	byte i;
	for (i : 1 .. 3) {
		atomic { nfull(buffer) -> buffer!i(_pid); sent++ }
	}
}

active [2] proctype consumer() {
	byte value;
	bit who;
	do
	:: atomic { nempty(buffer) -> buffer?value(who); received++; assert(received <= sent && value <= 3) }
	:: timeout -> break
	od
}
