import { type IntegrationNews, type Notified, notifyIntegrations } from '@belfry/db/integrations/notify-integrations'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import { type AlertEvent, nextAlertPause } from '@belfry/domain/alerts'
import { toId } from '@belfry/domain/id'
import type { Alert } from '@belfry/messages'
import type { Context } from './context.ts'
import { storeAlert } from './store-alert.ts'

/**
 * Sends integrations one alert about everything that happened since their last alert, and fewer alerts while events
 * continue. The transaction that records an alert also stores it in the outbox, so an alert cannot get lost or be
 * stored twice.
 * @param lagMs - See `notifyIntegrations`.
 * @returns How many integrations got an alert.
 */
export async function raiseAlerts(ctx: Context, lagMs?: number): Promise<number> {
  let total = 0
  for (;;) {
    let messages = 0
    const store = async (tx: Transaction, news: IntegrationNews[]): Promise<Notified[]> => {
      for (const one of news) {
        const alerts = alertsOf(one)
        for (const alert of alerts) await storeAlert(tx, one, alert)
        messages += alerts.length
      }
      return news.map(({ id, pauseMs, sinceMs }) => ({ integrationId: id, pauseMs: nextAlertPause(pauseMs, sinceMs) }))
    }
    const { notified, hasMore } = await notifyIntegrations(ctx.pool, store, lagMs)
    total += notified
    if (messages > 0) ctx.log.info({ integrations: notified, messages }, 'alerts.raised')
    if (!hasMore) return total
  }
}

function alertsOf({ happened, at, workspaceId, workspaceName: name }: IntegrationNews): Alert[] {
  const about = { at: at.toISOString(), workspace: { id: toId('ws', workspaceId), name } }
  return Object.entries(happened).map(([event, { count, items }]) => ({
    ...about,
    event: event as AlertEvent, // the keys of the record
    count,
    items: items.map(({ id, name }) => ({ id: publicId(event, id), name })),
  }))
}

// A host is its own id.
function publicId(event: string, id: string): string {
  if (event.startsWith('host.')) return id
  return toId(event === 'task.dead' ? 'task' : 'cron', id)
}
