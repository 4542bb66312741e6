import { deleteEmptyWorkspace, purgeWorkspace } from '../../src/purge/purge-workspace.ts'
import { deleteOldRuns, deleteTasks } from '../../src/retention/expire-log.ts'
import { waitingTasks, withPromotion } from '../../src/tasks/due-work.ts'
import { dueTasksOf, openLateSearch } from '../../src/tasks/late-work.ts'
import { mendWaitingFloor, raiseWaitingFloor } from '../../src/tasks/waiting-floor.ts'
import { id, now } from './inputs.ts'
import type { SendingFunction } from './sending-function.ts'

/** The functions that find work, and delete old rows. */
export const upkeepFunctions: SendingFunction[] = [
  {
    by: deleteOldRuns,
    call: db => deleteOldRuns(db, id, 1, 1),
    sends: { delete_old_runs: 'Deletes a page of old runs, and the finished tasks whose latest runs they are.' },
  },
  {
    by: deleteTasks,
    call: db => deleteTasks(db, 'cancelled', id, 1, 1),
    sends: { delete_cancelled_tasks: 'Deletes the oldest cancelled tasks.' },
  },
  {
    by: deleteTasks,
    call: db => deleteTasks(db, 'dead_without_run', id, 1, 1),
    sends: { delete_dead_without_run: 'Deletes the oldest dead tasks without a run.' },
  },
  {
    by: purgeWorkspace,
    call: db => purgeWorkspace(db, id, 1),
    answers: { 'SELECT FROM workspaces': [{}] },
    sends: {
      purge_runs: ['Deletes a batch of the runs of a deleted workspace.', /DELETE FROM runs/],
      purge_tasks: ['Deletes a batch of the tasks of a deleted workspace.', /DELETE FROM tasks/],
    },
  },
  {
    by: deleteEmptyWorkspace,
    call: db => deleteEmptyWorkspace(db, id),
    sends: { purge_workspace: ['Deletes a workspace of which nothing else is left.', /DELETE FROM workspaces/] },
  },
  {
    by: withPromotion,
    call: db => withPromotion(db, async () => ({ watermark: now, marker: '' })),
    answers: { 'FROM promotion': [{ watermark: now, marker: '', now }] },
    sends: {
      lock_promotion: ['Locks the promotion, unless another scheduler has it.', /FROM promotion/],
      store_promotion: ['Stores how far the queue has been filled.', /UPDATE promotion/],
    },
  },
  {
    by: waitingTasks,
    call: db => waitingTasks(db, { from: now, until: now }).next(),
    sends: {
      waiting_tasks:
        'Reads a page of the waiting tasks of a window, for the queue, or of one share, for its dispatcher.',
    },
  },
  {
    by: openLateSearch,
    call: db => openLateSearch(db)(0),
    answers: { late_head: Array(1_000).fill({ workspaceId: id, id }) },
    sends: {
      late_head: 'Reads the oldest late tasks.',
      late_workspaces: 'Checks a page of workspaces for a late task, because the oldest ones may all belong to others.',
      suspended_workspaces: 'Reads the suspended workspaces, whose tasks are not late.',
    },
  },
  {
    by: dueTasksOf,
    call: db => dueTasksOf(db, [{ workspaceId: id }], 1),
    sends: { due_tasks_of: 'Reads the oldest due tasks of workspaces.' },
  },
  {
    by: raiseWaitingFloor,
    call: raiseWaitingFloor,
    sends: { raise_waiting_floor: ['Raises the floor to the first waiting task.', /UPDATE waiting_floor/] },
  },
  {
    by: mendWaitingFloor,
    call: mendWaitingFloor,
    sends: { mend_waiting_floor: 'Lowers the floor to waiting work before it.' },
  },
]
