/* Priorities, and `provided` clauses of whole processes. */
/* expect: 14 states, 14 transitions, 1 errors */
byte shared_value;
bool enabled_slow = true;

active proctype fast() priority 5 {
	byte i;
	do
	:: i < 2 -> i++; shared_value = i; (shared_value == 0 || shared_value > 2)
	:: else -> break
	od
}

active proctype slow() priority 1 provided (enabled_slow) {
	do
	:: shared_value == 1 -> shared_value = 7
	:: shared_value == 2 -> shared_value = 0
	:: shared_value == 7 -> break
	od
}
