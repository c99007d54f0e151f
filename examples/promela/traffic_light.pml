/* A crossing: lights of two roads, an emergency that interrupts, and a claim about both. */
/* expect: 246 states, 458 transitions, 0 errors */
mtype = { red, green, yellow };
mtype north = red, east = red;
bool emergency;

ltl never_both { [] !(north == green && east == green) }

active proctype control() {
	do
	:: {
		do
		:: north = green; north = yellow; north = red;
		   east = green; assert(north == red); east = yellow; east = red
		od
	   } unless { emergency -> north = red; east = red; emergency = false }
	od
}

active proctype ambulance() {
	byte calls;
	do
	:: calls < 3 -> emergency = true; calls++; !emergency
	:: break
	od
}
