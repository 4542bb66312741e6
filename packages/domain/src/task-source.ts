export const taskSources = ['task', 'cron', 'event', 'callback'] as const
