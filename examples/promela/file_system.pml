/* A file system of two i-nodes and three blocks: after every creation and deletion, each block has one owner. */
/* expect: 1560 states, 3462 transitions, 0 errors */
#define NODES 2
#define BLOCKS 3
#define FREE 255

typedef inode {
	bool locked;
	bool used;
	byte block
};

inode nodes[NODES];
bool taken[BLOCKS];
bool busy[BLOCKS];

proctype creator(byte n) {
	byte b;
	atomic { !nodes[n].locked -> nodes[n].locked = true };
	if
	:: !nodes[n].used ->
		nodes[n].used = true;
		nodes[n].block = FREE;
		b = (n * 2) % BLOCKS;
		do
		:: atomic { b < BLOCKS && !busy[b] -> busy[b] = true };
			if
			:: !taken[b] ->
				taken[b] = true;
				nodes[n].block = b;
				busy[b] = false;
				break
			:: else ->
				busy[b] = false;
				b++
			fi
		:: b >= BLOCKS -> break
		od
	:: else
	fi;
	nodes[n].locked = false
}

proctype deleter(byte n) {
	atomic { !nodes[n].locked -> nodes[n].locked = true };
	if
	:: nodes[n].used && nodes[n].block != FREE ->
		d_step {
			assert(taken[nodes[n].block]);
			taken[nodes[n].block] = false;
			nodes[n].block = FREE;
			nodes[n].used = false
		}
	:: else
	fi;
	nodes[n].locked = false
}

init {
	atomic {
		run creator(0);
		run creator(1);
		run deleter(0);
		run creator(0)
	};
	(_nr_pr == 1);
	assert(!(nodes[0].used && nodes[1].used) || nodes[0].block != nodes[1].block || nodes[0].block == FREE)
}
