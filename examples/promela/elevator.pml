/* An elevator for three floors; a scheduler chooses where to go. */
/* expect: 2100 states, 6295 transitions, 0 errors */
#define FLOORS 3
bool called[FLOORS];
byte floor;
bool open;

active proctype cabin() {
	byte goal;
end:	do
	:: select (goal : 0 .. 2);
	   if
	   :: called[goal] ->
		do
		:: floor < goal -> assert(!open); floor++
		:: floor > goal -> assert(!open); floor--
		:: floor == goal -> break
		od;
		open = true;
		called[goal] = false;
		open = false
	   :: else
	   fi
	od
}

active [2] proctype person() {
	byte wish;
	do
	:: wish = (_pid + wish) % FLOORS; called[wish] = true; !called[wish]
	od
}
