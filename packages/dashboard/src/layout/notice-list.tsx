import type { Notice } from '@belfry/contract/notice'
import { type ReactNode, useMemo } from 'react'
import { paths, type WorkspacePaths } from '../paths.ts'
import { useOrganization } from '../session/scope.ts'
import { useRights } from '../session/use-rights.ts'
import { Link } from '../ui/button.tsx'
import { formatCounted } from '../ui/format-amount.ts'
import { RelativeTime } from '../ui/time.tsx'
import { Banner } from './banner.tsx'
import { useShellWorkspace } from './navigation.ts'

/** One banner for each thing that keeps tasks from running, with what to do about it. */
export function NoticeList({ notices }: { notices: readonly Notice[] }): ReactNode {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const maySeeUsage = useRights().can('usage.read').allowed
  const to = useMemo(
    () => workspace && paths.workspace(organization.slug, workspace.id),
    [organization.slug, workspace],
  )
  if (!to) return null
  const usage = maySeeUsage ? paths.settings(organization.slug, 'usage') : null
  return notices.map(notice => (
    <Banner key={notice.kind} tone={isBad(notice) ? 'bad' : 'warn'}>
      {textOf(notice)} <Remedy notice={notice} to={to} usage={usage} />
    </Banner>
  ))
}

function isBad({ kind }: Notice): boolean {
  return kind.startsWith('no_') || kind === 'executions_used' || kind === 'storage_full'
}

function textOf(notice: Notice): ReactNode {
  const { kind, count, name, since } = notice
  const ago = since && <RelativeTime at={since} />
  switch (kind) {
    case 'no_dispatcher':
      return <>No dispatcher is running. Tasks are safe and will be sent when one returns.{lastSeen(ago)}</>
    case 'no_scheduler':
      return <>No scheduler is running. Cron jobs create no new tasks, and statistics are not updated.{lastSeen(ago)}</>
    case 'queue_down':
      return 'The queue is unavailable. Tasks are still sent, from the database.'
    case 'executions_used':
      return <>The executions of this month are used up: due tasks are cancelled, {cancelled(notice, ago)}.</>
    case 'storage_full':
      return <>The storage is full: due tasks are cancelled, {cancelled(notice, ago)}.</>
    case 'held':
      return `${tasks(notice, 'is', 'are')} held since the restore of a backup. An operator releases them with belfry release-held.`
    case 'circuit_open':
      return (
        <>
          Calls to {name ? <b>{name}</b> : `${count} hosts`} are stopped after repeated failures, since {ago}:{' '}
          {waiting(notice)}.
        </>
      )
    case 'host_paused':
      return (
        <>
          {name ? <b>{name}</b> : `${count} hosts`} {paused(notice)} {ago}: {waiting(notice)}.
        </>
      )
    case 'queue_paused':
      return (
        <>
          {name ? (
            <>
              Queue <b>{name}</b>
            </>
          ) : (
            `${count} queues`
          )}{' '}
          {paused(notice)} {ago}: {waiting(notice)}.
        </>
      )
    case 'cron_job_paused':
      return (
        <>
          {name ? (
            <>
              Cron job <b>{name}</b>
            </>
          ) : (
            `${count} cron jobs`
          )}{' '}
          {paused(notice)} {ago}.
        </>
      )
  }
}

function lastSeen(ago: ReactNode): ReactNode {
  return ago && <> Last seen {ago}.</>
}

function cancelled(notice: Notice, ago: ReactNode): ReactNode {
  if (notice.tasks === 0) return 'none so far'
  return (
    <>
      {countOf(notice)} since {ago}
    </>
  )
}

function paused({ count }: Notice): string {
  return count === 1 ? 'was paused' : 'are paused, the first'
}

function waiting(notice: Notice): string {
  return tasks(notice, 'waits', 'wait')
}

function tasks(notice: Notice, one: string, many: string): string {
  return notice.tasks === 1 ? `1 task ${one}` : `${countOf(notice)} tasks ${many}`
}

// The number that the API counts to.
const maxCounted = 10_000

function countOf({ tasks }: Notice): string {
  return formatCounted(tasks, tasks >= maxCounted)
}

type RemedyProps = { notice: Notice; to: WorkspacePaths; usage: string | null }

function Remedy({ notice: { kind, name }, to, usage }: RemedyProps): ReactNode {
  switch (kind) {
    case 'circuit_open':
    case 'host_paused':
      return name === null ? <Link to={to.hosts()}>Hosts</Link> : <Link to={to.host(name)}>Host</Link>
    case 'queue_paused':
      return <Link to={to.queues()}>Queues</Link>
    case 'cron_job_paused':
      return <Link to={to.cronJobs('?status=paused')}>Cron jobs</Link>
    case 'executions_used':
    case 'storage_full': {
      const reason = kind === 'storage_full' ? 'storage_quota' : 'monthly_execution_limit'
      return (
        <>
          {usage && <Link to={usage}>Usage and limits</Link>}{' '}
          <Link to={to.tasks(`?state=cancelled&state_reason=${reason}`)}>Cancelled tasks</Link>
        </>
      )
    }
    case 'held':
    case 'no_dispatcher':
    case 'no_scheduler':
    case 'queue_down':
      return null
  }
}
