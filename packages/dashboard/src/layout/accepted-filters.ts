const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

/** What the filters accept that several lists have. The API would reject other values. */
export const acceptedFilters = {
  state: /^(pending|processing|retrying|success|dead|cancelled)$/,
  source: /^(task|cron|event|callback)$/,
  status: /^(success|failed)$/,
  response_status: /^[1-9](\d\d|xx)$/i,
  label: /^[A-Za-z0-9][A-Za-z0-9._:/=@+-]{0,63}$/,
  task_id: /^task_[a-z0-9]{26}$/,
  cronjob_id: /^cron_[a-z0-9]{26}$/,
  callback_of: /^task_[a-z0-9]{26}$/,
  range: /^(15m|1h|24h|7d|30d|today|yesterday|night|custom)$/,
  error: /^[a-z_]+$/,
  from: instant,
  to: instant,
} as const
