const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

const source = /^(task|cron|event|callback)$/
const statusCode = /^[1-9](\d\d|xx)$/i
const cronJob = /^cron_[a-z0-9]{26}$/
const error = /^[a-z_]+$/

/** What the filters accept that several lists have. The API would reject other values. */
export const acceptedFilters = {
  state: /^(pending|processing|retrying|success|dead|cancelled)$/,
  source,
  not_source: source,
  status: /^(success|failed)$/,
  response_status: statusCode,
  not_response_status: statusCode,
  label: /^[A-Za-z0-9][A-Za-z0-9._:/=@+-]{0,63}$/,
  task_id: /^task_[a-z0-9]{26}$/,
  cronjob_id: cronJob,
  not_cronjob_id: cronJob,
  callback_of: /^task_[a-z0-9]{26}$/,
  range: /^(15m|1h|24h|7d|30d|today|yesterday|night|custom)$/,
  error,
  not_error: error,
  from: instant,
  to: instant,
} as const
