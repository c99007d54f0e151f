/* Readers and writers with a counter that atomic statements protect. */
/* expect: 31 states, 88 transitions, 0 errors */
#define READERS 3
#define WRITERS 2
byte readers, writers;

active [READERS] proctype reader() {
end:	do
	:: atomic { writers == 0 -> readers++ };
	   assert(writers == 0);
	   readers--
	od
}

active [WRITERS] proctype writer() {
end:	do
	:: atomic { readers == 0 && writers == 0 -> writers++ };
	   assert(writers == 1 && readers == 0);
	   writers--
	od
}
