import { changeCronJob, deleteCronJob, pauseCronJob } from '../../src/cron-jobs/change-cron-job.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../../src/migrate/held-tasks.ts'
import { windDownWorkspace } from '../../src/purge/wind-down-workspace.ts'
import { changePendingTask, endTask } from '../../src/tasks/change-task.ts'
import { endTasks } from '../../src/tasks/end-tasks.ts'
import { clock, everyField, hourMs, id, lockedCronJob } from './inputs.ts'
import type { SendingFunction } from './sending-function.ts'

/** The functions that end or change what has not started. */
export const changingFunctions: SendingFunction[] = [
  {
    by: endTask,
    call: db => endTask(db, id, id, 'cancel'),
    sends: { task_state: 'Reads why a task could not be moved.' },
  },
  {
    by: endTasks,
    call: db => endTasks(db, id, [id], 'cancel'),
    sends: {
      cancel_tasks: 'Cancels those of the given tasks that have not started.',
      cancel_undecided: 'Reads the tasks that a dispatcher has prefetched, whose first attempt may start.',
    },
  },
  {
    by: endTasks,
    call: db => endTasks(db, id, [id], 'stop'),
    sends: {
      stop_tasks: 'Ends those of the given tasks that wait for a retry.',
      stop_undecided: 'Reads the tasks that a dispatcher has prefetched, whose next attempt may start.',
    },
  },
  {
    by: changePendingTask,
    call: db => changePendingTask(db, id, id, everyField),
    sends: { change_pending_task: ['Changes a task that has not started. Here, all of its fields.', /WITH task AS/] },
  },
  {
    by: pauseCronJob,
    call: db => pauseCronJob(db, id, id),
    answers: lockedCronJob,
    sends: {
      lock_cron_job: ['Locks a cron job, so no scheduler expands it.', /FROM cron_jobs WHERE .* FOR UPDATE/],
      cancel_unstarted: ['Cancels the tasks of a cron job that have not started.', /UPDATE tasks/],
      pause_cron_job: ['Pauses a cron job, and voids the tasks whose claim is undone later.', /SET paused_at/],
    },
  },
  {
    by: changeCronJob,
    call: db => changeCronJob(db, id, id, { cron: '1 1 * * *' }, hourMs),
    answers: lockedCronJob,
    sends: {
      cancel_unstarted_occurrences: ['Cancels the occurrences of the old rule that have not started.', /UPDATE tasks/],
      reschedule_cron_job: [
        'Gives a cron job a new rule, and voids the occurrences of the old one.',
        /UPDATE cron_jobs/,
      ],
    },
  },
  {
    by: changeCronJob,
    call: db => changeCronJob(db, id, id, everyField, hourMs),
    answers: lockedCronJob,
    sends: {
      change_unstarted_occurrences: ['Gives the occurrences that have not started a new request.', /WITH task AS/],
    },
  },
  {
    by: deleteCronJob,
    call: db => deleteCronJob(db, id, id),
    answers: lockedCronJob,
    sends: {
      delete_cron_job: ['Deletes a cron job, after its unstarted tasks are cancelled.', /DELETE FROM cron_jobs/],
    },
  },
  {
    by: windDownWorkspace,
    call: db => windDownWorkspace(db, id),
    answers: { isSettled: [{ isSettled: true }] },
    sends: {
      lock_deleted_workspace: ['Locks a deleted workspace, unless another scheduler has it.', /isSettled/],
      cancel_tasks_of_workspace: ['Cancels a batch of the waiting tasks of a deleted workspace.', /UPDATE tasks/],
      mark_wound_down: [
        'Marks a deleted workspace without unfinished tasks, so it can be purged.',
        /UPDATE workspaces/,
      ],
    },
  },
  {
    by: holdOverdueTasks,
    call: db => holdOverdueTasks(db),
    answers: clock,
    sends: {
      hold_tasks: ['Holds the tasks of a restored backup that were due, expired or in flight.', /UPDATE tasks/],
    },
  },
  {
    by: releaseHeldTasks,
    call: db => releaseHeldTasks(db),
    sends: { release_held_tasks: ['Releases held tasks.', /UPDATE tasks/] },
  },
]
