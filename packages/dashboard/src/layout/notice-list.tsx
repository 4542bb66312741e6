import type { Notice } from '@belfry/contract/notice'
import type { ReactNode } from 'react'
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
  if (!workspace) return null
  const to = paths.workspace(organization.slug, workspace.id)
  const usage = maySeeUsage ? paths.settings(organization.slug, 'usage') : null
  return notices.map(notice => (
    <Banner key={notice.kind} tone={isBad(notice) ? 'bad' : 'warn'}>
      {textOf(notice)} {remedyOf(notice, to, usage)}
    </Banner>
  ))
}

function isBad({ kind }: Notice): boolean {
  return kind.startsWith('no_') || kind === 'executions_used' || kind === 'storage_full'
}

// The number that the API counts to.
const maxCounted = 10_000

function textOf({ kind, count, name, since, tasks: all }: Notice): ReactNode {
  const ago = since && <RelativeTime at={since} />
  const lastSeen = ago && <> Last seen {ago}.</>
  const tasks = `${formatCounted(all, all >= maxCounted)} ${all === 1 ? 'task' : 'tasks'}`
  const waiting = `${tasks} ${all === 1 ? 'waits' : 'wait'}`
  const cancelled = all === 0 ? 'none so far' : [`${tasks} since `, ago]
  const hosts = name === null ? `${count} hosts` : <b>{name}</b>
  const paused = (
    <>
      {count === 1 ? 'was paused' : 'are paused, the first'} {ago}
    </>
  )
  switch (kind) {
    case 'no_dispatcher':
      return <>No dispatcher is running. Tasks are safe and will be sent when one returns.{lastSeen}</>
    case 'no_scheduler':
      return <>No scheduler is running. Cron jobs create no new tasks, and statistics are not updated.{lastSeen}</>
    case 'queue_down':
      return 'The queue is unavailable. Tasks are still sent, from the database.'
    case 'executions_used':
      return <>The executions of this month are used up. Due tasks are cancelled: {cancelled}.</>
    case 'storage_full':
      return <>The storage is full. Due tasks are cancelled: {cancelled}.</>
    case 'held':
      return `Since the restore of a backup ${waiting} until an operator runs belfry release-held.`
    case 'circuit_open':
      return (
        <>
          Calls to {hosts} are stopped after repeated failures, since {ago}: {waiting}.
        </>
      )
    case 'host_paused':
      return (
        <>
          {hosts} {paused}: {waiting}.
        </>
      )
    case 'queue_paused':
      return (
        <>
          {name === null ? (
            `${count} queues`
          ) : (
            <>
              Queue <b>{name}</b>
            </>
          )}{' '}
          {paused}: {waiting}.
        </>
      )
    case 'cron_job_paused':
      return (
        <>
          {name === null ? (
            `${count} cron jobs`
          ) : (
            <>
              Cron job <b>{name}</b>
            </>
          )}{' '}
          {paused}.
        </>
      )
  }
}

/** Returns the link to where a user can do something about it. */
function remedyOf({ kind, name }: Notice, to: WorkspacePaths, usage: string | null): ReactNode {
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
    default:
      return null
  }
}
