/* The lock of Mellor-Crummey and Scott: processes that want the lock form a queue, each waiting for a variable of its
 * own. A process swaps itself into the tail; if there was another one, it links itself behind it and waits until that
 * one passes the lock on. A process that leaves and finds none behind it clears the tail, unless another one has just
 * swapped itself in: then it waits for the link.
 *
 * No process starves, if every process that can always go on goes on (--fairness weak). The claim names one process, so
 * the others may be exchanged; by symmetry it is then true of all of them. Without fairness the claim fails.
 */
#define N 4
#define NONE N

byte tail = NONE;
byte next[N] = NONE;
bool waits[N];

active [N] proctype P()
{
	byte other = NONE;

	do
	:: true;
want:	   d_step { other = tail; tail = _pid; waits[_pid] = (other != NONE) };
	   if
	   :: d_step { other != NONE -> next[other] = _pid; other = NONE };
	      !waits[_pid]
	   :: else
	   fi;
cs:	   if
	   :: d_step { next[_pid] == NONE && tail == _pid -> tail = NONE }
	   :: d_step { next[_pid] != NONE -> waits[next[_pid]] = false; next[_pid] = NONE }
	   fi
	od
}

ltl alive { [] (P[1]@want -> <> P[1]@cs) }
