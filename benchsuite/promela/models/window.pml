/* Go-back over channels that lose messages: a window of W of M numbers, buffers of B. */
#define W 2
#define M 4
#define B 2
mtype = { data, receipt };
chan forth = [B] of { mtype, byte, byte };
chan back = [B] of { mtype, byte };
byte wanted;

active proctype sender() {
	byte first, next, heard, content;
end:	do
	:: (next + M - first) % M < W ->
		forth!data(next, content);
		next = (next + 1) % M;
		content = (content + 1) % M
	:: back?receipt(heard) ->
		do
		:: first != heard -> first = (first + 1) % M
		:: else -> break
		od;
		heard = 0
	:: next != first && empty(back) -> content = first; next = first
	od
}

active proctype receiver() {
	byte number, content;
end:	do
	:: forth?data(number, content) ->
		if
		:: number == wanted -> assert(content == wanted); wanted = (wanted + 1) % M
		:: else
		fi;
		number = 0; content = 0;
		back!receipt(wanted)
	od
}

active proctype loss() {
end:	do
	:: forth?_, _, _
	:: back?_, _
	od
}
