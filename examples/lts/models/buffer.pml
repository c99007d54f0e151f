/* A buffer of one place that passes bits on, between a producer and a consumer; buffer.csp is the same in CSPM. */
chan put = [0] of { bit };
chan get = [0] of { bit };

active proctype Producer() {
  do
  :: put!0
  :: put!1
  od
}

active proctype Buffer() {
  bit x;
  do
  :: put?x; get!x
  od
}

active proctype Consumer() {
  bit x;
  do
  :: get?x
  od
}
