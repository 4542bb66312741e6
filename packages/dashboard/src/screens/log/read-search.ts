export type LogSearch =
  | { kind: 'run'; id: string }
  | { kind: 'filter'; name: 'task_id' | 'cronjob_id' | 'response_status' | 'topic'; value: string }

/** What somebody means who types this into the log's search: an id, a response status, or a topic. */
export function readSearch(text: string): LogSearch | null {
  const value = text.trim()
  if (value === '') return null
  if (/^run_[a-z0-9]{26}$/.test(value)) return { kind: 'run', id: value }
  if (/^task_[a-z0-9]{26}$/.test(value)) return { kind: 'filter', name: 'task_id', value }
  if (/^cron_[a-z0-9]{26}$/.test(value)) return { kind: 'filter', name: 'cronjob_id', value }
  if (/^[1-9](\d\d|xx)$/i.test(value)) return { kind: 'filter', name: 'response_status', value: value.toLowerCase() }
  return { kind: 'filter', name: 'topic', value }
}
