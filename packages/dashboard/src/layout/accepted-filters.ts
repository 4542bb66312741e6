import { idPattern } from '@belfry/domain/id-pattern'
import { labelForm } from '@belfry/domain/label'
import { taskSources } from '@belfry/domain/task-source'
import { stateReasons, taskStates } from '@belfry/domain/task-state'

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

const source = oneOf(taskSources)
const task = new RegExp(idPattern('task'))
const cronJob = new RegExp(idPattern('cron'))
const statusCode = /^[1-9](\d\d|xx)$/i
const error = /^[a-z_]+$/

/** What the filters accept that several lists have. The API would reject other values. */
export const acceptedFilters = {
  state: oneOf(taskStates),
  state_reason: oneOf(stateReasons),
  source,
  not_source: source,
  status: /^(success|failed)$/,
  response_status: statusCode,
  not_response_status: statusCode,
  label: labelForm,
  late_ms: /^\d{1,9}$/,
  task_id: task,
  cronjob_id: cronJob,
  not_cronjob_id: cronJob,
  callback_of: task,
  range: /^(15m|1h|24h|7d|30d|today|yesterday|night|custom)$/,
  error,
  not_error: error,
  from: instant,
  to: instant,
} as const

function oneOf(words: readonly string[]): RegExp {
  return new RegExp(`^(${words.join('|')})$`)
}
