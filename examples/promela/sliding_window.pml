/* A sliding window of two messages over channels that may lose messages. */
/* expect: 1532 states, 3549 transitions, 0 errors */
#define WINDOW 2
#define NUMBERS 4

chan data = [2] of { byte };
chan acknowledgements = [2] of { byte };

active proctype sender() {
	byte base, next, heard;
end:	do
	:: (next + NUMBERS - base) % NUMBERS < WINDOW && nfull(data) ->
		atomic { data!next; next = (next + 1) % NUMBERS }
	:: acknowledgements?heard ->
		if
		:: (heard + NUMBERS - base) % NUMBERS < WINDOW -> base = (heard + 1) % NUMBERS
		:: else
		fi;
		heard = 0
	:: timeout -> next = base
	od
}

active proctype receiver() {
	byte expected, got;
end:	do
	:: data?got ->
		if
		:: got == expected ->
			acknowledgements!got;
			expected = (expected + 1) % NUMBERS
		:: else ->
			acknowledgements!(expected + NUMBERS - 1) % NUMBERS
		fi;
		got = 0
	od
}

active proctype thief() {
end:	do
	:: data?_
	:: acknowledgements?_
	od
}
