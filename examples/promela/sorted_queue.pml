/* Sorted sends and random receives: messages come out in order, or by name. */
/* expect: 39 states, 40 transitions, 0 errors */
chan queue = [4] of { byte, byte };

active proctype filler() {
	queue!!3, 1;
	queue!!1, 2;
	queue!!2, 3;
	queue!!2, 1
}

active proctype picker() {
	byte level, who, before;
	(len(queue) == 4);
	if
	:: queue??level, 3 -> assert(level == 2)
	:: skip
	fi;
	do
	:: queue?[1, _] -> queue?<level, who>; assert(level == 1 && who == 2); queue?level, who; before = level
	:: nempty(queue) && !queue?[1, _] -> queue?level, who; assert(level >= before); before = level
	:: empty(queue) -> break
	od
}
