/* A balancer sends requests of clients to the least loaded server. A request is the channel where its client waits. */
/* expect: 13713 states, 47690 transitions, 0 errors */
mtype = { reply };
chan client[3] = [1] of { mtype };
chan server[2] = [2] of { chan };
chan requests = [1] of { chan };
chan nobody = [0] of { mtype };

proctype Client(chan own) {
end:	do
	:: requests!own; own?reply
	od
}

proctype Server(chan own) {
	chan back = nobody;
end:	do
	:: own?back; assert(empty(back)); back!reply; back = nobody
	od
}

proctype Balancer() {
	chan back = nobody;
end:	do
	:: requests?back;
	   if
	   :: len(server[0]) <= len(server[1]) -> server[0]!back
	   :: len(server[1]) <= len(server[0]) -> server[1]!back
	   fi;
	   back = nobody
	od
}

init {
	atomic {
		run Client(client[0]); run Client(client[1]); run Client(client[2]);
		run Server(server[0]); run Server(server[1]);
		run Balancer()
	}
}
