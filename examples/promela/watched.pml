/* A trace declaration: the messages on the channel alternate. */
/* expect: 26 states, 32 transitions, 0 errors */
mtype = { open, close };
chan door = [1] of { mtype };

trace {
end:	do
	:: door!open; door!close
	od
}

active proctype user() {
	byte i;
	do
	:: i < 3 -> door!open; door!close; i++
	:: else -> break
	od
}

active proctype hinge() {
end:	do
	:: door?open; door?close
	od
}
