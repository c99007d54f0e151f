/* A trace declaration: what is sent on the channel alternates. */
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
