/* A server hands out private channels that its agents create. */
/* expect: 375 states, 660 transitions, 0 errors */
mtype = { request, grant, deny, release };
chan server = [0] of { mtype, chan };
byte served;

proctype client() {
	chan me = [0] of { mtype, chan };
	chan agent;
	server!request(me);
	if
	:: me?grant(agent) -> served++; assert(served == 1); served--; agent!release(me)
	:: me?deny(agent)
	fi
}

active proctype boss() {
	chan agents = [0] of { mtype, chan };
	chan asker;
	bool busy;
	mtype what;
end:	do
	:: server?request(asker) ->
		if
		:: busy -> asker!deny(agents)
		:: else -> busy = true; asker!grant(agents)
		fi
	:: agents?release(asker) -> busy = false
	od
}

init {
	atomic { run client(); run client(); run client() }
}
