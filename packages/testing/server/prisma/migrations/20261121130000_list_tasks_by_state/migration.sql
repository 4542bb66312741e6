-- Every move of a task writes its row anew into each of its indexes. The lists go along (workspace_id, state, id), one
-- stream for each state, also where all states are asked for.
DROP INDEX tasks_workspace_id_id_idx;
