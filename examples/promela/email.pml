/* Clients send letters to each other over a network with a mailer that knows the owner of each box. */
/* expect: 6401 states, 22178 transitions, 0 errors */
chan box[4] = [1] of { pid, pid };
chan network = [1] of { pid, pid };
chan nowhere = [0] of { pid, pid };

proctype Client(chan letters) {
	pid from, to;
end:	do
	:: atomic {
		letters?from, to -> assert(to == _pid);
		d_step { from = 0; to = 0 }
	   }
	:: atomic {
		nfull(network) ->
		if
		:: to = 1
		:: to = 2
		:: to = 3
		fi;
		network!_pid, to;
		to = 0
	   }
	od
}

proctype Mailer() {
	pid from, to;
	chan target = nowhere;
end:	do
	:: atomic {
		network?from, to;
		if
		:: to == 1 -> target = box[1]
		:: to == 2 -> target = box[2]
		:: to == 3 -> target = box[3]
		fi
	   };
	   atomic { target!from, to; target = nowhere; from = 0; to = 0 }
	od
}

init {
	atomic {
		run Client(box[1]);
		run Client(box[2]);
		run Client(box[3]);
		run Mailer()
	}
}
