import { type Allowed, requireRight } from './authorize.ts'

/**
 * Refuses a change that would send the caller what it may not read: a new target gets the rest of the stored request, and
 * a callback also the response.
 * @param read - The right to read the stored request.
 * @param change - What the request changes; `callbacks` as they are stored.
 * @throws AppError `forbidden`
 */
export function requireReader(
  caller: Allowed,
  read: 'task.read' | 'cron_job.read' | 'subscription.read',
  { url, callbacks }: { url?: string | undefined; callbacks?: string | null | undefined },
): void {
  const reports = callbacks != null && Object.values(JSON.parse(callbacks)).some(Boolean)
  if (url !== undefined || reports) requireRight(caller, read)
  if (reports) requireRight(caller, 'run.read')
}
