import { createHttp } from './http.ts'
import type { BelfryOptions } from './options.ts'
import { type CronJobs, cronJobsOf } from './resources/cron-jobs.ts'
import { type DeadLetters, deadLettersOf } from './resources/dead-letters.ts'
import { type Events, eventsOf } from './resources/events.ts'
import { type Organizations, organizationsOf } from './resources/organizations.ts'
import { type Runs, runsOf } from './resources/runs.ts'
import { type Subscriptions, subscriptionsOf } from './resources/subscriptions.ts'
import { type Tasks, tasksOf } from './resources/tasks.ts'
import { type Workspaces, workspacesOf } from './resources/workspaces.ts'

/**
 * A client of one Belfry.
 *
 * @example
 * const belfry = new Belfry({ apiKey: 'bf_...', baseUrl: 'https://belfry.example.com' })
 * await belfry.tasks.create({
 *   name: 'Trial ends',
 *   targetUrl: 'https://example.com/hooks/trial-ends',
 *   method: 'post',
 *   payload: JSON.stringify({ user: 42 }),
 *   executeAt: new Date(Date.now() + 3_600_000),
 * })
 */
export class Belfry {
  /** One-off calls at a future time. */
  readonly tasks: Tasks
  /** Calls that repeat. */
  readonly cronJobs: CronJobs
  /** Calls at once. */
  readonly events: Events
  /** Targets that get every event with a matching topic. */
  readonly subscriptions: Subscriptions
  /** Tasks that could not be delivered, until somebody replays or discards them. */
  readonly deadLetters: DeadLetters
  /** The activity log: one run for each attempt. */
  readonly runs: Runs
  /** What tasks, cron jobs, keys and logs belong to. */
  readonly workspaces: Workspaces
  /** Accounts. Most of it takes a session token rather than an API key. */
  readonly organizations: Organizations

  /** Throws a `TypeError` when there is neither a key nor a token. Calls nothing yet. */
  constructor(options: BelfryOptions) {
    const http = createHttp(options)
    this.tasks = tasksOf(http)
    this.cronJobs = cronJobsOf(http)
    this.events = eventsOf(http)
    this.subscriptions = subscriptionsOf(http)
    this.deadLetters = deadLettersOf(http)
    this.runs = runsOf(http)
    this.workspaces = workspacesOf(http)
    this.organizations = organizationsOf(http)
  }
}
