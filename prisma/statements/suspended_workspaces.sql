-- Reads the suspended workspaces, whose tasks are not late.
-- Sent by openLateSearch.

SELECT id FROM suspended_workspaces
