import { type IntegrationNews, type Told, type Transaction, tellIntegrations } from '@belfry/db'
import { type AlertEvent, type IdKind, nextAlertPause, toId } from '@belfry/domain'
import type { Alert } from '@belfry/messages'
import type { OutboxJob } from '@belfry/queue'
import type { Context } from './context.ts'
import { storeAlert } from './store-alert.ts'

/**
 * Tells integrations what has happened since they were told last: once for all of it, and more rarely while it goes on.
 * What is told stands in the outbox in the same transaction that notes it, so nothing is lost and nothing comes twice.
 * @param lagMs - See `tellIntegrations`.
 * @returns How many integrations were told something.
 */
export async function raiseAlerts(ctx: Context, lagMs?: number): Promise<number> {
  const jobs: OutboxJob[] = []
  const tell = async (tx: Transaction, news: IntegrationNews[]): Promise<Told[]> => {
    for (const one of news) jobs.push(...(await store(tx, one)))
    return news.map(({ id, pauseMs, sinceMs }) => ({ integrationId: id, pauseMs: nextAlertPause(pauseMs, sinceMs) }))
  }
  const told = await tellIntegrations(ctx.pool, tell, lagMs)
  if (jobs.length > 0) {
    ctx.log.info({ integrations: told, messages: jobs.length }, 'alerts.raised')
    await ctx.outbox.announce(jobs).catch(error => ctx.log.warn({ err: error }, 'queue.away'))
  }
  return told
}

async function store(tx: Transaction, news: IntegrationNews): Promise<OutboxJob[]> {
  const jobs: OutboxJob[] = []
  for (const alert of alertsOf(news)) jobs.push(await storeAlert(tx, news, alert))
  return jobs
}

function alertsOf({ happened, at, workspaceId, workspaceName: name }: IntegrationNews): Alert[] {
  const about = { at: at.toISOString(), workspace: { id: toId('ws', workspaceId), name } }
  return Object.entries(happened).map(([event, { count, items }]) => ({
    ...about,
    event: event as AlertEvent, // the keys of the record
    count,
    items: items.map(item => ({ id: toId(idKinds[event] ?? 'task', item.id), name: item.name })),
  }))
}

const idKinds: Readonly<Record<string, IdKind>> = {
  'task.dead': 'task',
  'cronjob.failing': 'cron',
  'cronjob.recovered': 'cron',
}
