import type { Mutation } from './mutations.ts'
import { backupAndRestore, restoredDeadline, restoredOrder } from './scopes.ts'

/** Mutations of a restore. */
export const restoreMutations: Mutation[] = [
  {
    name: 'hold-overdue leaves cron jobs out',
    question: backupAndRestore,
    mutation: { holdsCronJobs: false },
    violation: 'what was sent since the backup is sent again, unheld',
    trace: [
      'the operator takes a backup',
      'the scheduler makes the occurrence of the cron job',
      'cron comes due',
      'A claims cron',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'the scheduler makes the occurrence of the cron job',
      'A claims cron',
      'A sends cron',
    ],
  },
  {
    name: 'the deadline of a held task passes',
    question: restoredDeadline,
    mutation: { holdStopsDeadline: false },
    violation: 'a held task changes by itself',
    trace: [
      'the deadline of plain passes',
      'the operator takes a backup',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'the scheduler ends plain: its deadline has passed',
    ],
  },
  {
    name: 'hold-overdue leaves out what waits for a retry beyond its deadline',
    question: restoredDeadline,
    mutation: { holdsExpired: false },
    violation: 'an outcome that was reported since the backup is reported again, unheld',
    trace: [
      'the deadline of plain passes',
      'the operator takes a backup',
      'the scheduler ends plain: its deadline has passed',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'the scheduler ends plain: its deadline has passed',
    ],
  },
  {
    name: 'a task of an ordered queue passes a held one',
    question: restoredOrder,
    mutation: { heldTasksKeepOrder: false },
    violation: 'a task of an ordered queue starts before the one in front of it is final',
    trace: [
      'the scheduler makes the occurrence of the cron job',
      'the operator takes a backup',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'cron comes due',
      'A claims cron',
    ],
  },
]
