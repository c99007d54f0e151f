/* The alternating bit protocol with rendezvous channels and a medium that loses messages. */
/* expect: 24 states, 28 transitions, 0 errors */
mtype = { message, answer };
chan to_medium = [0] of { mtype, bit };
chan from_medium = [0] of { mtype, bit };
chan back = [0] of { mtype, bit };

active proctype sender() {
	bit mine, heard;
	do
	:: to_medium!message(mine);
		if
		:: back?answer, heard ->
			if
			:: heard == mine -> mine = 1 - mine
			:: else
			fi
		:: timeout
		fi
	od
}

active proctype medium() {
	bit carried;
	do
	:: to_medium?message, carried ->
		if
		:: from_medium!message(carried)
		:: skip	/* lost */
		fi
	od
}

active proctype receiver() {
	bit got, expected;
	do
	:: from_medium?message, got ->
		if
		:: got == expected -> expected = 1 - expected
		:: else
		fi;
		back!answer(got)
	od
}
