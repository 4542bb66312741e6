import type { Integration } from '@belfry/contract'

type Channel = Integration['channel']
export type AlertEvent = Integration['events'][number]

export const channelNames: Record<Channel, string> = {
  slack: 'Slack',
  discord: 'Discord',
  email: 'E-mail',
  webhook: 'Webhook',
}

export const eventNames: Record<AlertEvent, string> = {
  'task.dead': 'Dead task',
  'cronjob.failing': 'Failing cron job',
  'cronjob.recovered': 'Recovered cron job',
  'quota.warning': 'Quota at 80 %',
  'quota.reached': 'Quota reached',
}
