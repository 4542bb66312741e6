import { type Rules, theRules } from './rules.ts'
import type { Scope } from './steps.ts'

/** One complete search. All of them together are the model. */
export type Question = { rules: Rules; scope: Scope; faults: number }

const nothingElse: Scope = {
  ...{ users: false, deadlines: false, pausesEnd: false, crashes: false, backups: false, queue: 'none' },
  floor: false,
  operations: [],
}

/** No faults, and no further steps of users. */
export const noFaults: Question = { rules: theRules, scope: nothingElse, faults: 0 }

/** Any one fault, without steps of users: small enough for each run of the tests. */
export const oneFault: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, crashes: true },
  faults: 1,
}

/** Any two faults of dispatchers, slow commits and crashes of PostgreSQL, with tasks that have no retries of their own. */
export const twoFaults: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, crashes: true },
  faults: 2,
}

/** All steps of users, with any one fault and one retry. */
export const usersAndOneFault: Question = {
  rules: { ...theRules, poisonLimit: 1 },
  scope: { ...nothingElse, users: true, crashes: true },
  faults: 1,
}

/** A backup at any moment, a restore at any later one, and all steps of users. */
export const backupAndRestore: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, users: true, backups: true },
  faults: 0,
}

/** A backup and a restore, a deadline that may pass at any moment, and one retry. */
export const restoredDeadline: Question = {
  rules: theRules,
  scope: { ...nothingElse, deadlines: true, backups: true },
  faults: 0,
}

/** As `usersAndOneFault`, and paused cron jobs are resumed. */
export const pausesThatEnd: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, users: true, pausesEnd: true },
  faults: 1,
}

/** A task with a deadline that may pass at any moment, all steps of users, and any one fault. */
export const deadlines: Question = {
  rules: { ...theRules, poisonLimit: 1 },
  scope: { ...nothingElse, users: true, deadlines: true, crashes: true },
  faults: 1,
}

/** A backup and a restore, and any one fault before or after it. */
export const restoredFault: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, backups: true },
  faults: 1,
}

/** Due times that become old, below the floor of the searches. */
export const floor: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, floor: true },
  faults: 0,
}

/** A commit that hangs, with a deadline that may pass meanwhile. */
export const hangingCommits: Question = {
  rules: { ...theRules, maxRetries: 0, commitsHang: true },
  scope: { ...nothingElse, deadlines: true },
  faults: 1,
}

/** As `hangingCommits`, with any further fault. */
export const hangingAndOneFault: Question = { ...hangingCommits, faults: 2 }

/** The floor of the searches, and any one fault. */
export const floorAndOneFault: Question = { ...floor, faults: 1 }

/** The floor of the searches, a backup and a restore. */
export const restoredFloor: Question = { ...floor, scope: { ...floor.scope, backups: true } }

/** Cancels and stops of all tasks in the background. */
export const operations: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, operations: ['cancel', 'stop'] },
  faults: 0,
}

/** Cancels, stops and replays in the background, and any one fault. */
export const operationsAndOneFault: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, operations: ['cancel', 'stop', 'replay'] },
  faults: 1,
}

/** Replays in the background, a backup and a restore. */
export const restoredReplays: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, backups: true, operations: ['replay'] },
  faults: 0,
}

// A queue of one kind, with its pauses, cancels and stops, and any one fault.
const inQueue = (limit: Scope['queue'], isExpiring: boolean): Question => ({
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, deadlines: isExpiring, queue: limit },
  faults: 1,
})

/** A queue with `max_concurrent: 1`, and a deadline. */
export const oneAtATime = inQueue('one at a time', true)

/** A queue with a rate limit of one start in a period. */
export const oneInAPeriod = inQueue('one in a period', false)

/** An ordered queue, and a deadline. */
export const ordered = inQueue('ordered', true)

// A queue of one kind that is restored from a backup.
const inRestoredQueue = (limit: Scope['queue']): Question => ({
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, backups: true, queue: limit },
  faults: 0,
})

/** A queue with `max_concurrent: 1`, a backup and a restore. */
export const restoredOneAtATime = inRestoredQueue('one at a time')

/** A queue with a rate limit, a backup and a restore. */
export const restoredRate = inRestoredQueue('one in a period')

/** An ordered queue, a backup and a restore. */
export const restoredOrder = inRestoredQueue('ordered')

/** A queue with `max_concurrent: 1`, and the floor of the searches. */
export const queueAndFloor: Question = {
  rules: { ...theRules, maxRetries: 0 },
  scope: { ...nothingElse, floor: true, queue: 'one at a time' },
  faults: 0,
}
