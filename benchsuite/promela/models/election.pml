/* Election on a ring in rounds (Dolev, Klawe and Rodeh, 1982): an active process compares its neighbour's number with
   its own and with the next one; N log N messages. */
#define N 4
#define SIZE 4
mtype = { one, two, winner };
chan link[N] = [SIZE] of { mtype, byte };
byte leaders;

proctype node(chan input; chan output; byte mine) {
	bit active_now = 1, knows;
	byte heard, most = mine, neighbour;
	xr input;
	xs output;
	output!one(mine);
end:	do
	:: input?one(heard) ->
		if
		:: active_now ->
			if
			:: heard != most -> output!two(heard); neighbour = heard
			:: else -> knows = 1; output!winner(heard)
			fi
		:: else -> output!one(heard)
		fi
	:: input?two(heard) ->
		if
		:: active_now ->
			if
			:: neighbour > heard && neighbour > most -> most = neighbour; output!one(neighbour)
			:: else -> active_now = 0
			fi
		:: else -> output!two(heard)
		fi
	:: input?winner(heard) ->
		if
		:: heard == mine -> leaders++; assert(leaders == 1)
		:: else
		fi;
		if
		:: knows
		:: else -> output!winner(heard)
		fi;
		break
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. N - 1) {
			run node(link[i], link[(i + 1) % N], (i * 5) % N + 1)
		};
		i = 0
	}
}
