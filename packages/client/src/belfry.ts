import { createHttp } from './http.ts'
import type { BelfryOptions } from './options.ts'
import { type CronJobs, cronJobsOf } from './resources/cron-jobs.ts'
import { type Events, eventsOf } from './resources/events.ts'
import { type Organizations, organizationsOf } from './resources/organizations.ts'
import { type Runs, runsOf } from './resources/runs.ts'
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
  readonly tasks: Tasks
  readonly cronJobs: CronJobs
  readonly events: Events
  readonly runs: Runs
  readonly workspaces: Workspaces
  readonly organizations: Organizations

  constructor(options: BelfryOptions) {
    const http = createHttp(options)
    this.tasks = tasksOf(http)
    this.cronJobs = cronJobsOf(http)
    this.events = eventsOf(http)
    this.runs = runsOf(http)
    this.workspaces = workspacesOf(http)
    this.organizations = organizationsOf(http)
  }
}
