import type { Notice } from '@belfry/contract/status'
import { type ReactNode, useState } from 'react'
import { paths, type WorkspacePaths } from '../paths.ts'
import { useOrganization, useRights } from '../session/scope.ts'
import { readStored, store } from '../ui/browser-storage.ts'
import { Link } from '../ui/button.tsx'
import { formatCounted } from '../ui/format-amount.ts'
import { RelativeTime } from '../ui/time.tsx'
import { Banner } from './banner.tsx'

/** One banner for each thing that keeps tasks from running, with what to do about it. */
export function NoticeList({ notices, workspaceId }: { notices: readonly Notice[]; workspaceId: string }) {
  const { organization } = useOrganization()
  const maySeeUsage = useRights().can('usage.read').allowed
  const key = `belfry.dismissed ${workspaceId}`
  const [dismissed, setDismissed] = useState(() => readStored(key))
  const dismiss = (notice: Notice) => {
    setDismissed(markOf(notice))
    store(key, markOf(notice))
  }
  const to = paths.workspace(organization.slug, workspaceId)
  const usage = maySeeUsage ? paths.settings(organization.slug, 'usage') : null
  return notices
    .filter(notice => !mayDismiss(notice) || markOf(notice) !== dismissed)
    .map(notice => (
      <Banner
        key={notice.kind}
        tone={isBad(notice) ? 'bad' : 'warn'}
        onDismiss={mayDismiss(notice) ? () => dismiss(notice) : undefined}
      >
        {filled(textOf(notice), notice)} {remedyOf(notice, to, usage)}
      </Banner>
    ))
}

// A paused cron job may be meant to rest. Anything else keeps due tasks from running.
function mayDismiss({ kind }: Notice): boolean {
  return kind === 'cron_job_paused'
}

/** Returns what a dismissed notice is known by. Another paused cron job makes it another notice. */
function markOf({ kind, name, count, since }: Notice): string {
  return [kind, name, count, since].join(' ')
}

function isBad({ kind }: Notice): boolean {
  return kind.startsWith('no_') || kind === 'executions_used' || kind === 'storage_full'
}

/** Returns the text of a notice. `{name}` stands for its name, `{ago}` for its time. */
function textOf({ kind, count, name, since, tasks: all }: Notice): string {
  const lastSeen = since ? ' Last seen {ago}.' : ''
  const tasks = `${formatCounted(all)} ${all === 1 ? 'task' : 'tasks'}`
  const waiting = `${tasks} ${all === 1 ? 'waits' : 'wait'}`
  const cancelled = `Due tasks are cancelled: ${all === 0 ? 'none so far' : `${tasks} since {ago}`}.`
  const hosts = name === null ? `${count} hosts` : '{name}'
  const queues = name === null ? `${count} queues` : 'Queue {name}'
  const cronJobs = name === null ? `${count} cron jobs` : 'Cron job {name}'
  const paused = count === 1 ? 'was paused {ago}' : 'are paused, the first {ago}'
  const texts: Readonly<Record<Notice['kind'], string>> = {
    no_dispatcher: `No dispatcher is running. Tasks are safe and will be sent when one returns.${lastSeen}`,
    no_scheduler: `No scheduler is running. Cron jobs create no new tasks, and statistics are not updated.${lastSeen}`,
    queue_down: 'The queue is unavailable. Tasks are still sent, from the database.',
    executions_used: `The executions of this month are used up. ${cancelled}`,
    storage_full: `The storage is full. ${cancelled}`,
    held: `Since the restore of a backup ${waiting} until an operator runs belfry release-held.`,
    circuit_open: `Calls to ${hosts} are stopped after repeated failures, since {ago}: ${waiting}.`,
    host_paused: `${hosts} ${paused}: ${waiting}.`,
    queue_paused: `${queues} ${paused}: ${waiting}.`,
    cron_job_paused: `${cronJobs} ${paused}.`,
  }
  return texts[kind]
}

function filled(text: string, { name, since }: Notice) {
  const values = new Map<string, ReactNode>([
    ['{name}', <b key="name">{name}</b>],
    ['{ago}', since && <RelativeTime key="ago" at={since} />],
  ])
  return text.split(/(\{\w+\})/).map(part => values.get(part) ?? part)
}

function remedyOf({ kind, name }: Notice, to: WorkspacePaths, usage: string | null) {
  const host = name === null ? <Link to={to.hosts()}>Hosts</Link> : <Link to={to.host(name)}>Host</Link>
  const limit = (reason: string) => (
    <>
      {usage && <Link to={usage}>Usage and limits</Link>}{' '}
      <Link to={to.tasks(`?state=cancelled&state_reason=${reason}`)}>Cancelled tasks</Link>
    </>
  )
  const remedies: { readonly [Kind in Notice['kind']]?: ReactNode } = {
    circuit_open: host,
    host_paused: host,
    queue_paused: <Link to={to.queues()}>Queues</Link>,
    cron_job_paused: <Link to={to.cronJobs('?status=paused')}>Cron jobs</Link>,
    executions_used: limit('monthly_execution_limit'),
    storage_full: limit('storage_quota'),
  }
  return remedies[kind]
}
