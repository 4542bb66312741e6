/** The rules that a mutation may break, each for one transition. `theRules` are those of the product. */
export type Rules = {
  /** The state of a task whose only claim was undone. */
  undoneState: 'pending' | 'retrying'
  /** Only in a variation: whether the commit of a claim may hang, when PostgreSQL has decided it. */
  commitsHang: boolean
  /** Whether a repeated claim learns of a locked task that it is busy, also after the deadline of the task. */
  lockedIsBusy: boolean
  /** With which token a dispatcher asks again while the answer to its claim is missing. */
  tokenOfRepeatedClaim: 'same' | 'new'
  /** Whether a prefetched attempt waits for its entry in the send journal. */
  sendsNeedJournal: boolean
  /** The session of the entry: the one of the claim, or the current one. */
  journalNames: 'session of the claim' | 'present session'
  /** Whether a request is sent only while the send fence holds: a heartbeat in the session of the claim, in the last 10 s. */
  sendIsFenced: boolean
  /** Whether a request is sent only before the deadline. */
  sendAsksDeadline: boolean
  /** Whether the check and the first byte are one step. No program has that. */
  sendIsOneStep: boolean
  /** Whether a scheduler waits for a dispatcher less long than its fence holds. */
  deathIsSeenBeforeFence: boolean
  /** Whether the outcome of an attempt is refused when its task has been claimed again. */
  recordIsFenced: boolean
  /** Whether an undo is refused when its task has been claimed again. */
  undoIsFenced: boolean
  /** Whether the outcome of a lost attempt is refused when its task no longer waits in quarantine. */
  lateRecordIsFenced: boolean
  /** Whether a claimed task must be due. */
  claimAsksClock: boolean
  /** Whether only the quarantine claims the tasks in it. */
  claimKeepsQuarantine: boolean
  /** Whether a claim refuses the tasks of a deleted workspace. */
  claimAsksWorkspace: boolean
  /** Whether the end of a dispatcher undoes its claims that are not in the journal. */
  endUndoesUnsent: boolean
  /** Which losses count to the poison limit. */
  lossCounts: 'alone' | 'any'
  /** Whether `hold-overdue` makes overdue occurrences, and holds them. */
  holdsCronJobs: boolean
  /** Which changes that let a task wait lower the floor of the searches to it. */
  floorIsLoweredBy: 'any change' | 'a change of the state' | 'nothing'
  /** Whether `hold-overdue` holds open bulk operations. */
  holdsOperations: boolean
  /** By which column a bulk operation takes the tasks of its start. */
  operationBound: 'created_at' | 'id'
  /** Whether a bulk operation remembers the prefetched tasks that it meets. */
  operationsRemember: boolean
  /** Whether `hold-overdue` holds a task whose deadline has passed, though its next attempt is not due yet. */
  holdsExpired: boolean
  /** Whether a held task has no deadline. */
  holdStopsDeadline: boolean
  /** Whether the tasks of an ordered queue wait for a held one in front. */
  heldTasksKeepOrder: boolean
  /** Which first attempts of an occurrence a claim refuses; all of a deleted cron job, unless `none`. */
  claimRefuses: 'none' | 'cron job is paused' | 'cron job was paused'
  /** Whether a claim counts the attempts of the queue that are in flight. */
  claimCountsInFlight: boolean
  /** Whether a claim counts the starts of the queue in the current period. */
  claimCountsStarts: boolean
  /** Whether a claim of an ordered queue looks for the task in front. */
  claimKeepsOrder: boolean
  /** Whether a claim refuses the tasks of a paused queue. */
  claimKeepsPause: boolean
  /** Whether the scheduler searches for queues with a free permit, next to the wake-up by the process that frees it. */
  searchesQueues: boolean
  /** The outcomes that store callbacks; `recorded`: not the late record of a lost attempt. */
  callbacksOf: 'every outcome' | 'recorded' | 'every move'
  /** Whether a claim ends a task whose deadline has passed. */
  claimExpires: boolean
  /** Whether a task with a deadline can be claimed before a slot is free. */
  prefetchesDeadlines: boolean
  /** Whether a dispatcher forgets a claim when its attempt fails with an unexpected error. */
  forgetsAfterFault: boolean
  /** Whether an undo refunds the execution. */
  undoRefunds: boolean
  /** Whether a dispatcher journals its open sends again when it enters again. */
  entersWithOpenSends: boolean
  /** What ends a dispatcher's claims: missing heartbeats, or a lease by PostgreSQL's clock. */
  deathIsSeenBy: 'heartbeats' | 'leases'

  maxRetries: number
  /** Losses alone after which a task is dead. */
  poisonLimit: number
}

export const theRules: Rules = {
  undoneState: 'pending',
  commitsHang: false,
  lockedIsBusy: true,
  tokenOfRepeatedClaim: 'same',
  sendsNeedJournal: true,
  journalNames: 'session of the claim',
  sendIsFenced: true,
  sendAsksDeadline: true,
  sendIsOneStep: true,
  deathIsSeenBeforeFence: false,
  recordIsFenced: true,
  undoIsFenced: true,
  lateRecordIsFenced: true,
  claimAsksClock: true,
  claimKeepsQuarantine: true,
  claimAsksWorkspace: true,
  endUndoesUnsent: true,
  lossCounts: 'alone',
  holdsCronJobs: true,
  floorIsLoweredBy: 'any change',
  holdsOperations: true,
  operationBound: 'created_at',
  operationsRemember: true,
  holdsExpired: true,
  holdStopsDeadline: true,
  heldTasksKeepOrder: true,
  claimRefuses: 'cron job was paused',
  claimCountsInFlight: true,
  claimCountsStarts: true,
  claimKeepsOrder: true,
  claimKeepsPause: true,
  searchesQueues: true,
  callbacksOf: 'every outcome',
  claimExpires: true,
  prefetchesDeadlines: false,
  forgetsAfterFault: false,
  undoRefunds: true,
  entersWithOpenSends: true,
  deathIsSeenBy: 'heartbeats',
  maxRetries: 1,
  poisonLimit: 2,
}
