/* A vending machine that breaks down: nested escapes. */
/* expect: 1039 states, 2219 transitions, 11 errors */
mtype = { coin, tea, coffee };
chan slot = [1] of { mtype };
bool broken, cut;
byte drinks;

active proctype machine() {
	mtype wanted;
end:	do
	:: {
		{
			slot?coin;
			if
			:: slot?tea -> wanted = tea
			:: slot?coffee -> wanted = coffee
			fi;
			drinks++;
			wanted = 0
		} unless { broken -> broken = false }
	   } unless { cut -> break }
	od
}

active proctype customer() {
	byte i;
	for (i : 1 .. 2) {
		slot!coin;
		if
		:: slot!tea
		:: slot!coffee
		fi
	}
}

active proctype fate() {
	if
	:: broken = true
	:: cut = true
	:: skip
	fi
}
