import { expect } from 'vitest'
import type { Rules } from './rules.ts'
import {
  backupAndRestore,
  deadlines,
  noFaults,
  oneAtATime,
  oneInAPeriod,
  ordered,
  pausesThatEnd,
  type Question,
  twoFaults,
  usersAndOneFault,
} from './scopes.ts'
import { search } from './search.ts'

/** The result of a search with one broken rule. `ignored`: violations to skip, because the search finds them first. */
type Mutation = {
  name: string
  question: Question
  mutation: Partial<Rules>
  ignored?: string[]
  violation: string
  trace: string[]
}

/** All mutations, each of which the search must notice. */
export const mutations: Mutation[] = [
  {
    name: 'an undone claim leads to retrying',
    question: usersAndOneFault,
    mutation: { undoneState: 'retrying', undoRefunds: false },
    ignored: ['the executions counted are not those that were claimed'],
    violation: 'an occurrence starts after the pause or deletion of its cron job was answered',
    trace: [
      'the scheduler makes the occurrence of the cron job',
      'cron comes due',
      'A claims cron',
      'A undoes its claim of cron',
      'the user pauses the cron job: 200',
      'A claims cron',
    ],
  },
  {
    name: 'a claim without an answer is asked for again with a new token',
    question: twoFaults,
    mutation: { tokenOfRepeatedClaim: 'new' },
    violation: 'a living dispatcher has lost its own attempt',
    trace: [
      'plain comes due',
      'A claims plain, and PostgreSQL is slow to commit',
      'A has no answer, and asks for plain again with a new token',
      "PostgreSQL commits A's first claim of plain",
      "PostgreSQL commits A's claim of plain",
    ],
  },
  {
    name: 'a lease ends an attempt though its dispatcher lives',
    question: twoFaults,
    mutation: { deathIsSeenBy: 'leases' },
    violation: 'an attempt is reported lost though its dispatcher lives',
    trace: ['plain comes due', 'A claims plain', 'the scheduler ends plain: the lease of A is over'],
  },
  {
    name: 'a prefetched attempt is sent without an entry in the journal',
    question: twoFaults,
    mutation: { sendsNeedJournal: false },
    violation: 'an attempt was sent and has no run',
    trace: [
      'plain comes due',
      'A prefetches plain',
      'A sends plain',
      'A is killed',
      'the scheduler misses the heartbeats of A and ends it',
    ],
  },
  {
    name: 'the journal entry names the present session',
    question: twoFaults,
    mutation: { journalNames: 'present session' },
    violation: 'an attempt was sent and has no run',
    trace: [
      'plain comes due',
      'A prefetches plain',
      'A freezes',
      'the scheduler misses the heartbeats of A and ends it',
      'A continues',
      'A finds its row gone and enters the dispatchers again',
      'A writes plain into the send journal',
      'A sends plain',
    ],
  },
  {
    name: 'a dispatcher enters again without the entries of what it has sent',
    question: twoFaults,
    mutation: { entersWithOpenSends: false },
    violation: 'an attempt was sent and has no run',
    trace: [
      'plain comes due',
      'A prefetches plain',
      'A writes plain into the send journal',
      'A sends plain',
      'PostgreSQL crashes: its unlogged tables are empty',
      'A finds its row gone and enters the dispatchers again',
      'A is killed',
      'the scheduler misses the heartbeats of A and ends it',
    ],
  },
  {
    name: 'an outcome is recorded without the fence',
    question: twoFaults,
    mutation: { recordIsFenced: false },
    ignored: ['a callback has no outcome'],
    violation: 'an attempt was sent and has no run',
    trace: [
      'plain comes due',
      'A claims plain',
      'A sends plain',
      'A freezes',
      'the scheduler misses the heartbeats of A and ends it',
      'A continues',
      'plain comes due',
      'Q claims plain',
      'A gets a 2xx for plain and records it',
      'Q sends plain',
    ],
  },
  {
    name: 'a claim is undone without the fence',
    question: twoFaults,
    mutation: { undoIsFenced: false },
    violation: 'an attempt was sent and has no run',
    trace: [
      'plain comes due',
      'A prefetches plain',
      'A freezes',
      'the scheduler misses the heartbeats of A and ends it',
      'A continues',
      'B claims plain',
      'A undoes its claim of plain',
      'B sends plain',
    ],
  },
  {
    name: 'a shared loss counts towards the poison limit',
    question: twoFaults,
    mutation: { lossCounts: 'any' },
    violation: 'a shared loss counts towards the poison limit',
    trace: [
      'plain comes due',
      'A claims plain',
      'the scheduler makes the occurrence of the cron job',
      'cron comes due',
      'A claims cron',
      'A is killed',
      'the scheduler misses the heartbeats of A and ends it',
    ],
  },
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
      'A sends cron',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'the scheduler makes the occurrence of the cron job',
      'A claims cron',
      'A sends cron',
    ],
  },
  {
    name: 'a claim does not ask for the cron job',
    question: usersAndOneFault,
    mutation: { claimRefuses: 'none' },
    violation: 'an occurrence starts after the pause or deletion of its cron job was answered',
    trace: [
      'the scheduler makes the occurrence of the cron job',
      'cron comes due',
      'A claims cron',
      'the user pauses the cron job: 200',
      'A undoes its claim of cron',
      'A claims cron',
    ],
  },
  {
    name: 'a resumed cron job starts what its pause had stopped',
    question: pausesThatEnd,
    mutation: { claimRefuses: 'cron job is paused' },
    violation: 'an occurrence starts after the pause or deletion of its cron job was answered',
    trace: [
      'the scheduler makes the occurrence of the cron job',
      'cron comes due',
      'A claims cron',
      'the user pauses the cron job: 200',
      'A undoes its claim of cron',
      'the user resumes the cron job: 200',
      'A claims cron',
    ],
  },
  {
    name: 'an undo keeps the execution',
    question: usersAndOneFault,
    mutation: { undoRefunds: false },
    violation: 'the executions counted are not those that were claimed',
    trace: ['plain comes due', 'A claims plain', 'A undoes its claim of plain'],
  },
  {
    name: 'a claim does not look at the deadline',
    question: deadlines,
    mutation: { claimExpires: false },
    violation: 'a task is claimed after its deadline',
    trace: ['plain comes due', 'the deadline of plain passes', 'A claims plain'],
  },
  {
    name: 'a task with a deadline is prefetched',
    question: deadlines,
    mutation: { prefetchesDeadlines: true },
    violation: 'a task with a deadline is claimed before a slot is free',
    trace: ['plain comes due', 'A prefetches plain'],
  },
  {
    name: 'a claim does not count what its queue has in flight',
    question: oneAtATime,
    mutation: { claimCountsInFlight: false },
    violation: 'more attempts of a queue are in flight than it allows',
    trace: [
      'plain comes due',
      'A claims plain',
      'the scheduler makes the occurrence of the cron job',
      'cron comes due',
      'A claims cron',
    ],
  },
  {
    name: 'a claim does not count the starts of the period',
    question: oneInAPeriod,
    mutation: { claimCountsStarts: false },
    violation: 'a queue starts more attempts in a period than it allows',
    trace: ['plain comes due', 'A claims plain', 'A undoes its claim of plain', 'A claims plain'],
  },
  {
    name: 'a claim of an ordered queue does not look for the task in front',
    question: ordered,
    mutation: { claimKeepsOrder: false },
    violation: 'a task of an ordered queue starts before the one in front of it is final',
    trace: ['the scheduler makes the occurrence of the cron job', 'cron comes due', 'A claims cron'],
  },
  {
    name: 'a claim does not ask whether the queue is paused',
    question: oneAtATime,
    mutation: { claimKeepsPause: false },
    violation: 'a task starts after the pause of its queue was answered',
    trace: ['plain comes due', 'the user pauses the queue: 200', 'A claims plain'],
  },
  {
    name: 'only the process that frees a permit wakes the queue',
    question: oneAtATime,
    mutation: { searchesQueues: false },
    violation: 'a task can never end',
    trace: [
      'plain comes due',
      'the user pauses the queue: 200',
      'A claims plain',
      'the user resumes the queue: 200',
      'A is killed',
    ],
  },
  {
    name: 'the late record of a lost attempt stores no callback',
    question: twoFaults,
    mutation: { callbacksOf: 'recorded' },
    violation: 'an outcome has no callback',
    trace: [
      'plain comes due',
      'A claims plain',
      'A sends plain',
      'A freezes',
      'the scheduler misses the heartbeats of A and ends it',
      'A continues',
      'A gets a 2xx for plain and records it',
    ],
  },
  {
    name: 'an undone claim stores a callback',
    question: twoFaults,
    mutation: { callbacksOf: 'every move' },
    violation: 'a callback has no outcome',
    trace: [
      'plain comes due',
      'A claims plain',
      'A is killed',
      'the scheduler misses the heartbeats of A and ends it',
      'plain comes due',
      'Q claims plain',
      'Q undoes its claim of plain',
    ],
  },
  {
    name: 'a dispatcher forgets an attempt that meets an error',
    question: twoFaults,
    mutation: { forgetsAfterFault: true },
    violation: 'a living dispatcher has lost its own attempt',
    trace: [
      'plain comes due',
      'A claims plain',
      'A meets an error while it makes the attempt of plain, and forgets it',
    ],
  },
  {
    name: 'a forgotten attempt is left to a lease that no longer decides',
    question: noFaults,
    mutation: { forgetsAfterFault: true },
    ignored: ['a living dispatcher has lost its own attempt'],
    violation: 'a task can never end',
    trace: [
      'plain comes due',
      'A claims plain',
      'A meets an error while it makes the attempt of plain, and forgets it',
    ],
  },
]

/** Expects that a search with the mutation finds its violation, on the shortest way. */
export function expectViolation({ question, mutation, ignored, violation, trace }: Mutation): void {
  const found = search({ ...question, rules: { ...question.rules, ...mutation } }, ignored)
  expect([found.violation, ...found.trace]).toEqual([violation, ...trace])
}
