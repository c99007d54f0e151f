/* The same with a user that forgets to close. */
/* expect: 11 states, 13 transitions, 2 errors */
mtype = { open, close };
chan door = [1] of { mtype };

trace {
	do
	:: door!open; door!close
	od
}

active proctype user() {
	door!open;
	if
	:: door!close
	:: skip
	fi;
	door!open;
	door!close
}

active proctype hinge() {
end:	do
	:: door?open
	:: door?close
	od
}
