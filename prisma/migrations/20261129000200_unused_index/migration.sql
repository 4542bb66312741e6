-- No statement names its condition any more: a dead task without a run may have had one that was deleted.
DROP INDEX tasks_dead_without_run_idx;
