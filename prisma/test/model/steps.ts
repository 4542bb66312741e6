import { withTriggers } from './callbacks.ts'
import { dispatcherSteps } from './dispatcher-steps.ts'
import { crashStep, faultSteps } from './fault-steps.ts'
import { floorSteps, lowered } from './floor-steps.ts'
import { waitsForCommit } from './hanging-steps.ts'
import { operationSteps } from './operation-steps.ts'
import { queueSteps, withWakeUp } from './queue-steps.ts'
import type { Rules } from './rules.ts'
import { schedulerSteps } from './scheduler-steps.ts'
import { type Operation, processNames, type Queue, type State, taskNames, tidied } from './state.ts'
import { operatorSteps, userSteps } from './user-steps.ts'

/** The text of each step in a trace. `{who}` and `{task}` are placeholders. */
const verbs = {
  claim: '{who} claims {task}',
  prefetch: '{who} prefetches {task}',
  claimSlowly: '{who} claims {task}, and PostgreSQL is slow to commit',
  prefetchSlowly: '{who} prefetches {task}, and PostgreSQL is slow to commit',
  askAgain: '{who} has no answer, and asks for {task} again with a new token',
  commit: "PostgreSQL commits {who}'s claim of {task}",
  commitOlder: "PostgreSQL commits {who}'s first claim of {task}",
  vanish: "{who}'s claim of {task} never reaches PostgreSQL",
  hang: '{who} claims {task}, and the commit hangs',
  hangPrefetch: '{who} prefetches {task}, and the commit hangs',
  show: "{who}'s claim of {task} becomes visible",
  giveUp: '{who} has no answer, asks again, and gives {task} up',
  undo: '{who} undoes its claim of {task}',
  undoForLater: '{who} undoes its claim of {task}, to be claimed later',
  journal: '{who} writes {task} into the send journal',
  send: '{who} sends {task}',
  check: '{who} checks that it may send {task}',
  write: '{who} writes the first byte of {task}',
  succeed: '{who} gets a 2xx for {task} and records it',
  fail: '{who} gets a 500 for {task} and records it',
  abandon: '{who} stops before {task} is answered, and records it',
  forget: '{who} meets an error while it makes the attempt of {task}, and forgets it',
  enter: '{who} finds its row gone and enters the dispatchers again',
  leave: '{who} leaves the dispatchers and exits',
  declareDead: 'the scheduler misses the heartbeats of {who} and ends it',
  endLease: 'the scheduler ends {task}: the lease of {who} is over',
  start: 'a new process starts in the place of {who}',
  comeDue: '{task} comes due',
  passDeadline: 'the deadline of {task} passes',
  expire: 'the scheduler ends {task}: its deadline has passed',
  expand: 'the scheduler makes the occurrence of the cron job',
  wake: 'the queue has a permit for {task}, and makes it due',
  age: '{task} has been due for more than a minute',
  raiseFloor: 'the floor of the searches rises above the time of {task}',
  pass: 'a period of the queue passes',
  windDown: 'the scheduler winds the workspace down',
  stop: 'the user stops {task}: 200',
  cancel: 'the user cancels {task}: 200',
  postpone: 'the user moves {task} to a later time: 200',
  moveToQueue: 'the user moves {task} to a queue: 200',
  pauseQueue: 'the user pauses the queue: 200',
  resumeQueue: 'the user resumes the queue: 200',
  pause: 'the user pauses the cron job: 200',
  resume: 'the user resumes the cron job: 200',
  deleteCronJob: 'the user deletes the cron job: 204',
  deleteWorkspace: 'the user deletes the workspace: 204',
  openCancel: 'the user cancels all tasks: 202',
  openStop: 'the user stops all tasks: 202',
  openReplay: 'the user replays all dead letters: 202',
  cancelOperation: 'the user cancels the operation: 200',
  walk: 'the operation comes to {task}',
  finishWalk: 'the operation comes to its end',
  kill: '{who} is killed',
  terminate: '{who} gets SIGTERM',
  freeze: '{who} freezes, or is cut off from PostgreSQL',
  thaw: '{who} continues',
  stepBack: "PostgreSQL's clock steps back: {task} is not due any more",
  crash: 'PostgreSQL crashes: its unlogged tables are empty',
  backUp: 'the operator takes a backup',
  restore: 'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
  release: 'the operator runs release-held',
} as const

export type Verb = keyof typeof verbs

/** Receives a step and the state after it. `who` and `task` are -1 when the verb has none. */
export type Visit = (verb: Verb, who: number, task: number, next: State) => void

/** The optional steps of a search. */
export type Scope = {
  users: boolean
  deadlines: boolean
  pausesEnd: boolean
  crashes: boolean
  backups: boolean
  queue: Queue['limit']
  /** Whether the floor of the searches rises. */
  floor: boolean
  operations: ReadonlyArray<Operation['action']>
}

/** Visits all successors of a state. */
export function visitNext(rules: Rules, scope: Scope, state: State, visit: Visit): void {
  const tidy: Visit = (verb, who, task, next) => {
    if (rules.commitsHang && waitsForCommit(state, verb, next)) return
    visit(
      verb,
      who,
      task,
      tidied(withWakeUp(rules, state, verb, withTriggers(rules, state, verb, withFloor(rules, state, next)))),
    )
  }
  for (let who = 0; who < state.processes.length; who++) {
    dispatcherSteps(rules, state, who, tidy)
    faultSteps(state, who, tidy)
  }
  if (scope.crashes) crashStep(state, tidy)
  schedulerSteps(rules, state, tidy)
  if (scope.floor) floorSteps(state, tidy)
  if (scope.queue !== 'none') queueSteps(rules, state, tidy)
  if (scope.operations.length > 0) operationSteps(rules, scope, state, tidy)
  if (scope.users) userSteps(scope, state, tidy)
  if (scope.backups) operatorSteps(rules, state, tidy)
}

function withFloor(rules: Rules, before: State, { rows: [one, other], ...after }: State): State {
  return { ...after, rows: [lowered(rules, before.rows[0], one), lowered(rules, before.rows[1], other)] }
}

// Steps of users, operators and faults are optional. All other steps happen in the end.
const optional: ReadonlySet<Verb> = new Set<Verb>([
  ...([
    'moveToQueue',
    'pauseQueue',
    'stop',
    'cancel',
    'postpone',
    'pause',
    'resume',
    'deleteCronJob',
    'deleteWorkspace',
  ] as const),
  ...([
    'claimSlowly',
    'prefetchSlowly',
    'hang',
    'hangPrefetch',
    'kill',
    'terminate',
    'freeze',
    'stepBack',
    'passDeadline',
    'crash',
    'backUp',
    'restore',
    'openCancel',
    'openStop',
    'openReplay',
    'cancelOperation',
  ] as const),
])

/** Returns whether a step needs no user, operator or fault. The operator's release counts, because it always follows. */
export function isBoundToHappen(verb: Verb): boolean {
  return !optional.has(verb)
}

export function describe(verb: Verb, who: number, task: number): string {
  return verbs[verb]
    .replace('{who}', processNames[who] ?? 'a dispatcher of before')
    .replace('{task}', taskNames[task] ?? '')
}
