/* Assignments cut values to the width of the variable; arithmetic is that of C. */
/* expect: 21 states, 21 transitions, 0 errors */
byte b = 255;
short s = 32767;
bit t = 1;
unsigned u : 3 = 7;
int i = 2147483647;

active proctype counter() {
	b++; assert(b == 0);
	s++; assert(s == -32768);
	t++; assert(t == 0);
	u++; assert(u == 0);
	i++; assert(i < 0);
	i = -7; assert(i / 2 == -3 && i % 2 == -1);
	i = 1 << 4 | 3; assert(i == 19 && (i & 1) && (i ^ 19) == 0 && ~i == -20);
	b = (i > 3 -> 10 : 20); assert(b == 10);
	b = 3; i = b - 4; assert(i == -1)
}
